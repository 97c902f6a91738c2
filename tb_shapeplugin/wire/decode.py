"""Stored bytes to the Record they hold."""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, cast, get_args

import numpy as np
from google.protobuf.message import DecodeError

from tb_shapeplugin.base.errors import RecordError
from tb_shapeplugin.base.names import RECORD_DRAFT
from tb_shapeplugin.record.finding import Finding, Fix, Mark, Origin, Place, Severity
from tb_shapeplugin.record.record import CallColumns, Record, Totals
from tb_shapeplugin.record.trace import Branch, Case, Endpoint, Execution
from tb_shapeplugin.record.values import Shape
from tb_shapeplugin.wire.changes import changes_from_json
from tb_shapeplugin.wire.checks import check
from tb_shapeplugin.wire.columns import read_ints, read_ragged, read_table
from tb_shapeplugin.wire.envelope import unpack
from tb_shapeplugin.wire.header import another_draft
from tb_shapeplugin.wire.memory import memory_from, what_if_from
from tb_shapeplugin.wire.schema import RecordMessage
from tb_shapeplugin.wire.stretches import rows_of
from tb_shapeplugin.wire.tables import DELTA, PLAIN, TABLES
from tb_shapeplugin.wire.text import lengthened


def decode(data: bytes) -> Record:
    """The record in those bytes.

    Raises:
        RecordError: they are not gzip, damaged, cut off, larger than any record may be, of another draft, no record, or
            a record whose tables contradict each other. The message is one sentence and the way out.

    Example:
        >>> decode(encode(record)).name
        'model'
    """
    message = unpack(data)
    draft = _leading_draft(message)
    if draft is None:
        raise RecordError("This holds something else than a record. Log the model again.")
    if draft != RECORD_DRAFT:
        raise RecordError(another_draft(draft))
    try:
        record = _record(RecordMessage.FromString(message))
        check(record)
    except DecodeError as error:
        raise RecordError("This holds something else than a record. Log the model again.") from error
    except (ValueError, RecursionError) as error:
        raise RecordError(f"Its tables contradict each other: {error}. Log the model again.") from error
    return record


def _leading_draft(message: bytes) -> int | None:
    """The first field, read by hand: later ones may have another form in another draft."""
    if message[:1] != b"\x08":
        return None
    draft = 0
    for shift, byte in enumerate(message[1:6]):
        draft |= (byte & 127) << (7 * shift)
        if byte < 128:
            return draft
    return None


# Any, here and below: messages made from descriptors have no static types.
def _record(message: Any) -> Record:
    # cast: the table names the type of each of these columns
    columns = {table.name: cast(Any, read_table(getattr(message, table.name), table)) for table in TABLES}
    calls: CallColumns = columns.pop("calls")
    if len(calls.first_op) != len(calls.end_op):
        raise ValueError(f"calls.first_op has {len(calls.first_op)} rows, op_count has {len(calls.end_op)}")
    shapes = _shapes(message.shapes)
    return Record(
        name=message.name,
        completed=message.completed,
        error=message.error,
        execution=_one_of(get_args(Execution), message.execution),
        unchecked=tuple(message.unchecked),
        versions=dict(message.versions),
        strings=lengthened(message.shared_prefix, message.strings),
        shapes=shapes,
        argument_lists=read_ragged(message.argument_lists.count, message.argument_lists.values, PLAIN),
        child_lists=read_ragged(message.child_lists.count, message.child_lists.values, PLAIN),
        calls=replace(calls, end_op=calls.end_op + calls.first_op),
        inputs=tuple(map(_endpoint, message.inputs)),
        outputs=tuple(map(_endpoint, message.outputs)),
        totals=_totals(message.totals),
        memory=memory_from(message.memory) if message.HasField("memory") else None,
        what_if=what_if_from(message.what_if) if message.HasField("what_if") else None,
        findings=_findings(message.findings),
        branches=tuple(map(_branch, message.branches.branches)) if message.HasField("branches") else None,
        cases=tuple(_case(case, shapes, message) for case in message.cases),
        **columns,
    )


