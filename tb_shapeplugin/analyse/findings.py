"""Failures as findings: each fault told once, with all its places, its origin and what it follows from."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

from tb_shapeplugin.analyse.blame import origin
from tb_shapeplugin.analyse.mismatches.registered import clash_of, explain
from tb_shapeplugin.record.finding import Finding, Place
from tb_shapeplugin.record.trace import Failure, Trace

Sameness: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class _Group:
    """Failures that are one fault, by their numbers in the trace, the first of them first."""

    numbers: tuple[int, ...]


def findings(trace: Trace) -> tuple[Finding, ...]:
    """One finding per fault, in the order in which the run met them; those that follow from another one say so.

    The same statement that fails in the same way in several modules of one class, or in several calls, is one fault.

    Example:
        >>> [finding.kind for finding in findings(trace)]
        ['linear_in_features']
    """
    told = [_finding(trace, failure) for failure in trace.failures]
    made: list[Finding] = []
    by_number: dict[int, Finding] = {}
    for group in _groups(trace, told):
        first = group.numbers[0]
        cause = by_number.get(trace.failures[first].caused_by)
        finding = replace(told[first], places=_places(told[number] for number in group.numbers), caused_by=cause)
        made.append(finding)
        by_number.update(dict.fromkeys(group.numbers, finding))
    return tuple(made)


def _groups(trace: Trace, told: list[Finding]) -> list[_Group]:
    grouped: dict[Sameness, list[int]] = {}
    for number, (failure, finding) in enumerate(zip(trace.failures, told, strict=True)):
        grouped.setdefault(_sameness(failure, finding), []).append(number)
    return [_Group(tuple(numbers)) for numbers in grouped.values()]


def _sameness(failure: Failure, finding: Finding) -> Sameness:
    """What is equal for two failures that are one fault; a consequence is never one with what stands by itself."""
    numbers = (*sorted(finding.got.items()), *sorted(finding.want.items()))
    place = (finding.file, finding.line, finding.code)
    message = () if numbers else (finding.torch_message,)
    return (finding.kind, finding.op, finding.module_type, place, numbers, message, failure.caused_by)


def _places(group: Iterable[Finding]) -> tuple[Place, ...]:
    return tuple(place for finding in group for place in finding.places)


def _is_plain_function(trace: Trace) -> bool:
    """Is the model a function? It has no module tree: paths into its arguments stand in the sentence, not in ``module``."""
    return bool(trace.modules) and trace.modules[0].config == "function"


def _finding(trace: Trace, failure: Failure) -> Finding:
    clash, explanation = clash_of(failure, trace), explain(failure, trace)
    found, why = origin(trace, failure, clash)
    op = trace.ops[failure.op]
    source = trace.sources[op.source] if op.source >= 0 else None
    module = trace.modules[failure.module] if failure.module >= 0 else None
    place = Place(
        module=module.path if module and not _is_plain_function(trace) else "",
        call=trace.calls[op.call].number if op.call >= 0 else 0,
        op=failure.call.name,
        file=source.file if source else "",
        line=source.line if source else 0,
        code=source.code if source else "",
        op_index=failure.op,
    )
    return Finding(
        kind=explanation.kind,
        severity="error",
        message=explanation.message,
        module=place.module,
        module_type=module.type if module else "",
        call=place.call,
        op=place.op,
        file=place.file,
        line=place.line,
        code=place.code,
        got=explanation.got,
        want=explanation.want,
        types=explanation.types,
        origin=found,
        why=why,
        torch_message=failure.message,
        places=(place,),
        marks=explanation.marks,
        op_index=failure.op,
    )
