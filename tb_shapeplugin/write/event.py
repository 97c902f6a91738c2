"""One record as the bytes of one TensorBoard event."""

import time

from tensorboard.compat.proto import event_pb2, summary_pb2, tensor_pb2, tensor_shape_pb2, types_pb2

from tb_shapeplugin.base.names import PLUGIN_NAME
from tb_shapeplugin.wire.header import Header


def event_bytes(tag: str, data: bytes, header: Header, step: int) -> bytes:
    """A serialised Event that holds a record as a blob sequence of one; its wall time is now.

    Example:
        >>> event = event_pb2.Event.FromString(event_bytes("__shapes__/graph/Net@01234567", data, header, step=0))
        >>> event.summary.value[0].metadata.plugin_data.plugin_name
        'shapes'
    """
    metadata = summary_pb2.SummaryMetadata(
        plugin_data=summary_pb2.SummaryMetadata.PluginData(plugin_name=PLUGIN_NAME, content=header.to_json()),
        data_class=summary_pb2.DATA_CLASS_BLOB_SEQUENCE,
    )
    tensor = tensor_pb2.TensorProto(
        dtype=types_pb2.DT_STRING,
        string_val=[data],
        # Rank 1: TensorBoard's fast loader drops blobs of rank 0 without a word.
        tensor_shape=tensor_shape_pb2.TensorShapeProto(dim=[tensor_shape_pb2.TensorShapeProto.Dim(size=1)]),
    )
    summary = summary_pb2.Summary(value=[summary_pb2.Summary.Value(tag=tag, metadata=metadata, tensor=tensor)])
    event: bytes = event_pb2.Event(wall_time=time.time(), step=step, summary=summary).SerializeToString()
    return event
