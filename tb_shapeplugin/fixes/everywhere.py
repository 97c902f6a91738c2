"""A finding with several places: its candidates, each with the same change at all of them."""

from collections.abc import Iterable
from dataclasses import replace

from tb_shapeplugin.fixes.candidates import candidates
from tb_shapeplugin.fixes.layer_text import called
from tb_shapeplugin.fixes.situation import Candidate
from tb_shapeplugin.record.finding import Finding, Fix
from tb_shapeplugin.record.trace import Failure, Trace

_MOST_NAMED = 2  # further places that a fix names
_KEPT = ("arg", "attr", "param", "op", "insert", "call", "argument", "operand", "input", "value", "dim", "dims", "shape", "arguments")


def failures_of(trace: Trace, finding: Finding) -> list[Failure]:
    """The failures that a finding tells of."""
    at = {place.op_index for place in finding.places}
    return [failure for failure in trace.failures if failure.op in at]


def offered(trace: Trace, finding: Finding) -> tuple[Candidate, ...]:
    """A finding's candidates, the most plausible first, each for all of its places.

    Example:
        >>> offered(trace, finding)[0].fix.text
        'nn.Linear(16, 8), and the same in 11 more places'
    """
    failures = failures_of(trace, finding)
    if not failures:
        return ()
    first, *others = (candidates(trace, failure, finding) for failure in failures)
    return tuple(_everywhere(candidate, others) for candidate in first)


def _everywhere(candidate: Candidate, others: Iterable[Iterable[Candidate]]) -> Candidate:
    changes, paths = list(candidate.fix.changes), []
    form = _form(candidate.fix)
    for offer in others:
        same = next((other for other in offer if _form(other.fix) == form), None)
        fresh = [change for change in (same.fix.changes if same else ()) if dict(change) not in map(dict, changes)]
        changes += fresh
        paths += [str(change["module"]) for change in fresh if change.get("module")]
    named = [called(path) for path in dict.fromkeys(paths)]
    more = f"{len(named)} more places" if len(named) > _MOST_NAMED else ", ".join(named)
    where = f", and the same in {more}" if named else ""
    return replace(candidate, fix=replace(candidate.fix, text=candidate.fix.text + where, changes=tuple(changes)))


def _form(fix: Fix) -> tuple[tuple[str, ...], ...]:
    """What is equal for the same change at two places."""
    return tuple(tuple(f"{key}={change[key]}" if key in _KEPT else key for key in sorted(change)) for change in fix.changes)
