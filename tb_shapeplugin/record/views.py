"""A Record's tables as sequences of rows, each row made when it is asked for."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final, Generic, TypeVar, overload

from tb_shapeplugin.record.record import Record
from tb_shapeplugin.record.row_order import row_order
from tb_shapeplugin.record.rows import ModuleRow, OpRow, Row, TensorRow, ValueRow

__all__ = ["ModuleRow", "ModuleRows", "OpRow", "OpRows", "TensorRow", "TensorRows", "ValueRow", "ValueRows"]

_SHOWN_ROWS: Final = 20

RowType = TypeVar("RowType", bound=Row)


class _Rows(Sequence[RowType], ABC, Generic[RowType]):
    """Rows of one kind; a slice is such a sequence too."""

    def __init__(self, record: Record, picked: Sequence[int] | None = None) -> None:
        self._record: Final = record
        self._all = picked

    @property
    def _picked(self) -> Sequence[int]:
        if self._all is None:
            self._all = range(self._count())
        return self._all

    @abstractmethod
    def _count(self) -> int:
        """How many rows the record has."""

    @abstractmethod
    def _row(self, index: int) -> RowType:
        """The row at that place."""

    def __len__(self) -> int:
        return len(self._picked)

    @overload
    def __getitem__(self, index: int) -> RowType: ...
    @overload
    def __getitem__(self, index: slice) -> "_Rows[RowType]": ...
    def __getitem__(self, index: int | slice) -> "RowType | _Rows[RowType]":
        if isinstance(index, slice):
            return type(self)(self._record, self._picked[index])
        return self._row(self._picked[index])

    def __iter__(self) -> Iterator[RowType]:
        return map(self._row, self._picked)

    def __repr__(self) -> str:
        shown = [repr(row) for row in self[:_SHOWN_ROWS]]
        more = [f"… {len(self) - _SHOWN_ROWS} more"] if len(self) > _SHOWN_ROWS else []
        head = f"{type(self).__name__} of {self._record.name or 'a model'}: {len(self)}"
        return "\n  ".join([head, *shown, *more])


class TensorRows(_Rows[TensorRow]):
    """Every tensor met, by id.

    Example:
        >>> TensorRows(record)[0].shape
        (4, 1, 28, 28)
    """

    def _count(self) -> int:
        return len(self._record.tensors)

    def _row(self, index: int) -> TensorRow:
        return TensorRow(self._record, index)


class OpRows(_Rows[OpRow]):
    """The ops in execution order.

    Example:
        >>> OpRows(record)[-1].name
        'torch.nn.functional.linear'
    """

    def _count(self) -> int:
        return len(self._record.ops)

    def _row(self, index: int) -> OpRow:
        return OpRow(self._record, index)


class ValueRows(_Rows[ValueRow]):
    """Contents of tensors that decided what ran, in the order in which they were needed.

    Example:
        >>> ValueRows(record)[0].literal
        'True'
    """

    def _count(self) -> int:
        return len(self._record.values)

    def _row(self, index: int) -> ValueRow:
        return ValueRow(self._record, index)


class ModuleRows(_Rows[ModuleRow]):
    """The modules in execution order: one row per call, and one per module never called where the tree has it.

    Example:
        >>> [row.path for row in ModuleRows(record) if not row.called]
        ['aux']
    """

    def _count(self) -> int:
        return len(self._order)

    def _row(self, index: int) -> ModuleRow:
        return ModuleRow(self._record, *self._order[index])

    @cached_property
    def _order(self) -> Sequence[tuple[int, int]]:
        return row_order(self._record)
