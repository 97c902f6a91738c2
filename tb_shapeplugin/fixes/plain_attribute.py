"""A number that a module keeps as a plain attribute: the batch size or width that its code was written for."""

from collections.abc import Iterator

from tb_shapeplugin.fixes.call_argument import refitted_targets
from tb_shapeplugin.fixes.situation import Candidate, Situation, is_layer
from tb_shapeplugin.ops.reading import Unreadable, listed
from tb_shapeplugin.record.finding import Fix
from tb_shapeplugin.record.trace import ModuleFact
from tb_shapeplugin.record.values import Operand

_MOST = 4


def plain_attribute(situation: Situation) -> Iterator[Candidate]:
    """Each attribute, of the failing module or of one around it, that carries a clashing number, set to the other one."""
    wrong = dict(_pairs(situation))
    count = 0
    for module in _around(situation):
        for name, value in module.attributes.items():
            right = wrong.get(value) if isinstance(value, int) and not isinstance(value, bool) else None
            if right is None or right == value or count >= _MOST or is_layer(module):
                continue
            count += 1
            owner = f"{module.path}.{name}" if module.path else f"model.{name}"
            change = {"module": module.path, "attr": name, "value": right}
            yield Candidate(Fix(f"{owner} = {right}", (change,)), 0.95, reshapes=True)


def _pairs(situation: Situation) -> Iterator[tuple[int, int]]:
    got, want = situation.numbers()
    if got is not None and want is not None:
        yield got, want
        yield want, got
    if situation.kind == "divisible" and got and want:
        yield want, max(size for size in range(1, want + 1) if got % size == 0)
        yield from _divisors(situation, got)
    first = situation.call.args[0] if situation.call.args else None
    if isinstance(first, Operand):
        for before, after in refitted_targets(situation):
            yield from ((old, new) for old, new in zip(before, after, strict=True) if old != new and new > 0)


def _divisors(situation: Situation, whole: int) -> Iterator[tuple[int, int]]:
    """The numbers of a view's target, each beside the nearest one that divides the axis."""
    try:
        target = listed(situation.call, 1, "shape", "size")
    except Unreadable:
        return
    fitting = [size for size in range(2, whole) if whole % size == 0]
    for size in target:
        if size > 1 and whole % size and fitting:
            yield size, min(fitting, key=lambda other: (abs(other - size), -other))


def _around(situation: Situation) -> Iterator[ModuleFact]:
    index = situation.failure.module
    while index >= 0:
        yield situation.trace.modules[index]
        index = situation.trace.modules[index].parent
