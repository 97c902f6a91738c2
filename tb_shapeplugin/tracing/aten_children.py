"""An aten op as a child of the torch function that it ran in."""

import functools
from collections.abc import Sequence
from typing import Any

import torch

from tb_shapeplugin.record.trace import ChildFact
from tb_shapeplugin.tracing.arguments import tensors_in
from tb_shapeplugin.tracing.aten_ops import aten_op
from tb_shapeplugin.tracing.compat import FakeTensor
from tb_shapeplugin.tracing.counting import flops_of
from tb_shapeplugin.tracing.tensors import dtype_name, shape_of


def child_of(func: Any, args: Sequence[Any], result: Any) -> ChildFact:
    """An aten op as an op's child."""
    op = aten_op(func)
    flops = flops_of(op, args, result)
    if type(result) in (torch.Tensor, FakeTensor) and not result.is_nested:
        return _child_of_one(op.name, result.shape, result.dtype, flops)
    return ChildFact(op.name, tuple((shape_of(t), dtype_name(t.dtype)) for t in tensors_in(result)), flops)


@functools.lru_cache(maxsize=10_000)
def _child_of_one(name: str, shape: torch.Size, dtype: torch.dtype, flops: int) -> ChildFact:
    return ChildFact(name, ((tuple(map(int, shape)), dtype_name(dtype)),), flops)
