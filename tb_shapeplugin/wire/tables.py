"""How each column of each table is written, and what its numbers may be: said once, read by both directions."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tb_shapeplugin.record.columns import Columns, Ints
from tb_shapeplugin.record.memory import AllocationColumns, MemoryOpColumns
from tb_shapeplugin.record.record import CallColumns, ModuleColumns, OpColumns, SourceColumns, TensorColumns, ValueColumns

Integers: TypeAlias = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True)
class Coding:
    """A column's numbers to those on the wire and back; ``lowest`` is what a column may hold."""

    encode: Callable[[Ints], Integers]
    decode: Callable[[Integers], Ints]
    signed: bool = False
    lowest: int = 0


def _plus_one(values: Ints) -> Integers:
    coded: Integers = values.astype(np.uint64) + np.uint64(1)
    return coded  # unsigned: the largest figure has a successor, -1 wraps to 0


def _minus_one(values: Integers) -> Ints:
    shifted: Integers = values - np.uint64(1)
    return shifted.astype(np.int64)


def _differences(values: Ints) -> Integers:
    return np.diff(values, prepend=np.int64(0))


def _sums(values: Integers) -> Ints:
    return np.cumsum(values, dtype=np.int64)


def _steps_back(values: Ints) -> Integers:
    return np.where(values < 0, 0, np.arange(len(values)) - values)


def _step_back(values: Integers) -> Ints:
    back = values.astype(np.int64)
    return np.where(back == 0, -1, np.arange(len(back)) - back)


PLAIN = Coding(lambda values: values, lambda values: values.astype(np.int64))
PLUS_ONE = Coding(_plus_one, _minus_one, lowest=-1)
DELTA = Coding(_differences, _sums, signed=True)
DELTA_PLUS_ONE = Coding(lambda values: _differences(values + 1), lambda values: _sums(values) - 1, signed=True, lowest=-1)
BACK = Coding(_steps_back, _step_back, lowest=-1)


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name in the Record (and, where it differs, in the message), its coding, the table it points into.

    ``earlier``: it points into its own table, at a row before its own.
    """

    name: str
    coding: Coding = PLAIN
    table: str = ""
    ragged: bool = False
    earlier: bool = False
    field: str = ""

    @property
    def wire_name(self) -> str:
        """Its name in the message."""
        return self.field or self.name


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the Record: its name, which is the message's field too, its type and its columns."""

    name: str
    type: type[Columns]
    columns: tuple[Column, ...]


def _strings(*names: str) -> tuple[Column, ...]:
    return tuple(Column(name, table="strings") for name in names)


def _figures(*names: str) -> tuple[Column, ...]:
    return tuple(Column(name, PLUS_ONE) for name in names)


def _numbers(*names: str) -> tuple[Column, ...]:
    return tuple(Column(name) for name in names)


TABLES = (
    Table(
        "modules",
        ModuleColumns,
        (
            Column("path", DELTA, "strings"),
            *_strings("type", "config"),
            Column("parent", BACK, "modules", earlier=True),
            *_figures("params", "trainable_params", "param_bytes", "buffer_bytes", "local_params", "local_param_bytes"),
            Column("shared_with", table="strings", ragged=True),
            *_numbers("flags"),
        ),
    ),
    Table(
        "calls",
        CallColumns,
        (
            Column("module", DELTA, "modules"),
            *_numbers("number"),
            Column("parent", BACK, "calls", earlier=True),
            Column("first_op", DELTA),
            Column("end_op", field="op_count"),  # as a length on the wire
            Column("inputs", DELTA, "tensors", ragged=True),
            Column("outputs", DELTA, "tensors", ragged=True),
            Column("outcome", table="outcomes"),
            *_figures("saved_bytes", "backward_flops"),
        ),
    ),
    Table(
        "tensors",
        TensorColumns,
        (
            Column("shape", table="shapes"),
            *_strings("dtype", "device"),
            Column("storage", DELTA),
            Column("producer", DELTA_PLUS_ONE, "ops"),
            Column("kind", table="kinds"),
            Column("name", DELTA, "strings"),
            *_numbers("flags"),
        ),
    ),
    Table(
        "ops",
        OpColumns,
        (
            *_strings("name"),
            Column("call", DELTA_PLUS_ONE, "calls"),
            Column("source", DELTA_PLUS_ONE, "sources"),
            Column("inputs", DELTA, "tensors", ragged=True),
            Column("outputs", DELTA, "tensors", ragged=True),
            Column("arguments", table="argument_lists"),
            Column("children", table="child_lists"),
            *_numbers("flags"),
            *_figures("flops"),
        ),
    ),
    Table(
        "sources",
        SourceColumns,
        (
            *_strings("file"),
            *_numbers("line", "end_line", "column", "end_column"),
            *_strings("code", "function", "text"),
            *_numbers("text_line"),
            Column("caller", PLUS_ONE, "sources", earlier=True),
        ),
    ),
    Table(
        "values",
        ValueColumns,
        (
            Column("tensor", DELTA, "tensors"),
            Column("op", DELTA_PLUS_ONE, "ops"),
            Column("source", DELTA_PLUS_ONE, "sources"),
            Column("origin", table="origins"),
            *_strings("literal"),
        ),
    ),
)

# Of each Memory.
MEMORY_TABLES = (
    Table(
        "ops",
        MemoryOpColumns,
        (
            *_strings("name"),
            Column("call", DELTA_PLUS_ONE, "calls"),
        ),
    ),
    Table(
        "allocations",
        AllocationColumns,
        (
            *_numbers("bytes"),
            Column("term", table="terms"),
            Column("born", DELTA_PLUS_ONE, "memory ops"),
            *_numbers("life"),
            Column("owner", DELTA_PLUS_ONE, "modules"),
            Column("name", DELTA, "strings"),
            Column("kept_by", DELTA_PLUS_ONE, "memory ops"),
            Column("shape", table="shapes"),
            *_strings("dtype"),
            Column("scale", table="scales"),
        ),
    ),
)
