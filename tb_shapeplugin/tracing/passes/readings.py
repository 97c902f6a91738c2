"""Which reading of a failing run has the fewest causes: re-runs with other alternatives choose, and tell causes from consequences."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from tb_shapeplugin.ops.rules import requires
from tb_shapeplugin.record.site import Site, Statement, op_at, sites
from tb_shapeplugin.record.trace import Failure, Trace, reached_from
from tb_shapeplugin.tracing.passes.recover import Choice, GoOn, Reading

Rerun: TypeAlias = Callable[[GoOn], Trace]

_MOST_RUNS = 60
_MOST_ALTERNATIVES = 8  # of one failure that are tried
_MOST_STARTS = 3  # readings that are no gain by themselves and yet are gone on from
_MOST_SITES = 4  # calls of one statement that are varied one by one


@dataclass(frozen=True)
class Diagnosis:
    """The run in its best reading, and that reading."""

    trace: Trace
    reading: Reading


def diagnose(rerun: Rerun, runs: int = _MOST_RUNS, seconds: float = 10.0) -> Diagnosis:
    """Runs again with other alternatives, and keeps the reading with the fewest causes.

    A failure counts as caused by an earlier one only where it vanishes under an equally plausible alternative of that one.

    Args:
        rerun: runs the model once more in that way.
        runs: how many runs there may be.
        seconds: after which no further run is begun.

    Example:
        >>> [failure.caused_by for failure in diagnose(rerun).trace.failures]
        [-1, 0]
    """
    search = _Search(rerun, runs, time.monotonic() + seconds)
    best = search.best()
    return Diagnosis(_with_causes(best, search.seen), best.reading)


@dataclass(frozen=True)
class _Read:
    """A run in one reading. The less it costs, the better it explains what is seen.

    ``cost`` is whether the run ended early, or had better; how many causes there are; over how many
    different numbers; how many calls fail.
    """

    reading: Reading
    trace: Trace
    sites: tuple[Site, ...]
    cost: tuple[bool, int, int, int]

    @property
    def ended_early(self) -> bool:
        """Did the run not come to the end?"""
        return self.cost[0]

    def is_without(self, site: Site, other: "_Read") -> bool:
        """Does the call at a site run here, and depend on none that fails here alone?"""
        if site in self.sites:
            return False
        fresh = {failure.op for failure, at in zip(self.trace.failures, self.sites, strict=True) if at not in other.sites}
        op = op_at(self.trace, site) if fresh else -1
        return op < 0 or reached_from(self.trace, fresh).isdisjoint(self.trace.ops[op].inputs)

    def doubts(self, later: Iterable[Failure]) -> list[int]:
        """The failures with alternatives that these later ones depend on: those that most of them do come first."""
        behind = [number for failure in later for number in failure.depends_on]
        found = [number for number in dict.fromkeys(behind) if self.trace.failures[number].alternatives > 1]
        return sorted(found, key=lambda number: (-behind.count(number), number))

    def changes(self, numbers: list[int]) -> Iterator[Choice]:
        """The other alternatives of those failures: for all calls of their statement at once, then for single ones of several."""
        statements: dict[Statement, list[int]] = {}
        for number in numbers:
            statements.setdefault(self.sites[number].statement, []).append(number)
        for statement, members in statements.items():
            yield from (_one(statement, other) for other in self._others(members[0]))
        for statement, members in statements.items():
            if len(members) > 1 and self._is_depended_on_by_others(members, statement):
                yield from (_one(self.sites[number], other) for number in members[:_MOST_SITES] for other in self._others(number))

    def _is_depended_on_by_others(self, numbers: list[int], statement: Statement) -> bool:
        later = (failure for failure, site in zip(self.trace.failures, self.sites, strict=True) if site.statement != statement)
        return any(not set(numbers).isdisjoint(failure.depends_on) for failure in later)

    def _others(self, number: int) -> list[int]:
        taken = self.reading.alternative(self.sites[number])
        return [other for other in range(min(self.trace.failures[number].alternatives, _MOST_ALTERNATIVES)) if other != taken]


def _one(where: Site | Statement, alternative: int) -> Choice:
    return {where: alternative}


@dataclass
class _Search:
    """Greedy, with a way back: what is no gain alone may be one together with a second change that it calls for."""

    rerun: Rerun
    runs: int
    deadline: float
    seen: list[_Read] = field(default_factory=list)
    _insists: frozenset[Site] = frozenset()
    _ran: int = 0

    def best(self) -> _Read:
        """The reading with the fewest causes that was found."""
        best = self._run({})
        while (better := self._better(best)) is not None:
            best = better
        return best

    def _better(self, best: _Read) -> _Read | None:
        """A reading that costs less than the best one so far; None where none is found."""
        equal: list[_Read] = []
        for read in self._tried(best, best.doubts(best.trace.failures)):
            if read.cost < best.cost:
                return read
            if read.cost[:2] <= best.cost[:2]:
                equal.append(read)
        for start in sorted(equal, key=lambda read: read.cost)[:_MOST_STARTS]:
            fresh = [number for number, site in enumerate(start.sites) if site not in best.sites]
            called_for = start.doubts([start.trace.failures[number] for number in fresh])
            themselves = [number for number in start.doubts(start.trace.failures) if number in fresh]
            for read in self._tried(start, list(dict.fromkeys((*themselves, *called_for)))):
                if read.cost < best.cost:
                    return read
        return None

    def _tried(self, start: _Read, doubts: list[int]) -> Iterator[_Read]:
        known = [read.reading.choice for read in self.seen]
        for change in start.changes(doubts):
            choice = {where: other for where, other in {**start.reading.choice, **change}.items() if other or isinstance(where, Site)}
            if choice in known:
                continue
            if self._ran >= self.runs or time.monotonic() > self.deadline:
                return
            yield self._run(choice)

    def _run(self, choice: Choice) -> _Read:
        """Runs once in that way; again where a handler of the user turned out to let an error through."""
        while True:
            reading = Reading(choice, self._insists)
            going = GoOn(reading)
            trace = self.rerun(going)
            self._ran += 1
            fresh = going.escaped - self._insists
            if not fresh or self._ran >= self.runs:
                break
            self._insists |= fresh
        at = sites(trace)
        ended = not trace.outputs or going.gave_up or _guesses_in_vain(trace, at, going)
        self.seen.append(_Read(reading, trace, at, (ended, *_causes_and_clashes(trace, at), len(at))))
        return self.seen[-1]


def _guesses_in_vain(trace: Trace, at: tuple[Site, ...], going: GoOn) -> bool:
    """Was a module called once more with something that led to nothing but failures over its own guessed sizes and axes?

    Then nothing is learnt from what came behind, and the run had better ended there.
    """
    for number, (failure, site) in enumerate(zip(trace.failures, at, strict=True)):
        later = [other for other in trace.failures[number + 1 :] if number in other.depends_on]
        if later and site in going.guessed:
            known = {size for operand in failure.call.operands() for size in operand.shape}
            guessed = {size for shape in going.guessed[site] for size in shape} - known
            if all(_is_over(guessed, other) for other in later):
                return True
    return False


def _is_over(guessed: set[int], failure: Failure) -> bool:
    clash = requires(failure.call)
    numbers = set() if clash is None else {*clash.got.values(), *clash.want.values()}
    return clash is None or clash.kind == "rank" or not guessed.isdisjoint(numbers)


def _causes_and_clashes(trace: Trace, at: tuple[Site, ...]) -> tuple[int, int]:
    """How many statements fail, and how many times over other numbers: a fault in twelve equal blocks is one cause.

    An op without parameters in which the pair of numbers meets again that a layer refused is none: the sum behind a norm that is too wide.
    """
    refused: set[frozenset[int]] = set()
    causes: set[Statement] = set()
    clashes: set[tuple[Statement, frozenset[int]]] = set()
    for failure, site in zip(trace.failures, at, strict=True):
        clash = requires(failure.call)
        pair = frozenset((*clash.got.values(), *clash.want.values())) if clash is not None else frozenset()
        clashes.add((site.statement, pair))
        if any(operand.kind == "parameter" for operand in failure.call.operands()):
            refused.add(pair)
            causes.add(site.statement)
        elif not pair or pair not in refused:
            causes.add(site.statement)
    return len(causes), len(clashes)


def _with_causes(best: _Read, seen: list[_Read]) -> Trace:
    """Marks the failures that vanish in another reading as caused by the failure that is read differently there.

    Where another call that they depend on fails there in their place, nothing has vanished.
    """
    others = [read for read in seen if not read.ended_early]
    marked = []
    for failure, site in zip(best.trace.failures, best.sites, strict=True):
        without = [read for read in others if read.is_without(site, best)] if failure.depends_on else []
        marked.append(replace(failure, caused_by=_cause(failure, best, without)) if without else failure)
    return replace(best.trace, failures=tuple(marked))


def _cause(failure: Failure, best: _Read, without: list[_Read]) -> int:
    """The first of the failures that this one depends on whose other alternative makes it vanish."""

    def differs(number: int) -> bool:
        site = best.sites[number]
        return any(read.reading.alternative(site) != best.reading.alternative(site) for read in without)

    return next((number for number in failure.depends_on if differs(number)), failure.depends_on[0])
