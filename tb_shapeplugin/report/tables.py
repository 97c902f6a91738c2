"""The tables that an export may have: rows of plain values under the names that they have in the API."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from tb_shapeplugin.record.memory import TERMS
from tb_shapeplugin.record.memory_lines import lines, phase_at
from tb_shapeplugin.record.memory_view import MemoryView
from tb_shapeplugin.record.record import Record
from tb_shapeplugin.record.views import ModuleRow, ModuleRows, OpRow, OpRows, TensorRow, TensorRows

# What a cell holds; a list stands for several tensors. None: nobody knows.
Cell: TypeAlias = "str | int | bool | None | list[str]"
TableRow: TypeAlias = dict[str, Cell]


def modules(record: Record) -> Iterator[TableRow]:
    """One row a call, and one a module that was never called, in execution order."""
    for row in ModuleRows(record):
        yield _module(row)


def _module(row: ModuleRow) -> TableRow:
    return {
        "path": row.path,
        "type": row.type,
        "call": row.call if row.called else None,
        "depth": row.depth,
        "outcome": row.outcome or "never called",
        "input_types": list(map(str, row.inputs)),
        "output_types": list(map(str, row.outputs)),
        "params": row.params,
        "trainable_params": row.trainable_params,
        "param_bytes": row.param_bytes,
        "buffer_bytes": row.buffer_bytes,
        "local_params": row.local_params,
        "local_param_bytes": row.local_param_bytes,
        "flops": row.flops,
        "flops_complete": row.flops_complete if row.called else None,
        "backward_flops": row.backward_flops,
        "saved_bytes": row.saved_bytes,
        "output_bytes": row.output_bytes,
        "shared_with": list(row.shared_with),
    }


def ops(record: Record) -> Iterator[TableRow]:
    """One row a call of a torch function, in execution order."""
    for row in OpRows(record):
        yield _op(row)


def _op(row: OpRow) -> TableRow:
    return {
        "index": row.index,
        "name": row.name,
        "module": row.module,
        "call": row.call,
        "input_types": list(map(str, row.inputs)),
        "output_types": list(map(str, row.outputs)),
        "arguments": ", ".join(f"{name}={literal}" for name, literal in row.arguments.items()),
        "flops": row.flops,
        "file": row.file,
        "line": row.line,
        "code": row.code,
        "failed": row.failed,
        "assumed": row.assumed,
    }


def tensors(record: Record) -> Iterator[TableRow]:
    """One row a tensor, by its id."""
    for row in TensorRows(record):
        yield _tensor(row)


def _tensor(row: TensorRow) -> TableRow:
    return {
        "id": row.id,
        "shape": "×".join(map(str, row.shape)),
        "dtype": row.dtype,
        "device": row.device,
        "bytes": row.bytes,
        "storage": row.storage,
        "kind": row.kind,
        "name": row.name,
        "producer": row.producer if row.producer >= 0 else None,
        "assumed": row.assumed,
    }


def memory(record: Record) -> Iterator[TableRow]:
    """One row an aten op of the iteration: what is alive there, by term; none where no memory is known."""
    if record.memory is None:
        return
    alive = {term: line.tolist() for term, line in lines(record.memory).items()}
    for op, (name, call) in enumerate(zip(record.memory.ops.name.tolist(), record.memory.ops.call.tolist(), strict=True)):
        path = record.strings[record.modules.path[record.calls.module[call]]] if call >= 0 else ""
        row: TableRow = {"op": op, "name": record.strings[name], "module": path, "phase": phase_at(record.memory.phases, op)}
        row |= {f"{term}_bytes": alive[term][op] for term in TERMS}
        yield row | {"total_bytes": sum(alive[term][op] for term in TERMS)}


def allocations(record: Record) -> Iterator[TableRow]:
    """One row a storage that is alive at the peak, the largest first."""
    view = MemoryView(record, record.memory) if record.memory is not None else None
    if view is None or view.peak is None:
        return
    for row in view.alive_at(view.peak.op):
        yield {
            "bytes": row.bytes,
            "term": row.term,
            "module": row.module,
            "name": row.name,
            "shape": "×".join(map(str, row.shape)),
            "dtype": row.dtype,
            "made_by": row.made_by,
            "kept_by": row.kept_by,
            "born": row.born if row.born >= 0 else None,
            "died": row.died,
        }


TABLES: Final[Mapping[str, Callable[[Record], Iterator[TableRow]]]] = {
    "modules": modules,
    "ops": ops,
    "tensors": tensors,
    "memory": memory,
    "allocations": allocations,
}
