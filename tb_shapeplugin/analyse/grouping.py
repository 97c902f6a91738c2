"""Failures that are one fault: in equal blocks, in calls of one layer, behind one wrong number; and those that follow from another."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from tb_shapeplugin.analyse.sides import Side, sides
from tb_shapeplugin.record.finding import Clash, Finding
from tb_shapeplugin.record.site import Site, sites
from tb_shapeplugin.record.trace import Failure, Trace

_Key: TypeAlias = tuple[object, ...]
_OF_THE_OPERAND = ("dtype", "device")  # no number's: what is behind is mended with the operand
_OF_SIZES_ALONE = ("broadcast", "cat")  # mended by another size, hardly by another order of axes


@dataclass(frozen=True, slots=True)
class Group:
    """Failures that are one fault, by their numbers in the trace, the first of them first; and the failure that it follows from, or -1."""

    numbers: tuple[int, ...]
    cause: int


@dataclass(frozen=True, slots=True)
class Told:
    """A failure with what is said of it."""

    failure: Failure
    clash: Clash | None
    finding: Finding


def groups(trace: Trace, told: Sequence[Told]) -> tuple[Group, ...]:
    """The faults, in the order in which the run met them.

    One fault is: the same call in several blocks or again and again, off by the same numbers, ratio or difference; one layer that is
    called in several places; layers of one kind that all take the same number in place of the one that a single op gave. A consequence
    is never one with what stands by itself.

    Example:
        >>> [group.numbers for group in groups(trace, told)]
        [(0, 2, 4), (1,)]
    """
    known = [_Known(item, site, *_sides(trace, item)) for item, site in zip(told, sites(trace), strict=True)]
    causes = [item.told.failure.caused_by for item in known]
    for number, item in enumerate(known):
        if causes[number] < 0:
            causes[number] = item.guess(trace)
        if causes[number] < 0:
            causes[number] = next((at for at, earlier in enumerate(known[:number]) if causes[at] < 0 and item.follows(earlier)), -1)
    members: dict[int, list[int]] = {}
    leader: dict[_Key, int] = {}
    for number, item in enumerate(known):
        keys = [(*item.kind(), causes[number], *key) for key in item.alike()]
        first = next((leader[key] for key in keys if key in leader), number)
        members.setdefault(first, []).append(number)
        for key in keys:
            leader.setdefault(key, first)
    return tuple(Group(tuple(numbers), causes[first]) for first, numbers in members.items())


def _sides(trace: Trace, told: Told) -> tuple[Side | None, Side | None]:
    return sides(trace, told.clash) if told.clash is not None else (None, None)


@dataclass(frozen=True, slots=True)
class _Known:
    told: Told
    site: Site
    got: Side | None
    want: Side | None

    def kind(self) -> _Key:
        """What is equal for all failures of one fault."""
        finding = self.told.finding
        message = () if finding.got or finding.want else (finding.torch_message,)
        return finding.kind, finding.op, finding.module_type, *message

    def alike(self) -> Iterator[_Key]:
        """What makes two failures of one kind one fault: any of these is enough."""
        finding = self.told.finding
        numbers = (*sorted(finding.got.items()), *sorted(finding.want.items()))
        call = self.site.statement
        layer = "" if call.end_column else re.sub(r"\d+", "*", self.site.module)  # without columns, calls in one line by their layers
        yield "call", call, layer, numbers
        for got, want in zip(finding.got.items(), finding.want.items(), strict=False):
            if len(numbers) == 2 and got[0] == want[0] and 0 not in (got[1], want[1]):  # blocks of other widths that are off alike
                yield "ratio", call, layer, got[0], Fraction(got[1], want[1])
                yield "difference", call, layer, got[0], got[1] - want[1]
        if self.is_of_layer:
            yield "layer", self.site.module, *self._parameters(), numbers
            if self.got is not None:
                yield "number", self.got.maker, numbers

    @property
    def is_of_layer(self) -> bool:
        """Is it a layer that fails, with parameters of its own, rather than an op of activations?"""
        name = self.told.failure.call.name
        return bool(self._parameters()) or (name.startswith("torch.nn.") and not name.startswith("torch.nn.functional."))

    def _parameters(self) -> tuple[int, ...]:
        return tuple(operand.id for operand in self.told.failure.call.operands() if operand.kind == "parameter")

    def makers(self) -> set[int]:
        """The tensors in which the clashing numbers came up, but for a layer's own."""
        return {side.maker for side in (self.got, None if self.is_of_layer else self.want) if side is not None}

    def guess(self, trace: Trace) -> int:
        """The earlier failure in whose stand-in the clashing number came up, where no other reading of it could be asked; -1 for none."""
        met = [side for side in (self.got, self.want) if side is not None]
        for number in self.told.failure.depends_on:
            earlier = trace.failures[number]
            declared = {operand.shape[0] for operand in earlier.call.operands() if operand.kind == "parameter" and operand.shape}
            made = trace.ops[earlier.op].outputs
            if earlier.alternatives == 1 and any(side.maker in made and side.size not in declared for side in met):
                return number
        return -1

    def follows(self, earlier: "_Known") -> bool:
        """Would what mends the earlier one mend this, too: is it the same pair of numbers, of the same maker, that meets in an op again?"""
        finding, before = self.told.finding, earlier.told.finding
        if finding.kind in _OF_THE_OPERAND:
            return finding.kind == before.kind and _origin(finding) == _origin(before) >= 0 and not self._same_call(earlier)
        if self.is_of_layer or self.got is None or self.want is None or self._same_call(earlier):
            return False
        if {self.got.size, self.want.size} != {*before.got.values(), *before.want.values()}:
            return False
        shared = self.makers() & earlier.makers()
        return bool(shared) if finding.kind in _OF_SIZES_ALONE else len(shared) == 2

    def _same_call(self, earlier: "_Known") -> bool:
        return self.site.statement == earlier.site.statement


def _origin(finding: Finding) -> int:
    return finding.origin.tensor if finding.origin is not None else -1
