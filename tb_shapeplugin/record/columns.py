"""Columns of integers, plain and ragged: how a Record of a hundred thousand ops stays small."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Ints: TypeAlias = npt.NDArray[np.int64]


def ints(values: Iterable[int]) -> Ints:
    """A column of the given integers."""
    return np.fromiter(values, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Ragged:
    """A column of integer lists: row i is ``values[offsets[i]:offsets[i + 1]]``.

    Example:
        >>> Ragged.of([(1, 2), (), (3,)])[0]
        (1, 2)
    """

    offsets: Ints
    values: Ints

    @staticmethod
    def of(rows: Iterable[Sequence[int]]) -> "Ragged":
        """The column that holds those rows."""
        rows = list(rows)
        offsets = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum([len(row) for row in rows], out=offsets[1:])
        return Ragged(offsets, ints(value for row in rows for value in row))

    @staticmethod
    def from_counts(counts: Ints, values: Ints) -> "Ragged":
        """The column whose rows have those lengths; ValueError when they don't add up to the values."""
        if int(counts.sum()) != len(values) or bool((counts < 0).any()):
            raise ValueError(f"row lengths add up to {int(counts.sum())}, there are {len(values)} values")
        return Ragged(np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)]), values)

    @property
    def counts(self) -> Ints:
        """The rows' lengths."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> tuple[int, ...]:
        return tuple(self.values[self.offsets[row] : self.offsets[row + 1]].tolist())

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        return (self[row] for row in range(len(self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ragged) and np.array_equal(self.offsets, other.offsets) and np.array_equal(self.values, other.values)

    __hash__ = None  # type: ignore[assignment]  # arrays have no hash


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Columns of equal length, one table of the Record."""

    def __len__(self) -> int:
        return len(getattr(self, fields(self)[0].name))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and all(
            np.array_equal(mine, theirs) if isinstance(mine, np.ndarray) else mine == theirs
            for mine, theirs in ((getattr(self, f.name), getattr(other, f.name)) for f in fields(self))
        )

    __hash__ = None  # type: ignore[assignment]  # arrays have no hash
