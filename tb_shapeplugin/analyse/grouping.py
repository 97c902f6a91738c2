"""Failures that are one fault: in equal blocks, in calls of one layer, behind one wrong number; and those that follow from another."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import TypeAlias

from tb_shapeplugin.analyse.origins.passing import JOINING, Dim
from tb_shapeplugin.analyse.sides import Side, rank_maker, side, sides
from tb_shapeplugin.analyse.takers import dims_of, takers
from tb_shapeplugin.ops.axes import TAKEN_APART
from tb_shapeplugin.ops.other_axes import with_other_axes
from tb_shapeplugin.record.finding import Clash, Finding
from tb_shapeplugin.record.site import Site, sites
from tb_shapeplugin.record.trace import Failure, OpFact, Trace, reached_from

_Key: TypeAlias = tuple[object, ...]
_OF_THE_OPERAND = ("dtype", "device")  # no number's: what is behind is mended with the operand
_OF_ONE_SIDE = ("broadcast", "cat", "norm_features")  # the output has this side's size or the other one's
_OF_THE_INPUT = ("rnn_input", "rnn_state")  # what comes out is known whatever comes in; behind an unpacking the module's input stands in
_OF_SIZES_ALONE = ("broadcast", "cat", "index_shape")  # mended by another size, hardly by another order of axes


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
        earlier = [at for at in range(number) if causes[at] < 0]
        if causes[number] < 0 and not any(item.is_the_fault_of(known[at]) for at in earlier):
            causes[number] = item.guess(trace, known)
        if causes[number] < 0:
            causes[number] = next((at for at in earlier if item.follows(known[at], trace)), -1)
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
        layer = "" if call.end_column else _starred(self.site.module)  # without columns, calls in one line by their layers
        yield "call", call, layer, numbers
        for got, want in zip(finding.got.items(), finding.want.items(), strict=False):
            if len(numbers) == 2 and got[0] == want[0] and 0 not in (got[1], want[1]):  # blocks of other widths that are off alike
                yield "ratio", call, layer, got[0], Fraction(got[1], want[1])
                yield "difference", call, layer, got[0], got[1] - want[1]
        if self._orders_differ():
            yield "order", call, layer, tuple(finding.got), tuple(finding.want)
        if call.end_column and self._is_of_no_layer():
            yield "place", call, *self._place_of_clash()
        if self.is_of_layer:
            yield "layer", self.site.module, *self._parameters(), numbers
            if self.got is not None:
                yield "number", self.got.maker, numbers

    def _is_of_no_layer(self) -> bool:
        """Does no layer refuse the number, and has none made it: could it only be the code that is wrong?"""
        return (
            self.got is not None and not self.is_of_layer and not any(side.is_layer for side in (self.got, self.want) if side is not None)
        )

    def _place_of_clash(self) -> _Key:
        """Where in the operands' shapes the clash is, and who made its numbers, by their names in any block."""
        operands, clash = self.told.failure.call.operands(), self.told.clash
        at = [number for number, operand in enumerate(operands) if clash is not None and operand.id == clash.operand]
        makers = (_starred(side.name) for side in (self.got, self.want) if side is not None)
        return tuple(operand.ndim for operand in operands), tuple(at), clash.dim if clash is not None else -1, *makers

    def _orders_differ(self) -> bool:
        """Do the operands have the same sizes in another order?"""
        operands = self.told.failure.call.operands()
        return len(operands) == 2 and sorted(operands[0].shape) == sorted(operands[1].shape) and operands[0].shape != operands[1].shape

    def is_the_fault_of(self, earlier: "_Known") -> bool:
        """Is it the same call, off by the same numbers, that failed before by itself?"""
        return self.kind() == earlier.kind() and next(self.alike()) == next(earlier.alike())

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

    def guess(self, trace: Trace, known: Sequence["_Known"]) -> int:
        """The earlier failure in whose stand-in the clashing number or rank came up, where nobody can tell what it is; -1 for none."""
        behind = self.told.failure.depends_on
        return next((at for at in behind if known[at].guessed_rank(self, trace) or known[at].guessed(self, trace)), -1)

    def guessed(self, later: "_Known", trace: Trace) -> bool:
        """Came the number that a later one meets up in what stands in for this one's output, as one of many that it could be?"""
        failure, kind = self.told.failure, self.told.finding.kind
        if kind in _OF_THE_INPUT or failure.call.name in TAKEN_APART or (failure.alternatives > 1 and self._names_all_outputs()):
            return False
        made = trace.ops[failure.op].outputs
        numbers = [number for number in (later.got, later.want) if number is not None and number.maker in made]
        return any(not self._is_known(number, trace) and not later._is_taken(trace, number.maker) for number in numbers)

    def _names_all_outputs(self) -> bool:
        """Are the alternatives of what stands in all that there are, so that none of them makes a later failure vanish?"""
        clash = self.told.clash
        return self.told.finding.kind in _OF_ONE_SIDE or (clash is not None and any(with_other_axes(self.told.failure.call, clash)))

    def _is_known(self, number: Side, trace: Trace) -> bool:
        """Is a size of what stands in a parameter's, or handed on in its place from what the call was given?"""
        given = self.told.failure.call.operands()
        declared = {operand.shape[0] for operand in given if operand.kind == "parameter" and operand.shape}
        shape = trace.tensors[number.maker].shape
        places = [dim for dim, size in enumerate(shape) if size == number.size]
        inputs = [operand.shape for operand in given if operand.kind != "parameter"]
        return number.size in declared or any(size == number.size for own in inputs for dim, size in enumerate(own) if dim in places)

    def guessed_rank(self, later: "_Known", trace: Trace) -> bool:
        """Has what stands in for this one's output other axes than one of its operands, which has as many as the later one wants?"""
        clash, finding = later.told.clash, later.told.finding
        if clash is None or finding.kind != "rank" or rank_maker(trace, clash.operand) != self.told.failure.op:
            return False
        ranks = {operand.ndim for operand in self.told.failure.call.operands() if operand.kind != "parameter"}
        return not ranks.isdisjoint(finding.want.values())

    def follows(self, earlier: "_Known", trace: Trace) -> bool:
        """Would what mends the earlier one mend this, too: is it the same wrong number, or order of axes, that is met again?"""
        finding, before = self.told.finding, earlier.told.finding
        if finding.kind in _OF_THE_OPERAND:
            return finding.kind == before.kind and _origin(finding) == _origin(before) >= 0 and not self._same_call(earlier)
        if self._same_call(earlier) or self.got is None:
            return False
        if finding.kind == before.kind == "mask_shape":
            return finding.got == before.got and finding.want == before.want and self._shares_the_faulty_side(earlier)
        if self._meets_the_same_nothing(earlier) or self._meets_another_part(earlier, trace) or self._meets_its_sum(earlier, trace):
            return True
        if self.is_of_layer:
            return self._meets_swapped_axes(earlier, trace)
        return self._meets_the_same_pair(earlier, trace) or self._wants_the_same(earlier, trace)

    def _meets_the_same_nothing(self, earlier: "_Known") -> bool:
        """Is the size 0 that came up in one tensor met again?"""
        return self.got is not None and self.got.size == 0 and self._shares_the_faulty_side(earlier)

    def _wants_the_same(self, earlier: "_Known", trace: Trace) -> bool:
        """Is a number that one tensor brought refused again, where the same one is wanted in its place, and taken by nobody?"""
        got, want = [*self.told.finding.want.values()], [*earlier.told.finding.want.values()]
        if self.got is None or len(got) != 1 or got != want or not self._shares_the_faulty_side(earlier):
            return False
        if self.told.finding.kind == "broadcast" and self._clashes_elsewhere({self.got.size, *got}):
            return False
        return not self._is_taken(trace, self.got.maker)

    def _shares_the_faulty_side(self, earlier: "_Known") -> bool:
        """Is it the same number, of the same maker, that is wrong?"""
        ours, theirs = self.got, earlier.got
        return ours is not None and theirs is not None and (ours.size, ours.maker) == (theirs.size, theirs.maker)

    def _meets_another_part(self, earlier: "_Known", trace: Trace) -> bool:
        """Is it another part of one split that left a remainder? Each part has a wrong size because one has."""
        if self.got is None or earlier.got is None:
            return False
        maker = trace.tensors[self.got.maker].producer
        if maker < 0 or maker != trace.tensors[earlier.got.maker].producer or len(trace.ops[maker].outputs) < 2:
            return False
        *parts, rest = (prod(trace.tensors[tensor].shape) for tensor in trace.ops[maker].outputs)
        return len(set(parts)) == 1 and rest < parts[0]

    def _meets_its_sum(self, earlier: "_Known", trace: Trace) -> bool:
        """Is it a sum or a product of the number that was wrong before, and would be right with the number that was wanted?"""
        clash, before = self.told.clash, earlier.told.clash
        if clash is None or before is None or self.got is None or earlier.got is None or self.got.maker == earlier.got.maker:
            return False
        got, want, wrong, right = ([*numbers.values()] for numbers in (clash.got, clash.want, before.got, before.want))
        op = trace.ops[made] if (made := trace.tensors[self.got.maker].producer) >= 0 else None
        if op is None or any(len(numbers) != 1 for numbers in (got, want, wrong, right)) or self._is_taken(trace, self.got.maker):
            return False
        own = frozenset(trace.ops[earlier.told.failure.op].outputs)  # what a layer gives in place of the number that it refuses
        swaps = ((wrong[0], right[0], frozenset((earlier.got.maker,))), (right[0], wrong[0], own))
        return any(_would_be(trace, op, (got[0], want[0]), swap, makers) for *swap, makers in swaps)

    def _meets_swapped_axes(self, earlier: "_Known", trace: Trace) -> bool:
        """Does each of two layers want the number that the other one is given, of the two that one tensor has?"""
        clash, before = self.told.clash, earlier.told.clash
        if clash is None or before is None or not earlier.is_of_layer or earlier.got is None or self.got is None:
            return False
        got, want = [*clash.got.values()], [*clash.want.values()]
        if len(got) != 1 or got == want or got != [*before.want.values()] or want != [*before.got.values()]:
            return False
        shape = trace.tensors[before.operand].shape
        return shape.count(got[0]) == shape.count(want[0]) == 1 and clash.operand in reached_from(trace, {earlier.told.failure.op})

    def _meets_the_same_pair(self, earlier: "_Known", trace: Trace) -> bool:
        """Is it the same pair of numbers, of the same maker, that meets in an op again, and nothing else?"""
        before = earlier.told.finding
        if self.got is None or self.want is None or {self.got.size, self.want.size} != {*before.got.values(), *before.want.values()}:
            return False
        if self.told.finding.kind == "broadcast" and self._clashes_elsewhere({self.got.size, self.want.size}):
            return False
        shared = self.makers() & earlier.makers()
        if self.told.finding.kind in _OF_SIZES_ALONE:
            return any(not self._is_taken(trace, maker) for maker in shared)
        return len(shared) == 2

    def _clashes_elsewhere(self, pair: set[int]) -> bool:
        """Do the operands differ in another dim as well, by other numbers?"""
        shapes = [operand.shape[::-1] for operand in self.told.failure.call.operands()]
        return len(shapes) == 2 and any({*sizes, 1} != {*pair, 1} and len({*sizes, 1}) == 3 for sizes in zip(*shapes, strict=False))

    def _is_taken(self, trace: Trace, maker: int) -> bool:
        """Do layers take the clashing number as that maker gave it? Then it isn't the wrong one: who is off is the other side."""
        size = next(side.size for side in (self.got, self.want) if side is not None and side.maker == maker)
        made = trace.tensors[maker].producer
        return bool(takers(trace, made, self.told.failure.op, dims_of(trace, (maker,), size)))

    def _same_call(self, earlier: "_Known") -> bool:
        return self.site.statement == earlier.site.statement


def _starred(name: str) -> str:
    """A name without the numbers of blocks in it."""
    return re.sub(r"\d+", "*", name)


def _would_be(trace: Trace, op: OpFact, pair: tuple[int, int], swap: Sequence[int], makers: frozenset[int]) -> bool:
    """Would an op that joins or flattens give the second of a pair, not the first, with another size of what those makers made?"""
    (got, want), (wrong, right) = pair, swap
    parts = [Dim(tensor, dim) for tensor in op.inputs for dim, size in enumerate(trace.tensors[tensor].shape) if size == wrong]
    count = sum((made := side(trace, part.tensor, part.dim)) is not None and made.maker in makers for part in parts)
    joined = op.name.rpartition(".")[2] in JOINING and got + count * (right - wrong) == want
    return count > 0 and (joined or (count == 1 and len(op.inputs) == 1 and got * right == want * wrong))


def _origin(finding: Finding) -> int:
    return finding.origin.tensor if finding.origin is not None else -1
