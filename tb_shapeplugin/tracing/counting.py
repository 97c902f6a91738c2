"""FLOPs of an aten op as it runs."""

from collections.abc import Sequence
from typing import Any

import torch

from tb_shapeplugin.tracing.aten_ops import AtenOp
from tb_shapeplugin.tracing.tensors import shape_of

UNKNOWN = -1
_SPARSE = frozenset({torch.sparse_coo, torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc})


def flops_of(op: AtenOp, args: Sequence[Any], result: Any) -> int:
    """The FLOPs of a call; 0 for most ops, -1 where nobody knows."""
    if op.flops is None:
        return 0 if op.counts_nothing else UNKNOWN
    results = result if isinstance(result, (list, tuple)) else (result,)
    try:
        known = op.flops([_plain(argument) for argument in args], [_plain(value) for value in results if isinstance(value, torch.Tensor)])
    except (IndexError, TypeError, ValueError, StopIteration, _Shapeless):  # also another torch's form of the call
        return UNKNOWN
    return UNKNOWN if known is None else known


class _Shapeless(Exception):
    """A tensor's shape doesn't say how many numbers there are to multiply: it is sparse, or of sequences of several lengths."""


def _plain(value: Any) -> Any:
    """A tensor as its shape, also in a list."""
    if isinstance(value, torch.Tensor):
        if value.is_nested or value.layout in _SPARSE:
            raise _Shapeless
        return shape_of(value)
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value
