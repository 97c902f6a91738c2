"""A set of rows as the lengths of its stretches, outside and inside by turns: a case runs most of its ops in a row."""

from collections.abc import Sequence


def stretches(rows: Sequence[int]) -> list[int]:
    """Ascending rows from 0 as lengths, the first one of rows that don't belong.

    Example:
        >>> stretches((0, 1, 2, 6, 7))
        [0, 3, 3, 2]
    """
    lengths: list[int] = []
    end = 0
    for row in rows:
        if lengths and row == end:
            lengths[-1] += 1
        else:
            lengths += [row - end, 1]
        end = row + 1
    return lengths


def rows_of(lengths: Sequence[int], size: int) -> tuple[int, ...]:
    """The rows that those lengths stand for, in a table of that size; ValueError where they reach beyond it.

    Example:
        >>> rows_of([0, 3, 3, 2], 8)
        (0, 1, 2, 6, 7)
    """
    if sum(lengths) > size:
        raise ValueError(f"the stretches of a case reach row {sum(lengths)}, there are {size}")
    rows: list[int] = []
    start = 0
    for turn, length in enumerate(lengths):
        if turn % 2:
            rows += range(start, start + length)
        start += length
    return tuple(rows)
