"""Failures as findings: each fault told once, with all its places, its origin and what it follows from."""

from collections.abc import Iterable
from dataclasses import replace

from tb_shapeplugin.analyse.grouping import Told, groups
from tb_shapeplugin.analyse.mismatches.registered import clash_of, explain
from tb_shapeplugin.analyse.origins.blame import origin
from tb_shapeplugin.analyse.other_readings import other_readings
from tb_shapeplugin.record.finding import Clash, Finding, Place
from tb_shapeplugin.record.trace import Failure, Trace


def findings(trace: Trace) -> tuple[Finding, ...]:
    """One finding per fault, in the order in which the run met them; those that follow from another one say so.

    The same statement that fails in the same way in several modules of one class, or in several calls, is one fault.

    Example:
        >>> [finding.kind for finding in findings(trace)]
        ['linear_in_features']
    """
    told = [_told(trace, failure) for failure in trace.failures]
    faults = groups(trace, told)
    made: list[Finding] = []
    by_number: dict[int, Finding] = {}
    for fault in faults:
        first = told[fault.numbers[0]]
        finding = replace(
            first.finding,
            places=_places(told[number].finding for number in fault.numbers),
            readings=() if fault.cause >= 0 else other_readings(trace, told, fault, faults),
            caused_by=by_number.get(fault.cause),
        )
        made.append(finding)
        by_number.update(dict.fromkeys(fault.numbers, finding))
    return tuple(made)


def _places(group: Iterable[Finding]) -> tuple[Place, ...]:
    return tuple(place for finding in group for place in finding.places)


def _is_plain_function(trace: Trace) -> bool:
    """Is the model a function? It has no module tree: paths into its arguments stand in the sentence, not in ``module``."""
    return bool(trace.modules) and trace.modules[0].config == "function"


def _told(trace: Trace, failure: Failure) -> Told:
    clash = clash_of(failure, trace)
    return Told(failure, clash, _finding(trace, failure, clash))


def _finding(trace: Trace, failure: Failure, clash: Clash | None) -> Finding:
    explanation = explain(failure, trace)
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
