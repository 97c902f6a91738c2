"""The other explanation of a clash: that not the layer that fails is wrong but the one that gave the number, or the other way round."""

from collections.abc import Iterator, Sequence

from tb_shapeplugin.analyse.grouping import Group, Told
from tb_shapeplugin.analyse.sides import Side, sides
from tb_shapeplugin.analyse.takers import dims_of, takers
from tb_shapeplugin.record.trace import Trace

_MOST_NAMED = 4


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
    if takers(trace, made, first.failure.op, dims_of(trace, (got.maker,), got.size)) or _behind(trace, first, got.size):
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
    handed = {at for at in dims_of(trace, op.outputs, size) if at.dim == dim}
    return takers(trace, told.failure.op, told.failure.op, handed)
