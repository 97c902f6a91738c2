"""The way back from a dim: the ops that made its number out of others, as far as there is something to tell, and where it ends."""

from dataclasses import dataclass

from tb_shapeplugin.analyse.origins.passing import Dim, step_back
from tb_shapeplugin.analyse.origins.recurrences import takes_time_first
from tb_shapeplugin.record.trace import Trace

_LONGEST = 10_000  # steps; a walk back never goes in a circle, this only bounds it
_MOST_SEEN = 2_000  # dims that are followed through products and sums
_MOST_TOLD = 4  # links of a chain of sizes that are told
_MOST_ENDS = 64


@dataclass(frozen=True, slots=True)
class Link:
    """An op that made a number: with which arithmetic, and of which dims; ``exact`` is False where a remainder was dropped."""

    op: int
    tensor: int
    why: str
    exact: bool
    factors: tuple[Dim, ...]

    @property
    def number(self) -> int:
        """The number that was made."""
        return int(self.why.partition(" ")[0])


@dataclass(frozen=True, slots=True)
class Walk:
    """A number's way back: what made it, the latest first, and the dim of a given tensor at which the walk ended (or None)."""

    links: tuple[Link, ...]
    end: Dim | None

    @property
    def lossy(self) -> Link | None:
        """The first link, from the front, that dropped a remainder."""
        return next((link for link in reversed(self.links) if not link.exact), None)

    @property
    def composed(self) -> bool:
        """Is the number a product or a sum of several?"""
        return bool(self.links and self.links[0].factors)

    def arithmetic(self) -> str:
        """The links' arithmetic; the middle of a long chain is left out.

        Example:
            >>> walk(trace, Dim(7, 2)).arithmetic()
            '10 = 2·5, 5 = ⌊11/2⌋'
        """
        told = [link.why for link in self.links]
        if len(told) <= _MOST_TOLD:
            return ", ".join(told)
        lossy = self.links.index(self.lossy) if self.lossy else 1
        kept = sorted({0, lossy, len(told) - 1})
        pieces = [told[at] if at - 1 in (-1, *kept) else f"…, {told[at]}" for at in kept]
        return ", ".join(pieces)


def walk(trace: Trace, at: Dim) -> Walk:
    """Back from a dim through every op that only handed its size on, and those that scaled it, to where it was stated or given."""
    links: list[Link] = []
    for _ in range(_LONGEST):
        producer = trace.tensors[at.tensor].producer
        if producer < 0:
            return Walk(tuple(links), at)
        step = step_back(trace, producer, at)
        if step.made:
            links.append(Link(producer, at.tensor, step.why, step.exact, step.factors))
        if step.source is None or not _goes_on(trace, step.factors):
            break
        at = step.source
    return Walk(tuple(links), None)


def _goes_on(trace: Trace, factors: tuple[Dim, ...]) -> bool:
    """Is there one size to follow further back? Of a product only where it is a square."""
    sizes = [trace.tensors[factor.tensor].shape[factor.dim] for factor in factors]
    return not factors or (len(sizes) == 2 and sizes[0] == sizes[1] and factors[0].tensor == factors[1].tensor)


def ends(trace: Trace, at: Dim) -> tuple[Dim, ...]:
    """The dims of given tensors that a number depends on, through products and sums, too."""
    found: dict[Dim, None] = {}
    waiting, seen = [at], {at}
    while waiting and len(seen) < _MOST_SEEN:
        here = waiting.pop()
        producer = trace.tensors[here.tensor].producer
        if producer < 0:
            found[here] = None
            continue
        step = step_back(trace, producer, here)
        for dim in step.factors or ((step.source,) if step.source else ()):
            if dim not in seen:
                seen.add(dim)
                waiting.append(dim)
    return tuple(found)[:_MOST_ENDS]


def batch_of(trace: Trace, at: Dim) -> bool:
    """Is the dim the batch axis of an input, handed on as it was?"""
    way = walk(trace, at)
    if way.links or way.end is None or way.end.dim != 0:
        return False
    fact = trace.tensors[way.end.tensor]
    picture = len(fact.shape) > 3
    return fact.kind == "input" and len(fact.shape) > 1 and (picture or not any(map(takes_time_first, trace.ops)))
