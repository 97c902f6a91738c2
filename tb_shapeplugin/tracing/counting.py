"""FLOPs of an aten op as it runs."""

from collections.abc import Sequence
from typing import Any

import torch

from tb_shapeplugin.tracing.aten_ops import AtenOp
from tb_shapeplugin.tracing.tensors import shape_of

UNKNOWN = -1


def flops_of(op: AtenOp, args: Sequence[Any], result: Any) -> int:
    """The FLOPs of a call; 0 for most ops, -1 where nobody knows."""
    if op.flops is None:
        return 0 if op.counts_nothing else UNKNOWN
    outputs = [_plain(value) for value in (result if isinstance(result, (list, tuple)) else (result,)) if isinstance(value, torch.Tensor)]
    try:
        known = op.flops([_plain(argument) for argument in args], outputs)
    except (IndexError, TypeError, ValueError):  # another torch's form of the call
        return UNKNOWN
    return UNKNOWN if known is None else known


def _plain(value: Any) -> Any:
    """A tensor as its shape, also in a list."""
    if isinstance(value, torch.Tensor):
        return shape_of(value)
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value
