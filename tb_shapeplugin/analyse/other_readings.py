"""The other explanation of a clash: that not the layer that fails is wrong but the one that gave the number, or the other way round."""

from collections.abc import Iterator, Sequence

from tb_shapeplugin.analyse.grouping import Group, Told
from tb_shapeplugin.analyse.origins.passing import Dim, step_back
from tb_shapeplugin.analyse.origins.recalled import recalled, with_shapes
from tb_shapeplugin.analyse.sides import Side, sides
from tb_shapeplugin.ops.rules import requires
from tb_shapeplugin.record.trace import OpFact, Trace

_MOST_NAMED = 4
_FURTHEST = 60  # ops behind a failure that are looked at
_LONGEST_WALK = 30  # steps back from one of them


def other_readings(trace: Trace, told: Sequence[Told], fault: Group, faults: Sequence[Group]) -> tuple[str, ...]:
    """What else would explain a fault's clash, in sentences with names and numbers; () where one side alone can be wrong.

    Args:
        trace: the run.
        told: all of its failures, by number.
        fault: the one whose readings are wanted.
        faults: all of them, of which others may stand behind the same wrong number.

    Example:
        >>> other_readings(trace, told, faults[0], faults)
        ('conv1 could give 32, which conv2 takes, instead of 16',)
    """
    first = told[fault.numbers[0]]
    if first.clash is None:
        return ()
    got, want = sides(trace, first.clash)
    if got is None:
        return ()
    if not _is_of_layer(first):
        return _of_equal_sides(got, want) if want is not None and got.size != want.size else ()
    needed = next(iter(first.clash.want.values()), -1)
    if not got.is_layer or list(first.clash.got.values()) != [got.size]:
        return ()
    made = trace.tensors[got.maker].producer
    if _takers(trace, made, first.failure.op, _dims(trace, (got.maker,), got.size)) or _behind(trace, first, got.size):
        return ()  # others take the number as it is
    agreeing = _behind(trace, first, needed)
    layers = list(dict.fromkeys([*_fellows(told, fault, faults, got, trace, needed), *agreeing]))
    if not layers:
        return ()
    if len(layers) > 1:
        return (f"{_listed(layers)} are {'both' if len(layers) == 2 else 'all'} {needed} wide where {got.name} gives {got.size}",)
    return (f"{got.name} could give {needed}, which {layers[0]} takes, instead of {got.size}",)


def _is_of_layer(told: Told) -> bool:
    name = told.failure.call.name
    own = name.startswith("torch.nn.") and not name.startswith("torch.nn.functional.")
    return own or any(operand.kind == "parameter" for operand in told.failure.call.operands())


def _of_equal_sides(got: Side, want: Side) -> tuple[str, ...]:
    """Both makers, each with what it would have to give; one that can't be told from the other says nothing."""
    if got.maker == want.maker or got.name == want.name:
        return ()
    return (f"{got.name} could give {want.size}, as {want.name} does, or {want.name} {got.size}, as {got.name} does",)


def _fellows(told: Sequence[Told], fault: Group, faults: Sequence[Group], got: Side, trace: Trace, needed: int) -> Iterator[str]:
    """The layers that fail on the same number of the same maker, wanting the same in its place."""
    for other in faults:
        for number in other.numbers if other is fault or other.cause < 0 else ():
            clash = told[number].clash
            if clash is None or not _is_of_layer(told[number]) or needed not in clash.want.values():
                continue
            side = sides(trace, clash)[0]
            if side is not None and side.maker == got.maker and told[number].finding.module:
                yield told[number].finding.module


def _listed(names: Sequence[str]) -> str:
    shown = [*names[: _MOST_NAMED - 1], f"{len(names) - _MOST_NAMED + 1} more"] if len(names) > _MOST_NAMED else list(names)
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def _behind(trace: Trace, told: Told, size: int) -> list[str]:
    """The layers behind a failing one that take the dim that it hands on, as long as that: a norm's features, and the Linear behind it."""
    op, dim = trace.ops[told.failure.op], told.clash.dim if told.clash is not None else -1
    handed = {at for at in _dims(trace, op.outputs, size) if at.dim == dim}
    return _takers(trace, told.failure.op, told.failure.op, handed)


def _dims(trace: Trace, tensors: Sequence[int], size: int) -> set[Dim]:
    """The dims of that size."""
    return {Dim(tensor, dim) for tensor in tensors for dim, own in enumerate(trace.tensors[tensor].shape) if own == size}


def _takers(trace: Trace, made: int, failed: int, handed: set[Dim]) -> list[str]:
    """The layers, of those that ran soon after an op or soon after a failure, that take one of the dims."""
    if not handed:
        return []
    near = (*range(made + 1, min(failed, made + _FURTHEST)), *range(failed + 1, min(failed + _FURTHEST, len(trace.ops))))
    return [path for index in near if not trace.ops[index].failed and (path := _layer_taking(trace, trace.ops[index], handed))]


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
