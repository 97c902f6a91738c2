"""FLOPs of ops, of calls on the way back, and of the whole: sums over the aten ops that ran."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tb_shapeplugin.analyse.memory import CallIndex, sums_upward
from tb_shapeplugin.ops.flops_of_calls import function_flops, unseen_flops
from tb_shapeplugin.record.columns import Ints, ints
from tb_shapeplugin.record.memory import Iteration, MemoryFacts, MemoryOp
from tb_shapeplugin.record.record import Totals
from tb_shapeplugin.record.trace import OpFact, Trace

_UNKNOWN = -1


def flops_of_ops(trace: Trace) -> Ints:
    """The FLOPs of each op: its own formula's, else those of the aten ops inside it.

    -1 where one of these has no formula, and of an op that failed.

    Example:
        >>> flops_of_ops(trace).tolist()
        [153600, 0, 0]
    """
    return ints(_flops_of(op, trace) for op in trace.ops)


def _flops_of(op: OpFact, trace: Trace) -> int:
    if op.failed:
        return _UNKNOWN
    inputs = [trace.tensors[tensor].shape for tensor in op.inputs]
    known = function_flops(op.name, inputs)
    if known is not None:
        return known
    if not op.children and _made_something(op, trace):
        unseen = unseen_flops(op.name, inputs, [trace.tensors[tensor].shape for tensor in op.outputs])
        return _UNKNOWN if unseen is None else unseen
    if any(child.flops < 0 for child in op.children):
        return _UNKNOWN
    return sum(child.flops for child in op.children)


def _made_something(op: OpFact, trace: Trace) -> bool:
    """Is anything that it gave no view of what it was given?"""
    given = {trace.tensors[tensor].storage for tensor in op.inputs}
    return any(trace.tensors[tensor].storage not in given for tensor in op.outputs)


def backward_flops_by_call(facts: MemoryFacts | None, calls: CallIndex, parents: Sequence[int]) -> Ints:
    """Of each call the FLOPs of the way back through it and the calls inside; -1 where nobody knows.

    Args:
        facts: what the memory pass found.
        calls: of the trace.
        parents: of each call the one that it ran in, -1 for a root.
    """
    backward = _backward(facts)
    if backward is None:
        return ints(_UNKNOWN for _ in parents)
    figures = np.zeros(len(parents), dtype=np.int64)
    for op in backward:
        call = calls[op.call]
        if call >= 0:
            figures[call] = _UNKNOWN if op.flops < 0 or figures[call] < 0 else figures[call] + op.flops
    return sums_upward(figures, parents)


def with_flops(totals: Totals, trace: Trace, flops: Ints) -> Totals:
    """The totals with the FLOPs of the forward, of the first case where there are several, and of one backward.

    A sum in which some op is unknown is a lower bound; where nothing is known of it there is none.
    """
    ran = flops[list(trace.cases[0].ops)] if trace.cases else flops
    complete = not bool((ran < 0).any()) and (trace.cases[0].completed if trace.cases else trace.completed)
    known = int(ran[ran > 0].sum())
    backward = _backward(trace.memory)
    return replace(
        totals,
        flops=known if complete or known else None,
        flops_complete=complete,
        backward_flops=None if backward is None or any(op.flops < 0 for op in backward) else sum(op.flops for op in backward),
    )


def _backward(facts: MemoryFacts | None) -> Sequence[MemoryOp] | None:
    """The ops of the first backward of an iteration; None where none ran to its end."""
    last = facts.iterations[-1] if facts is not None and facts.iterations else Iteration((), (), ())
    start = 0
    for phase, end in last.phases:
        if phase == "backward":
            return last.ops[start:end]
        start = end
    return None
