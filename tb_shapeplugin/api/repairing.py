"""Tries candidate fixes on the twin: a fix is verified only where the whole model then completes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from tb_shapeplugin.fixes.combination import Combination, combined, completes, one_by_one, sites_of
from tb_shapeplugin.fixes.everywhere import failures_of, offered
from tb_shapeplugin.fixes.rerunner import Budget, Rerunner
from tb_shapeplugin.fixes.search import Repair, Search
from tb_shapeplugin.fixes.situation import Candidate
from tb_shapeplugin.record.finding import Finding, Fix
from tb_shapeplugin.record.site import Site, sites
from tb_shapeplugin.record.trace import Trace, reached_from
from tb_shapeplugin.tracing.execution import Examination

__all__ = ["Budget", "repaired"]

Offer: TypeAlias = Sequence[Candidate]

_MOST_VERIFIED = 4
_MOST_SUGGESTED = 2
_MOST_TRIES = 14  # of one finding
_FEWEST_TRIES = 4


@dataclass(frozen=True)
class _Told:
    """What is added to a finding: its fixes, and the finding that it turned out to follow from."""

    fixes: tuple[Fix, ...] = ()
    cause: Finding | None = None


def repaired(found: tuple[Finding, ...], examination: Examination, budget: Budget | None = None) -> tuple[Finding, ...]:
    """The findings with their fixes: verified ones first, then suggestions. Nothing that goes wrong in trying comes out.

    One that goes away with the fix of another one, from whose assumed output it comes, is told as following from that one.

    Args:
        found: findings of the examination's trace.
        examination: the run, and the way to ask its twin what would be.
        budget: how much may be tried; 64 re-runs and 10 seconds unless given.

    Example:
        >>> [fix.text for fix in repaired(findings(examination.trace), examination)[0].fixes if fix.verified]
        ['nn.Linear(864, 120)']
    """
    if not found:
        return found
    try:
        told = _told(found, examination, budget or Budget())
    except Exception:  # a diagnosis without fixes is worth more than none
        return found
    return _with(found, told)


def _with(found: tuple[Finding, ...], told: dict[int, _Told]) -> tuple[Finding, ...]:
    """The findings, with each ``caused_by`` among them."""
    made: dict[int, Finding] = {}
    for finding in found:
        more = told.get(id(finding), _Told())
        cause = more.cause or finding.caused_by
        made[id(finding)] = replace(finding, fixes=more.fixes, caused_by=None if cause is None else made[id(cause)])
    return tuple(made.values())


def _told(found: tuple[Finding, ...], examination: Examination, budget: Budget) -> dict[int, _Told]:
    """What is added to each finding that stands by itself, by the finding's id."""
    trace = examination.trace
    causes = [finding for finding in found if finding.caused_by is None and finding.severity == "error"]
    offers = [offered(trace, finding) for finding in causes]
    if examination.retry is None:
        return {id(finding): _Told(_suggested((), (), _untried(finding, offer))) for finding, offer in zip(causes, offers, strict=True)}
    search = Search(trace, frozenset(sites(trace)), Rerunner(examination.retry, budget))
    places = [sites_of(trace, finding) for finding in causes]
    most = max(_FEWEST_TRIES, min(_MOST_TRIES, budget.passes // (len(causes) + 1)))
    tried = [[candidate for candidate in offer if candidate.fix.changes][:most] for offer in offers]
    behind = [_behind(trace, found, finding) for finding in causes]
    repairs = [search.repairs(*of_one) for of_one in zip(places, tried, behind, strict=True)]
    together = combined(search, places, repairs) or one_by_one(search, causes)
    result = {}
    for at, finding in enumerate(causes):
        cause = _cause(trace, causes, at, together, repairs[at])
        fixes = () if cause is not None else _fixes(search, together, at, repairs[at], finding, offers[at])
        result[id(finding)] = _Told(fixes, cause)
    return result


def _behind(trace: Trace, found: tuple[Finding, ...], cause: Finding) -> frozenset[Site]:
    """Where the findings stand that follow from one."""
    return frozenset[Site]().union(*(sites_of(trace, finding) for finding in found if finding.caused_by is cause))


def _fixes(
    search: Search, together: Combination | None, at: int, repairs: Sequence[Repair], finding: Finding, offer: Offer
) -> tuple[Fix, ...]:
    alone = [repair.fix for repair in repairs]
    verified = _verified(search, together, at, alone) if together is not None else ()
    untried = [candidate for candidate in _untried(finding, offer) if not search.rerun.tried(candidate.fix.changes)]
    return (*verified, *_suggested(verified, alone, untried))


def _untried(finding: Finding, offer: Offer) -> Offer:
    """What may be told without a run: where the code itself raises, nobody knows that its shapes are why."""
    return () if finding.kind == "user_error" else offer


def _verified(search: Search, together: Combination, at: int, alone: Iterable[Fix]) -> tuple[Fix, ...]:
    """The finding's fix in the combination, and others that run in its place."""
    first = together.fixes[at]
    others = (fix for fix in alone if fix.changes != first.changes and completes(search, together.with_other(at, fix)))
    return tuple(replace(fix, verified=True) for fix in [first, *others][:_MOST_VERIFIED])


def _cause(trace: Trace, causes: Sequence[Finding], at: int, together: Combination | None, own: Sequence[Repair]) -> Finding | None:
    """The finding that this one follows from: an earlier one with whose fix it goes away, and from whose assumed output it comes.

    Two that go away with one other call, and this one in no other way, are what that call does.
    """
    number = at if together is None else together.made_for[at]
    if together is None or number >= at or any(change.get("op") == "interpolate" for change in together.fixes[number].changes):
        return None  # a model that is drawn for other sides states them in many places
    changes = together.fixes[number].changes
    if all("call" in change for change in changes) and all(repair.fix.changes == changes for repair in own):
        return causes[number]
    reached = reached_from(trace, {failure.op for failure in failures_of(trace, causes[number])})
    follows = all(reached.intersection(trace.ops[failure.op].inputs) for failure in failures_of(trace, causes[at]))
    return causes[number] if follows else None


def _suggested(verified: Iterable[Fix], alone: Iterable[Fix], rest: Iterable[Candidate]) -> tuple[Fix, ...]:
    """Fixes that nothing is known against; those in words only where nothing is verified, or as an addition."""
    used = [fix.changes for fix in verified]
    ordered = [*alone, *(candidate.fix for candidate in rest)]
    fresh = [fix for at, fix in enumerate(ordered) if (not fix.changes or fix.changes not in used) and fix not in ordered[:at]]
    words = [fix for fix in fresh if not fix.changes]
    return tuple(([*words, *(fix for fix in fresh if fix.changes)] if not used else words)[:_MOST_SUGGESTED])
