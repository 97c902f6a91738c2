"""A finding with several places: its candidates, each with the same change at all of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tb_shapeplugin.analyse.mismatches.registered import explain
from tb_shapeplugin.fixes.candidates import candidates
from tb_shapeplugin.fixes.each_pass import at_each_pass
from tb_shapeplugin.fixes.layer_text import called
from tb_shapeplugin.fixes.situation import Candidate
from tb_shapeplugin.record.finding import Finding, Fix
from tb_shapeplugin.record.trace import Failure, Trace

_MOST_NAMED = 2  # further places that a fix names
_NAMES = ("arg", "attr", "param", "op", "insert", "call", "argument", "operand", "input", "dtype", "device", "to")
_KEPT = (*_NAMES, "value", "dim", "dims", "shape", "arguments")  # and what holds a size


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
    first, *others = [candidates(trace, failure, _as_told(trace, failure, finding)) for failure in failures]
    return tuple(_everywhere(trace, candidate, others) for candidate in first)


def _everywhere(trace: Trace, candidate: Candidate, others: Sequence[Iterable[Candidate]]) -> Candidate:
    if not all(any(_form(other.fix) == _form(candidate.fix) for other in offer) for offer in others):
        candidate = at_each_pass(trace, candidate) or candidate  # behind a failure less is known
    changes, named = list(candidate.fix.changes), dict[str, str]()
    form, loose = _form(candidate.fix), _form(candidate.fix, _NAMES)
    for offer in others:
        same = next((other for other in offer if _form(other.fix) == form), None)
        alike = same or next((other for other in offer if _form(other.fix, _NAMES) == loose), None)  # a place may have sizes of its own
        fresh = [change for change in (alike.fix.changes if alike else ()) if dict(change) not in map(dict, changes)]
        changes += fresh
        named.update({called(str(change["module"])): alike.fix.text for change in fresh if change.get("module") and alike})
    text = candidate.fix.text + _where(candidate.fix.text, named)
    return replace(candidate, fix=replace(candidate.fix, text=text, changes=tuple(changes)))


def _where(text: str, named: Mapping[str, str]) -> str:
    """At which other places: by name, with what is made there where that is something else."""
    if not named:
        return ""
    if len(named) > _MOST_NAMED:
        return f", and {'the same' if set(named.values()) == {text} else 'as fits'} in {len(named)} more places"
    others = (name if told == text else f"{name}: {told}" for name, told in named.items())
    return f", and {'the same in' if set(named.values()) == {text} else 'likewise'} {', '.join(others)}"


def _as_told(trace: Trace, failure: Failure, finding: Finding) -> Finding:
    """The finding with the numbers of one of its places."""
    if failure.op == finding.op_index:
        return finding
    own = explain(failure, trace)
    return replace(finding, got=own.got, want=own.want) if own.kind == finding.kind else finding


def _form(fix: Fix, kept: Sequence[str] = _KEPT) -> tuple[tuple[str, ...], ...]:
    """What is equal for the same change at two places."""
    return tuple(tuple(f"{key}={change[key]}" if key in kept else key for key in sorted(change)) for change in fix.changes)
