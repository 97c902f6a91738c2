"""From what was alive when to the figures that people ask for: peaks, their terms, and the line over time."""

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

from tb_shapeplugin.record.memory import TERMS, Allocation, Iteration, Memory, MemoryFacts, Peak, Phase, Term

_MOST_POINTS = 500


def memory_of(facts: MemoryFacts) -> Memory:
    """The last iteration as a line of bytes by term, with its peak.

    Example:
        >>> memory_of(MemoryFacts((iteration,))).peak.bytes
        70928
    """
    if not facts.iterations or not facts.iterations[-1].ops:
        return Memory(alive=dict.fromkeys(TERMS, ()), unknown=dict(facts.unknown))
    last = facts.iterations[-1]
    lines = {term: _alive([made for made in last.allocations if made.term == term], len(last.ops)) for term in TERMS}
    totals = [sum(at) for at in zip(*lines.values(), strict=True)]
    at = tuple(_highest(totals)) if len(facts.iterations) > 1 else ()
    return Memory(
        ops=len(last.ops),
        phases=last.phases,
        at=at,
        alive={term: tuple(line[op] for op in at) for term, line in lines.items()},
        peak=_peak(last, totals, lines),
        unknown=dict(facts.unknown),
    )


def memory_totals(facts: MemoryFacts) -> dict[str, int | None]:
    """The totals that the facts tell, by their names; None for what nobody knows.

    Without training steps all peaks are the forward's.

    Example:
        >>> memory_totals(facts)["peak_bytes"]
        70928
    """
    if not facts.iterations:
        return {}
    first, last = facts.iterations[0], facts.iterations[-1]
    forward = next((end for phase, end in first.phases if phase == "forward"), len(first.ops))
    figures: dict[str, int | None] = {
        "saved_bytes": sum(kept.bytes for kept in facts.saved),
        "gradient_bytes": _bytes_of(last, "gradients"),
        "optimizer_bytes": _bytes_of(last, "optimizer"),
        "peak_forward_bytes": peak_bytes(first, forward),
        "peak_first_bytes": peak_bytes(first),
        "peak_bytes": peak_bytes(last),
    }
    return figures | dict.fromkeys(facts.unknown)


def peak_bytes(iteration: Iteration, end: int | None = None) -> int:
    """The most bytes alive at an op of an iteration, at those before ``end`` only.

    Example:
        >>> peak_bytes(Iteration(("aten.mm.default",), (), (Allocation(40, "inputs", -1, 1), Allocation(8, "temporaries", 0, 1))))
        48
    """
    alive = _alive(iteration.allocations, len(iteration.ops))
    return max(alive[: len(alive) if end is None else end], default=0)


def _bytes_of(iteration: Iteration, term: Term) -> int:
    return sum(made.bytes for made in iteration.allocations if made.term == term)


def _alive(allocations: Sequence[Allocation], ops: int) -> list[int]:
    """Bytes alive at each op."""
    changes = [0] * (ops + 1)
    for made in allocations:
        born = max(made.born, 0)
        if made.died > born:
            changes[born] += made.bytes
            changes[min(made.died, ops)] -= made.bytes
    return list(accumulate(changes))[:ops]


def _highest(totals: Sequence[int]) -> Iterator[int]:
    """The first op, the last one, and of each stretch between the one at which most is alive."""
    count = len(totals)
    if count <= _MOST_POINTS:
        yield from range(count)
        return
    edges = [count * number // _MOST_POINTS for number in range(_MOST_POINTS + 1)]
    for start, end in pairwise(edges):
        yield max(range(start, end), key=totals.__getitem__)


def _peak(iteration: Iteration, totals: Sequence[int], lines: dict[Term, list[int]]) -> Peak:
    op = max(range(len(totals)), key=totals.__getitem__)
    born = next((made.module for made in iteration.allocations if made.born == op), "")
    return Peak(totals[op], op, iteration.ops[op], born, _phase(iteration, op), {term: line[op] for term, line in lines.items()})


def _phase(iteration: Iteration, op: int) -> Phase:
    return next((phase for phase, end in iteration.phases if op < end), "forward")