def _shapes(message: Any) -> tuple[Shape, ...]:
    dims = list(message.dims)
    ends = np.cumsum(read_ints(message.rank, PLAIN)).tolist()
    if (ends[-1] if ends else 0) != len(dims):
        raise ValueError(f"the ranks add up to {ends[-1] if ends else 0}, there are {len(dims)} dims")
    return tuple(tuple(dims[start:end]) for start, end in zip([0, *ends], ends, strict=False))


def _one_of(words: tuple[Any, ...], word: str) -> Any:
    if word not in words:
        raise ValueError(f"{word!r:.40} is none of {', '.join(words)}")
    return word


def _endpoint(message: Any) -> Endpoint:
    return Endpoint(message.name, message.tensor - 1, message.literal)


def _branch(message: Any) -> Branch:
    return Branch(message.file, message.line, message.end_line, message.code, message.function, tuple(message.modules))


def _case(message: Any, shapes: Sequence[Shape], whole: Any) -> Case:
    tensors = read_ints(message.tensors, DELTA).tolist()
    if len(tensors) != len(message.shapes) or any(shape >= len(shapes) for shape in message.shapes):
        raise ValueError(f"the shapes of case {message.name!r:.40} don't fit their tensors")
    return Case(
        name=message.name,
        completed=message.completed,
        error=message.error,
        execution=_one_of(get_args(Execution), message.execution),
        ops=rows_of(message.ops, len(whole.ops.name)),
        calls=rows_of(message.calls, len(whole.calls.module)),
        values=rows_of(message.values, len(whole.values.tensor)),
        shapes={tensor: shapes[shape] for tensor, shape in zip(tensors, message.shapes, strict=True)},
        inputs=tuple(map(_endpoint, message.inputs)),
        outputs=tuple(map(_endpoint, message.outputs)),
    )


def _totals(message: Any) -> Totals:
    names = [field.name for field in fields(Totals)]
    return Totals(**{name: getattr(message, name) if message.HasField(name) else None for name in names})


def _findings(messages: Sequence[Any]) -> tuple[Finding, ...]:
    """Causes before what follows from them, whatever their order; a ring of causes is an error."""
    done: dict[int, Finding] = {}
    for start in range(len(messages)):
        chain = [start]
        while chain[-1] not in done and messages[chain[-1]].caused_by:
            cause = messages[chain[-1]].caused_by - 1
            if cause >= len(messages) or cause in chain:
                raise ValueError(f"finding {chain[-1]} is caused by finding {cause}, there are {len(messages)}")
            chain.append(cause)
        for index in reversed(chain):
            if index not in done:
                cause = messages[index].caused_by - 1
                done[index] = _finding(messages[index], done.get(cause))
    return tuple(done[index] for index in range(len(messages)))


def _finding(message: Any, cause: Finding | None) -> Finding:
    texts = ("kind", "message", "module", "module_type", "op", "file", "code", "types", "why", "torch_message", "call", "line")
    return Finding(
        **{name: getattr(message, name) for name in texts},
        severity=_one_of(get_args(Severity), message.severity),
        got=_numbers(message.got),
        want=_numbers(message.want),
        origin=_origin(message.origin) if message.HasField("origin") else None,
        places=tuple(map(_place, message.places)),
        marks=tuple(Mark(mark.tensor, mark.dim) for mark in message.marks),
        readings=tuple(message.readings),
        fixes=tuple(Fix(fix.text, changes_from_json(fix.changes_json), fix.verified, fix.cost) for fix in message.fixes),
        caused_by=cause,
        op_index=message.op_index - 1,
        cases=tuple(message.cases),
    )


def _numbers(messages: Sequence[Any]) -> dict[str, int]:
    return {number.word: number.value for number in messages}


def _place(message: Any) -> Place:
    return Place(message.module, message.call, message.op, message.file, message.line, message.code, message.op_index - 1)


def _origin(message: Any) -> Origin:
    where = (message.module, message.op, message.file, message.line, message.code)
    return Origin(*where, message.op_index - 1, message.tensor - 1, tuple(message.shape))
