"""The totals of a record as scalars, for TensorBoard's own tabs."""

import time
from collections.abc import Mapping
from typing import Final

from tensorboard.compat.proto import event_pb2, summary_pb2, tensor_pb2, types_pb2

from tb_shapeplugin.record.record import Totals

_PREFIX: Final = "shapes"
_WRITTEN: Final = (
    *("params", "trainable_params", "param_bytes", "flops", "backward_flops", "saved_bytes", "gradient_bytes", "optimizer_bytes"),
    *("peak_forward_bytes", "peak_first_bytes", "peak_bytes"),
)


def scalar_values(name: str, totals: Totals) -> Mapping[str, float]:
    """The figures that are known, by their tags: ``shapes/net/peak_bytes``.

    Example:
        >>> scalar_values("net", totals)["shapes/net/params"]
        18.0
    """
    figures = {f"{_PREFIX}/{name}/{figure}": getattr(totals, figure) for figure in _WRITTEN}
    return {tag: float(value) for tag, value in figures.items() if value is not None}


def scalars_bytes(values: Mapping[str, float], step: int) -> bytes:
    """A serialised Event that holds them; its wall time is now. Doubles: bytes of large models are no whole floats.

    Example:
        >>> event_pb2.Event.FromString(scalars_bytes({"a": 1.0}, 3)).step
        3
    """
    metadata = summary_pb2.SummaryMetadata(
        plugin_data=summary_pb2.SummaryMetadata.PluginData(plugin_name="scalars"), data_class=summary_pb2.DATA_CLASS_SCALAR
    )
    made = [
        summary_pb2.Summary.Value(tag=tag, metadata=metadata, tensor=tensor_pb2.TensorProto(dtype=types_pb2.DT_DOUBLE, double_val=[value]))
        for tag, value in values.items()
    ]
    event: bytes = event_pb2.Event(wall_time=time.time(), step=step, summary=summary_pb2.Summary(value=made)).SerializeToString()
    return event
