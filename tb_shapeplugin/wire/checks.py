"""What every Record keeps to: columns of one length, indices within their tables, parents before children."""

from collections.abc import Iterator, Mapping

import numpy as np

from tb_shapeplugin.record.columns import Columns, Ints, Ragged
from tb_shapeplugin.record.finding import Finding
from tb_shapeplugin.record.memory import TERMS, Memory
from tb_shapeplugin.record.record import OUTCOMES, TENSOR_KINDS, VALUE_ORIGINS, Record
from tb_shapeplugin.wire.tables import MEMORY_TABLES, TABLES, Column, Table


def check(record: Record) -> None:
    """Nothing when the record is consistent; ValueError that names the table, the column and the value when it isn't."""
    if record.strings[:1] != ("",):
        raise ValueError("strings[0] is not the empty string")
    sizes = _sizes(record)
    for table in TABLES:
        _check_table(table, getattr(record, table.name), sizes)
    for memory in _memories(record):
        _check_memory(memory, sizes)
    _check_ops_of_calls(record)
    _check_range("argument_lists", record.argument_lists.values, 0, sizes["strings"])
    if bool((record.argument_lists.counts % 2).any()):
        raise ValueError("argument_lists holds a name without a literal")
    for row in record.child_lists:
        _check_children(row, sizes)
    for what, index, size in _single_indices(record, sizes):
        if not -1 <= index < size:
            raise ValueError(f"{what} is {index}, there are {size} of them")


def _sizes(record: Record) -> dict[str, int]:
    tables = ("strings", "shapes", "argument_lists", "child_lists", *(table.name for table in TABLES))
    return {name: len(getattr(record, name)) for name in tables} | {
        "kinds": len(TENSOR_KINDS),
        "outcomes": len(OUTCOMES),
        "origins": len(VALUE_ORIGINS),
        "terms": len(TERMS),
        "scales": max(1, len(record.what_if.scales)) if record.what_if is not None else 1,
    }


def _memories(record: Record) -> Iterator[Memory]:
    if record.memory is not None:
        yield record.memory
    for variant in record.what_if.variants if record.what_if is not None else ():
        yield variant.memory


def _check_memory(memory: Memory, sizes: Mapping[str, int]) -> None:
    ops = len(memory.ops)
    for table in MEMORY_TABLES:
        _check_table(table, getattr(memory, table.name), {**sizes, "memory ops": ops})
    ends = [end for _, end in memory.phases]
    if ends != sorted(ends) or any(end > ops for end in ends):
        raise ValueError(f"the phases of the memory end at {ends}, it has {ops} ops")


def _check_table(table: Table, columns: Columns, sizes: Mapping[str, int]) -> None:
    for column in table.columns:
        where, values = f"{table.name}.{column.name}", getattr(columns, column.name)
        if len(values) != len(columns):
            raise ValueError(f"{where} has {len(values)} rows, {table.name} has {len(columns)}")
        _check_column(where, column, values, sizes)


def _check_column(where: str, column: Column, values: Ints | Ragged, sizes: Mapping[str, int]) -> None:
    numbers = values.values if isinstance(values, Ragged) else values
    _check_range(where, numbers, column.coding.lowest, sizes.get(column.table))
    if column.earlier and bool((numbers >= np.arange(len(numbers))).any()):
        raise ValueError(f"{where} points at a row that doesn't stand before its own")


def _check_range(where: str, values: Ints, lowest: int, size: int | None) -> None:
    if not len(values):
        return
    if int(values.min()) < lowest:
        raise ValueError(f"{where} holds {int(values.min())}")
    if size is not None and int(values.max()) >= size:
        raise ValueError(f"{where} holds {int(values.max())}, its table has {size} rows")


def _check_ops_of_calls(record: Record) -> None:
    first, end = record.calls.first_op, record.calls.end_op
    if bool((first > end).any()) or bool((end > len(record.ops)).any()):
        raise ValueError(f"calls.end_op lies outside first_op … {len(record.ops)}")


def _check_children(row: tuple[int, ...], sizes: Mapping[str, int]) -> None:
    at = 0
    while at < len(row):
        count = row[at + 1] if at + 1 < len(row) else -1
        outputs = row[at + 2 : at + 2 + 2 * count]
        whole = count >= 0 and len(outputs) == 2 * count
        if not whole or row[at] >= sizes["strings"] or any(shape >= sizes["shapes"] for shape in outputs[::2]):
            raise ValueError("child_lists holds a row that is no list of names and outputs")
        if any(dtype >= sizes["strings"] for dtype in outputs[1::2]):
            raise ValueError(f"child_lists holds a dtype beyond the {sizes['strings']} strings")
        at += 2 + 2 * count


def _single_indices(record: Record, sizes: Mapping[str, int]) -> Iterator[tuple[str, int, int]]:
    """Every index outside the columns: what it is, its value, the size of its table."""
    for endpoint in (*record.inputs, *record.outputs, *(one for case in record.cases for one in (*case.inputs, *case.outputs))):
        yield f"the tensor of {endpoint.name!r}", endpoint.tensor, sizes["tensors"]
    for branch in record.branches or ():
        for module in branch.modules:
            yield f"a module of a branch ({branch.code:.40})", module, sizes["modules"]
    for case in record.cases:
        of = f"of case {case.name!r:.40}"
        for table in ("ops", "calls", "values"):
            rows = getattr(case, table)
            yield f"the last of the {table} {of}", rows[-1] if rows else -1, sizes[table]
        for tensor in case.shapes:
            yield f"a tensor {of}", tensor, sizes["tensors"]
    for finding in record.findings:
        yield from _indices_of_finding(finding, sizes)


def _indices_of_finding(finding: Finding, sizes: Mapping[str, int]) -> Iterator[tuple[str, int, int]]:
    of = f"of a finding ({finding.kind})"
    yield f"the op {of}", finding.op_index, sizes["ops"]
    for place in finding.places:
        yield f"the op of a place {of}", place.op_index, sizes["ops"]
    for mark in finding.marks:
        yield f"the tensor of a mark {of}", mark.tensor, sizes["tensors"]
    if finding.origin is not None:
        yield f"the op of the origin {of}", finding.origin.op_index, sizes["ops"]
        yield f"the tensor of the origin {of}", finding.origin.tensor, sizes["tensors"]
