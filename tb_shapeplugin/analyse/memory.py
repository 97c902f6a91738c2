"""From what was alive when to the figures that people ask for, and to the columns that the Record keeps."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from tb_shapeplugin.record.columns import Ints, ints
from tb_shapeplugin.record.memory import (
    TERMS,
    AllocationColumns,
    CallKey,
    Iteration,
    Memory,
    MemoryFacts,
    MemoryOpColumns,
    Term,
)
from tb_shapeplugin.record.memory_lines import line
from tb_shapeplugin.record.record import Totals
from tb_shapeplugin.record.trace import CallFact, ModuleFact
from tb_shapeplugin.record.values import Shape


class CallIndex:
    """The calls of a trace by module and number."""

    def __init__(self, modules: Sequence[ModuleFact], calls: Sequence[CallFact]) -> None:
        self.modules = {module.path: index for index, module in reversed(list(enumerate(modules)))}
        self._calls: dict[str, list[int]] = {}
        for index, call in enumerate(calls):
            self._calls.setdefault(modules[call.module].path, []).append(index)
        self._known: dict[CallKey, int] = {}

    def __getitem__(self, key: CallKey) -> int:
        """The call's index; -1 for none. A pass that runs other code than the trace may know of more calls, or of fewer."""
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._found(key)
        return known

    def _found(self, key: CallKey) -> int:
        calls = self._calls.get(key.path, ()) if key.number else ()
        return calls[min(key.number, len(calls)) - 1] if calls else -1


def memory_of(facts: MemoryFacts, calls: CallIndex, string: Callable[[str], int], shape: Callable[[Shape], int]) -> Memory:
    """The last iteration as columns.

    Args:
        facts: what the memory pass found.
        calls: of the trace that the columns point into.
        string: the number of a text in the Record's table of strings.
        shape: the number of a shape in its table of shapes.
    """
    last = facts.iterations[-1] if facts.iterations else Iteration((), (), ())
    return Memory(
        ops=MemoryOpColumns(ints(string(op.name) for op in last.ops), ints(calls[op.call] for op in last.ops)),
        phases=last.phases,
        allocations=_allocations(last, calls, string, shape),
        saved_input_bytes=sum(kept.bytes for kept in facts.saved if kept.kind == "input"),
        saved_buffer_bytes=sum(kept.bytes for kept in facts.saved if kept.kind == "buffer"),
        unknown=dict(facts.unknown),
        estimated=dict(facts.estimated),
    )


def _allocations(last: Iteration, calls: CallIndex, string: Callable[[str], int], shape: Callable[[Shape], int]) -> AllocationColumns:
    made = last.allocations
    return AllocationColumns(
        bytes=ints(one.bytes for one in made),
        term=ints(TERMS.index(one.term) for one in made),
        born=ints(one.born for one in made),
        life=ints(one.died - max(one.born, 0) for one in made),
        owner=ints(-1 if one.owner is None else calls.modules.get(one.owner, -1) for one in made),
        name=ints(string(one.name) for one in made),
        kept_by=ints(one.kept_by for one in made),
        shape=ints(shape(one.shape) for one in made),
        dtype=ints(string(one.dtype) for one in made),
        scale=np.zeros(len(made), dtype=np.int64),
    )


def saved_by_call(facts: MemoryFacts, calls: CallIndex, parents: Sequence[int]) -> Ints:
    """Bytes that autograd keeps for each call's ops and those of the calls inside.

    Args:
        facts: what the memory pass found.
        calls: of the trace.
        parents: of each call the one that it ran in, -1 for a root.
    """
    figures = np.zeros(len(parents), dtype=np.int64)
    for kept in facts.saved:
        call = calls[kept.call]
        if call >= 0:
            figures[call] += kept.bytes
    return sums_upward(figures, parents)


def sums_upward(figures: Ints, parents: Sequence[int]) -> Ints:
    """Each call's figure with those of the calls inside; -1, which is unknown, makes unknown what it is in."""
    sums: Ints = figures.copy()
    for call in range(len(parents) - 1, -1, -1):
        parent = parents[call]
        if parent >= 0:
            sums[parent] = -1 if sums[call] < 0 or sums[parent] < 0 else sums[parent] + sums[call]
    return sums


def with_memory(totals: Totals, facts: MemoryFacts) -> Totals:
    """The totals with those that the facts tell; None for what nobody knows.

    Without training steps all peaks are the forward's.

    Example:
        >>> with_memory(totals, facts).peak_bytes
        70928
    """
    if not facts.iterations:
        return totals
    first, last = facts.iterations[0], facts.iterations[-1]
    forward = next((end for phase, end in first.phases if phase == "forward"), len(first.ops))
    told = replace(
        totals,
        saved_bytes=sum(kept.bytes for kept in facts.saved),
        gradient_bytes=_bytes_of(last, "gradients"),
        optimizer_bytes=_bytes_of(last, "optimizer"),
        peak_forward_bytes=peak_bytes(first, forward),
        peak_first_bytes=peak_bytes(first),
        peak_bytes=peak_bytes(last),
    )
    return replace(told, **dict.fromkeys(facts.unknown))


def peak_bytes(iteration: Iteration, end: int | None = None) -> int:
    """The most bytes alive at an op of an iteration, at those before ``end`` only.

    Example:
        >>> peak_bytes(Iteration((op,), (), (Allocation(40, "inputs", -1, 1), Allocation(8, "temporaries", 0, 1))))
        48
    """
    return int(_line(iteration)[:end].max(initial=0))


def peak_terms(iteration: Iteration) -> Mapping[Term, int]:
    """Bytes by term at the op at which most is alive; empty where no op ran."""
    if not iteration.ops:
        return {}
    op = int(_line(iteration).argmax())
    alive = [made for made in iteration.allocations if max(made.born, 0) <= op < made.died]
    return {term: sum(made.bytes for made in alive if made.term == term) for term in TERMS}


def _line(iteration: Iteration) -> Ints:
    made = iteration.allocations
    born = ints(one.born for one in made)
    life = ints(one.died - max(one.born, 0) for one in made)
    return line(born, life, ints(one.bytes for one in made), len(iteration.ops))


def _bytes_of(iteration: Iteration, term: Term) -> int:
    return sum(made.bytes for made in iteration.allocations if made.term == term)
