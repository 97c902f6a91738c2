"""What a fix changes beside the failure that it repairs: ops of another shape, and whether the batch is still one."""

from collections import Counter
from math import prod

from tb_shapeplugin.record.trace import OpFact, TensorFact, Trace

_FAR_LARGER = 64  # times
_HARMLESS = 1 << 20  # elements


def reached_as_far(before: Trace, after: Trace) -> bool:
    """Did the run end no earlier than the first one, and does it stand on no more values that nobody has?"""
    return (bool(after.outputs) or not before.outputs) and _assumed_values(after) <= _assumed_values(before)


def _assumed_values(trace: Trace) -> int:
    return sum(value.origin == "assumed" for value in trace.values)


def swells(before: Trace, after: Trace) -> bool:
    """Is some tensor now far larger than any was? Sides that are spread over each other in every round fill any memory."""
    return _largest(after) > max(_FAR_LARGER * _largest(before), _HARMLESS)


def _largest(trace: Trace) -> int:
    return max((prod(tensor.shape) for tensor in trace.tensors), default=0)


def changed_ops(before: Trace, after: Trace) -> int:
    """How many ops of the one run the other one doesn't have with the same output shapes."""
    return sum((_signatures(before) - _signatures(after)).values())


def loses_batch(before: Trace, after: Trace) -> bool:
    """Do outputs that had one entry a sample have another number of them now?

    Of an output that was assumed nobody knows how many it had: then a number that no input has is another one.
    """
    batch, now = batch_of(before), batch_of(after)
    if not batch or not now:
        return False
    given = {size for endpoint in after.inputs if endpoint.tensor >= 0 for size in after.tensors[endpoint.tensor].shape}
    pairs = zip(_outputs(before), _outputs(after), strict=False)
    return any(
        new.shape[:1] != (now,) if old.shape[:1] == (batch,) else old.assumed and not given.issuperset(new.shape[:1]) for old, new in pairs
    )


def batch_of(trace: Trace) -> int:
    """How many samples the model was given at once, as far as its inputs tell by a common first axis; 0 where they don't.

    Example:
        >>> batch_of(trace)
        4
    """
    shapes = [trace.tensors[endpoint.tensor].shape for endpoint in trace.inputs if endpoint.tensor >= 0]
    sizes = {shape[0] for shape in shapes if len(shape) > 1}
    return sizes.pop() if len(sizes) == 1 else 0


def _outputs(trace: Trace) -> list[TensorFact]:
    return [trace.tensors[endpoint.tensor] for endpoint in trace.outputs if endpoint.tensor >= 0]


def _signatures(trace: Trace) -> Counter[tuple[object, ...]]:
    return Counter(_signature(trace, op) for op in trace.ops if op.inputs and not op.failed)


def _signature(trace: Trace, op: OpFact) -> tuple[object, ...]:
    path = trace.modules[trace.calls[op.call].module].path if op.call >= 0 else ""
    return path, op.name, tuple(trace.tensors[output].shape for output in op.outputs)
