"""Records out of TensorBoard: ``runs`` asks its data provider, ``event_files`` reads files without it."""
