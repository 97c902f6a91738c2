"""Tables of columns into messages and back."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tb_shapeplugin.record.columns import Columns, Ints, Ragged
from tb_shapeplugin.wire.tables import PLAIN, Coding, Table


# Any, here and below: messages made from descriptors have no static types.
def write_table(message: Any, table: Table, columns: Columns) -> None:
    """Puts the columns into the table's message."""
    message.SetInParent()
    for column in table.columns:
        values: Ints | Ragged = getattr(columns, column.name)
        if isinstance(values, Ragged):
            getattr(message, f"{column.wire_name}_count").extend(values.counts.tolist())
            values = values.values
        getattr(message, column.wire_name).extend(coded(column.coding, values))


def read_table(message: Any, table: Table) -> Columns:
    """The columns in the table's message."""
    columns: dict[str, Any] = {}
    for column in table.columns:
        values = getattr(message, column.wire_name)
        if column.ragged:
            columns[column.name] = read_ragged(getattr(message, f"{column.wire_name}_count"), values, column.coding)
        else:
            columns[column.name] = read_ints(values, column.coding)
    return table.type(**columns)


def coded(coding: Coding, values: Ints) -> list[int]:
    """A column's numbers as they are on the wire."""
    numbers: list[int] = coding.encode(values).tolist()
    return numbers


def read_ints(values: Sequence[int], coding: Coding) -> Ints:
    """A column from its numbers on the wire."""
    return coding.decode(np.fromiter(values, dtype=np.int64 if coding.signed else np.uint64, count=len(values)))


def read_ragged(counts: Sequence[int], values: Sequence[int], coding: Coding) -> Ragged:
    """A column of lists from their lengths and the values of all of them.

    Raises:
        ValueError: the lengths don't add up to the values.
    """
    return Ragged.from_counts(read_ints(counts, PLAIN), read_ints(values, coding))
