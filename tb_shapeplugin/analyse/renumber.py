"""Findings of one trace as findings of another that holds the same ops under other numbers."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from tb_shapeplugin.record.finding import Finding


@dataclass(frozen=True)
class Numbers:
    """A trace's ops and tensors by their numbers in the other one; those that it doesn't hold are missing."""

    ops: Mapping[int, int]
    tensors: Mapping[int, int]


def renumbered(findings: Iterable[Finding], numbers: Numbers) -> tuple[Finding, ...]:
    """The findings with every op and tensor under its other number, -1 where it has none; causes stay linked."""
    return relinked(findings, lambda finding: _renumbered(finding, numbers))


def relinked(findings: Iterable[Finding], change: Callable[[Finding], Finding]) -> tuple[Finding, ...]:
    """Every finding changed, each caused by the changed one of its cause; a cause that isn't among them is dropped.

    The change may give the same finding for several.
    """
    findings = list(findings)
    among = {id(finding) for finding in findings}
    done: dict[int, Finding] = {}

    def changed(finding: Finding) -> Finding:
        if id(finding) not in done:
            cause = finding.caused_by
            linked = changed(cause) if cause is not None and id(cause) in among else None
            done[id(finding)] = change(replace(finding, caused_by=linked))
        return done[id(finding)]

    return tuple(changed(finding) for finding in findings)


def _renumbered(finding: Finding, numbers: Numbers) -> Finding:
    origin = finding.origin
    if origin is not None:
        origin = replace(origin, op_index=numbers.ops.get(origin.op_index, -1), tensor=numbers.tensors.get(origin.tensor, -1))
    return replace(
        finding,
        op_index=numbers.ops.get(finding.op_index, -1),
        places=tuple(replace(place, op_index=numbers.ops.get(place.op_index, -1)) for place in finding.places),
        marks=tuple(replace(mark, tensor=numbers.tensors[mark.tensor]) for mark in finding.marks if mark.tensor in numbers.tensors),
        origin=origin,
    )
