"""The layers that take a number as it is: those that run with a dim that was handed on to them, and with no other size in its place."""

from collections.abc import Sequence

from tb_shapeplugin.analyse.origins.passing import Dim, step_back
from tb_shapeplugin.analyse.origins.recalled import recalled, with_shapes
from tb_shapeplugin.ops.rules import requires
from tb_shapeplugin.record.trace import OpFact, Trace

_FURTHEST = 60  # ops behind a failure that are looked at
_LONGEST_WALK = 30  # steps back from one of them


def takers(trace: Trace, made: int, failed: int, handed: set[Dim]) -> list[str]:
    """The layers, of those that ran soon after an op or soon after a failure, that take one of the dims.

    Args:
        trace: the run.
        made: the index of the op that gave the dims, -1 for an input.
        failed: that of the op that fails on them.
        handed: the dims.

    Example:
        >>> takers(trace, made, failed, dims_of(trace, (x,), 16))
        ['layers.0.1', 'layers.1.1']
    """
    if not handed:
        return []
    near = (*range(made + 1, min(failed, made + _FURTHEST)), *range(failed + 1, min(failed + _FURTHEST, len(trace.ops))))
    return [path for index in near if not trace.ops[index].failed and (path := _layer_taking(trace, trace.ops[index], handed))]


def dims_of(trace: Trace, tensors: Sequence[int], size: int) -> set[Dim]:
    """The dims of those tensors that have that size.

    Example:
        >>> dims_of(trace, (x,), 16)
        {Dim(tensor=0, dim=1)}
    """
    return {Dim(tensor, dim) for tensor in tensors for dim, own in enumerate(trace.tensors[tensor].shape) if own == size}


def _layer_taking(trace: Trace, op: OpFact, handed: set[Dim]) -> str:
    """The path of the layer whose op it is, where it takes one of those dims and no other size in its place; "" where it doesn't."""
    module = trace.modules[trace.calls[op.call].module] if op.call >= 0 else None
    if module is None or not module.parameters or not set(module.parameters) & set(op.inputs):
        return ""
    call, x = recalled(op, trace), op.inputs[0]
    shape = trace.tensors[x].shape
    for dim, size in enumerate(shape):
        clash = requires(with_shapes(call, {x: (*shape[:dim], size + 1, *shape[dim + 1 :])}))
        if clash is not None and (clash.operand, clash.dim) == (x, dim) and _comes_from(trace, Dim(x, dim), handed):
            return module.path
    return ""


def _comes_from(trace: Trace, at: Dim, handed: set[Dim]) -> bool:
    """Was the dim handed on, as it is, from one of those? (Not through a failing op, whose output has another size there.)"""
    for _ in range(_LONGEST_WALK):
        if at in handed:
            return True
        producer = trace.tensors[at.tensor].producer
        step = step_back(trace, producer, at) if producer >= 0 else None
        if step is None or step.source is None or step.made or _size(trace, step.source) != _size(trace, at):
            return False
        at = step.source
    return False


def _size(trace: Trace, at: Dim) -> int:
    return trace.tensors[at.tensor].shape[at.dim]
