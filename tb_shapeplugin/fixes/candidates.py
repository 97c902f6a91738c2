"""Candidate fixes of a finding, the most plausible first; pure data, none of them tried."""

from tb_shapeplugin.analyse.mismatches.registered import clash_of
from tb_shapeplugin.fixes.checked_input import KIND as USER_ERROR
from tb_shapeplugin.fixes.checked_input import checked_input
from tb_shapeplugin.fixes.registered import FIXES
from tb_shapeplugin.fixes.situation import Candidate, Situation
from tb_shapeplugin.record.finding import Finding
from tb_shapeplugin.record.trace import Failure, Trace

_NO_MISMATCH = ("out_of_memory",)


def candidates(trace: Trace, failure: Failure, finding: Finding) -> tuple[Candidate, ...]:
    """What may repair a failure, the most plausible first. A fault that is no mismatch gets none; where the code itself raises,
    only another input is tried.

    Args:
        trace: the run that failed.
        failure: one of its failures.
        finding: what was found about it.

    Example:
        >>> [candidate.fix.text for candidate in candidates(trace, failure, finding)][0]
        'nn.Linear(864, 120)'
    """
    if finding.kind in _NO_MISMATCH:
        return ()
    situation = Situation(trace, failure, finding, clash_of(failure, trace))
    proposals = (checked_input,) if finding.kind == USER_ERROR else FIXES
    found: list[Candidate] = []
    seen: list[tuple[object, ...]] = []
    proposed = (candidate for propose in proposals for candidate in propose(situation))
    for candidate in sorted(proposed, key=lambda candidate: candidate.effort):
        changes = tuple(dict(change) for change in candidate.fix.changes) or (candidate.fix.text,)
        if changes not in seen:
            seen.append(changes)
            found.append(candidate)
    return tuple(found)
