"""One fix of each finding with which, all together, the model completes."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from tb_shapeplugin.analyse.findings import findings
from tb_shapeplugin.fixes.everywhere import failures_of, offered
from tb_shapeplugin.fixes.impact import reached_as_far, swells
from tb_shapeplugin.fixes.rerunner import Changes
from tb_shapeplugin.fixes.search import Repair, Search
from tb_shapeplugin.fixes.situation import Change
from tb_shapeplugin.record.finding import Finding, Fix
from tb_shapeplugin.record.site import Site, sites
from tb_shapeplugin.record.trace import Trace

_MOST_TRIED = 8  # combinations
_MOST_OF_ONE = 3  # candidates of one finding, made for what the fixes before it left


@dataclass(frozen=True, slots=True)
class Combination:
    """A fix of each finding, in their order, and the number of the finding that it was made for: another one's may repair this one, too."""

    fixes: tuple[Fix, ...]
    made_for: tuple[int, ...]

    def with_other(self, at: int, fix: Fix) -> "Combination":
        """The same with another fix of one finding."""
        return replace(self, fixes=(*self.fixes[:at], fix, *self.fixes[at + 1 :]))


def sites_of(trace: Trace, finding: Finding) -> frozenset[Site]:
    """The sites of the failures that a finding tells of."""
    ops = {failure.op for failure in failures_of(trace, finding)}
    return frozenset(site for failure, site in zip(trace.failures, sites(trace), strict=True) if failure.op in ops)


def completes(search: Search, combination: Combination) -> bool:
    """Does the model complete with all these fixes? Not asked where two of them make one layer anew: each would undo the other."""
    if _overlap(combination.fixes):
        return False
    outcome = search.rerun(tuple(change for fix in combination.fixes for change in fix.changes), frozenset())
    if outcome is None or not outcome.trace.completed or swells(search.trace, outcome.trace):
        return False
    return reached_as_far(search.trace, outcome.trace)


def combined(search: Search, places: Sequence[frozenset[Site]], repairs: Sequence[Sequence[Repair]]) -> Combination | None:
    """Repairs of the findings at those places, the best ones first, with which the model completes; None where none is found.

    Example:
        >>> [fix.text for fix in combined(search, places, repairs).fixes]
        ['nn.Linear(8, 5)', 'nn.Linear(5, 2)']
    """
    ways = (way for way in _ways(places, repairs) if way is not None)
    return next((way for way in islice(ways, _MOST_TRIED) if completes(search, way)), None)


def one_by_one(search: Search, causes: Sequence[Finding]) -> Combination | None:
    """A fix of each finding that is made for what the fixes before it left; None where the model doesn't complete with them.

    One fix may change the numbers of the next finding: twice the channels are twice the features behind a flatten. So where
    what begins with the best fix of the first one leads nowhere, its others are begun with.
    """
    ways = (_begun_with(search, causes, first) for first in range(_MOST_OF_ONE))
    return next((way for way in ways if way is not None), None)


def _begun_with(search: Search, causes: Sequence[Finding], first: int) -> Combination | None:
    chosen: list[Fix] = []
    made_for: list[int] = []
    for number, finding in enumerate(causes):
        so_far = _distinct(change for fix in chosen for change in fix.changes)
        own = sites_of(search.trace, finding)
        outcome = search.rerun(so_far, search.known) if so_far else None
        trace = outcome.trace if outcome is not None else search.trace
        if so_far and outcome is None:
            return None
        now = next((told for told in findings(trace) if sites_of(trace, told) & own), None)
        if now is None:
            made_for.append(made_for[-1])
            chosen.append(_too(chosen[made_for[-1]]))
            continue
        fixes = [fix for fix in _made_for(trace, now) if not _overlap((*chosen, fix))][0 if chosen else first :]
        fix = next((fix for fix in fixes if _is_gone(search, _distinct((*so_far, *fix.changes)), own)), None)
        if fix is None:
            return None
        made_for.append(number)
        chosen.append(fix)
    way = Combination(tuple(chosen), tuple(made_for))
    return way if len(chosen) > 1 and completes(search, way) else None


def _made_for(trace: Trace, finding: Finding) -> list[Fix]:
    return [candidate.fix for candidate in offered(trace, finding) if candidate.fix.changes][:_MOST_OF_ONE]


def _is_gone(search: Search, changes: Changes, own: frozenset[Site]) -> bool:
    outcome = search.rerun(changes, search.known - own)
    return outcome is not None and outcome.sites <= search.known - own and reached_as_far(search.trace, outcome.trace)


def _ways(places: Sequence[frozenset[Site]], repairs: Sequence[Sequence[Repair]]) -> Iterator[Combination | None]:
    """The best repair of each, what one of them repairs beside its own left to it; then each of all; then others in the place of one."""
    best = {at: options[0] for at, options in enumerate(repairs) if options}
    yield _way(places, best)
    if len(best) == len(places) > 1:
        yield _once(Combination(tuple(best[at].fix for at in range(len(places))), tuple(range(len(places)))))
    for at, options in enumerate(repairs):
        yield from (_way(places, {**best, at: other}) for other in options[1:])


def _way(places: Sequence[frozenset[Site]], repairs: dict[int, Repair]) -> Combination | None:
    used: dict[int, Repair] = {}
    for at, own in enumerate(places):
        if at in repairs and _covering(used, own) is None:
            used[at] = repairs[at]
    made_for = [at if at in used else _covering(used, own) for at, own in enumerate(places)]
    told = [number for number in made_for if number is not None]
    if len(told) < len(places):
        return None
    fixes = (used[number].fix if number == at else _too(used[number].fix) for at, number in enumerate(told))
    return _once(Combination(tuple(fixes), tuple(told)))


def _covering(used: dict[int, Repair], own: frozenset[Site]) -> int | None:
    return next((number for number, repair in used.items() if own <= repair.covers), None)


def _too(fix: Fix) -> Fix:
    return Fix(f"{fix.text} repairs this, too")


def _overlap(chosen: Iterable[Fix]) -> bool:
    """Do two of the fixes make one layer anew? The text of each would say what the other one undoes."""
    made = [{(change["module"], change["arg"]) for change in fix.changes if "arg" in change} for fix in chosen]
    layers = Counter(module for arguments in dict.fromkeys(map(frozenset, made)) for module in {module for module, _ in arguments})
    return any(count > 1 for count in layers.values())


def _once(way: Combination) -> Combination:
    """The fixes with each change of an argument or a step in one of them only: done twice, it would be another one."""
    kept: list[Fix] = []
    for fix in way.fixes:
        before = [dict(change) for earlier in kept for change in earlier.changes]
        fresh = tuple(change for change in fix.changes if dict(change) not in before or not {"input", "insert", "call"} & set(change))
        kept.append(replace(fix, changes=fresh) if fresh or not fix.changes else _too(fix))
    return replace(way, fixes=tuple(kept))


def _distinct(changes: Iterable[Change]) -> Changes:
    kept: list[Change] = []
    for change in changes:
        if dict(change) not in map(dict, kept):
            kept.append(change)
    return tuple(kept)
