"""Record to bytes and back. ``header`` and ``envelope`` do without protobuf, so that the backend can use them."""
