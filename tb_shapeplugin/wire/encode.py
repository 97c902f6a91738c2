"""A Record to the bytes that are stored."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from tb_shapeplugin.base.errors import InternalError
from tb_shapeplugin.base.names import RECORD_DRAFT
from tb_shapeplugin.record.columns import Ragged, ints
from tb_shapeplugin.record.finding import Finding, Origin, Place
from tb_shapeplugin.record.record import Record, Totals
from tb_shapeplugin.record.trace import Branch, Case, Endpoint
from tb_shapeplugin.wire.changes import changes_to_json
from tb_shapeplugin.wire.checks import check
from tb_shapeplugin.wire.columns import coded, write_table
from tb_shapeplugin.wire.envelope import pack
from tb_shapeplugin.wire.memory import memory_message, what_if_message
from tb_shapeplugin.wire.schema import RecordMessage
from tb_shapeplugin.wire.stretches import stretches
from tb_shapeplugin.wire.tables import DELTA, TABLES
from tb_shapeplugin.wire.text import shortened, storable_text

_LARGEST, _SMALLEST = 2**63 - 1, -(2**63)


def encode(record: Record) -> bytes:
    """The record's bytes: shapes.v1.Record, gzipped; the same record gives the same bytes.

    Raises:
        InternalError: the record is inconsistent (an index beyond its table), or too large.

    Example:
        >>> decode(encode(record)) == record
        True
    """
    try:
        check(record)
        return pack(_message(record).SerializeToString(deterministic=True))
    except (ValueError, TypeError, OverflowError) as error:
        raise InternalError(f"The record of {record.name!r} can't be stored: {error}. Please report this.") from error


# Any, here and below: messages made from descriptors have no static types.
def _message(record: Record) -> Any:
    prefixes, strings = shortened([storable_text(text) for text in record.strings])
    message = RecordMessage(
        draft=RECORD_DRAFT,
        name=storable_text(record.name),
        completed=record.completed,
        error=storable_text(record.error),
        execution=record.execution,
        unchecked=map(storable_text, record.unchecked),
        versions={storable_text(name): storable_text(version) for name, version in record.versions.items()},
        strings=strings,
        shared_prefix=prefixes,
        inputs=map(_endpoint, record.inputs),
        outputs=map(_endpoint, record.outputs),
        totals=_totals(record.totals),
        memory=memory_message(record.memory) if record.memory is not None else None,
        what_if=what_if_message(record.what_if) if record.what_if is not None else None,
        findings=[_finding(finding, record.findings) for finding in record.findings],
        branches=None if record.branches is None else {"branches": list(map(_branch, record.branches))},
        cases=[_case(case, record) for case in record.cases],
    )
    shapes = Ragged.of(record.shapes)
    message.shapes.rank.extend(shapes.counts.tolist())
    message.shapes.dims.extend(shapes.values.tolist())
    for lists, column in ((message.argument_lists, record.argument_lists), (message.child_lists, record.child_lists)):
        lists.count.extend(column.counts.tolist())
        lists.values.extend(column.values.tolist())
    lengths = replace(record.calls, end_op=record.calls.end_op - record.calls.first_op)
    for table in TABLES:
        write_table(getattr(message, table.name), table, lengths if table.name == "calls" else getattr(record, table.name))
    return message


def _endpoint(endpoint: Endpoint) -> dict[str, Any]:
    return {"name": storable_text(endpoint.name), "tensor": endpoint.tensor + 1, "literal": storable_text(endpoint.literal)}


def _branch(branch: Branch) -> dict[str, Any]:
    written: dict[str, Any] = {name: storable_text(getattr(branch, name)) for name in ("file", "code", "function")}
    return written | {"line": branch.line, "end_line": branch.end_line, "modules": branch.modules}


def _case(case: Case, record: Record) -> dict[str, Any]:
    shape_index = {shape: index for index, shape in enumerate(record.shapes)}
    tensors = sorted(case.shapes)
    return {
        "name": storable_text(case.name),
        "completed": case.completed,
        "error": storable_text(case.error),
        "execution": case.execution,
        "ops": stretches(case.ops),
        "calls": stretches(case.calls),
        "values": stretches(case.values),
        "tensors": coded(DELTA, ints(tensors)),
        "shapes": [shape_index[case.shapes[tensor]] for tensor in tensors],
        "inputs": map(_endpoint, case.inputs),
        "outputs": map(_endpoint, case.outputs),
    }


def _totals(totals: Totals) -> dict[str, int]:
    figures = {field.name: getattr(totals, field.name) for field in fields(totals)}
    return {name: value for name, value in figures.items() if value is not None}


def _finding(finding: Finding, findings: Sequence[Finding]) -> dict[str, Any]:
    texts = ("kind", "severity", "message", "module", "module_type", "op", "file", "code", "types", "why", "torch_message")
    written: dict[str, Any] = {name: storable_text(getattr(finding, name)) for name in texts}
    written |= {"call": finding.call, "line": finding.line, "op_index": finding.op_index + 1}
    written |= {"got": _numbers(finding.got), "want": _numbers(finding.want)}
    written["origin"] = _origin(finding.origin) if finding.origin is not None else None
    written["places"] = [_place(place) for place in finding.places]
    written["marks"] = [{"tensor": mark.tensor, "dim": mark.dim} for mark in finding.marks]
    written["readings"] = [storable_text(reading) for reading in finding.readings]
    written["fixes"] = [
        {
            "text": storable_text(fix.text),
            "changes_json": changes_to_json(fix.changes),
            "verified": fix.verified,
            "cost": storable_text(fix.cost),
        }
        for fix in finding.fixes
    ]
    written["cases"] = list(map(storable_text, finding.cases))
    written["caused_by"] = _position(finding.caused_by, findings) + 1
    return written


def _position(cause: Finding | None, findings: Sequence[Finding]) -> int:
    if cause is None:
        return -1
    same = [index for index, finding in enumerate(findings) if finding is cause]
    return same[0] if same else list(findings).index(cause)


def _numbers(numbers: Mapping[str, int]) -> list[dict[str, Any]]:
    """As 64 bits hold them: a product of dims may be larger, and the message says it in words."""
    return [{"word": storable_text(word), "value": max(_SMALLEST, min(_LARGEST, value))} for word, value in numbers.items()]


def _place(place: Place) -> dict[str, Any]:
    written: dict[str, Any] = {name: storable_text(getattr(place, name)) for name in ("module", "op", "file", "code")}
    return written | {"call": place.call, "line": place.line, "op_index": place.op_index + 1}


def _origin(origin: Origin) -> dict[str, Any]:
    written: dict[str, Any] = {name: storable_text(getattr(origin, name)) for name in ("module", "op", "file", "code")}
    written |= {"line": origin.line, "op_index": origin.op_index + 1, "tensor": origin.tensor + 1}
    return written | {"shape": origin.shape}
