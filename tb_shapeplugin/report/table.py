"""Cells to a text table of a given width: names left, numbers right, the least worthy column dropped first."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final
from unicodedata import combining, east_asian_width

_GAP: Final = "  "


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column's head, its cells, and how it stands.

    Texts are cut down to ``narrowest``, numbers (``right``) never; ``tail`` keeps a text's end, not its beginning.
    """

    head: str
    cells: tuple[str, ...]
    worth: int
    right: bool = False
    narrowest: int = 12
    tail: bool = False


def table(columns: Sequence[TableColumn], width: int) -> list[str]:
    """The lines of the table: the heads, a rule, the rows; none is wider than ``width`` characters.

    Example:
        >>> table([TableColumn("Layer", ("fc",), 1), TableColumn("Params", ("12",), 1, right=True)], 80)
        ['Layer  Params', '─────────────', 'fc         12']
    """
    kept = _fitting(list(columns), width)
    widths = [_natural(column) for column in kept]
    lines = [_line([column.head for column in kept], kept, widths, width)]
    lines.append("─" * min(_total(kept), width))
    return lines + [_line(cells, kept, widths, width) for cells in zip(*(column.cells for column in kept), strict=True)]


def _line(cells: Sequence[str], columns: Sequence[TableColumn], widths: Sequence[int], width: int) -> str:
    padded = [_padded(cell, width, column.right) for cell, column, width in zip(cells, columns, widths, strict=True)]
    return cut(_GAP.join(padded).rstrip(), width)


def _fitting(columns: list[TableColumn], width: int) -> list[TableColumn]:
    """Texts are cut, the widest first; where that isn't enough, columns go, but never the first."""
    while _total(columns) > width:
        narrowed = _narrowed(columns, width)
        if _total(narrowed) <= width or len(columns) == 1:
            return narrowed
        columns.remove(min(columns[1:], key=lambda column: column.worth))
    return columns


def _narrowed(columns: Sequence[TableColumn], width: int) -> list[TableColumn]:
    limits = [_natural(column) for column in columns]
    excess = _total(columns) - width
    while excess > 0:
        wide = [index for index, column in enumerate(columns) if not column.right and limits[index] > column.narrowest]
        if not wide:
            break
        limits[max(wide, key=lambda index: limits[index])] -= 1
        excess -= 1
    return [_cut_to(column, limit) for column, limit in zip(columns, limits, strict=True)]


def _cut_to(column: TableColumn, limit: int) -> TableColumn:
    shorten: Callable[[str, int], str] = cut_tail if column.tail else cut
    return replace(column, head=cut(column.head, limit), cells=tuple(shorten(cell, limit) for cell in column.cells))


def _natural(column: TableColumn) -> int:
    return max(map(text_width, (column.head, *column.cells)))


def _total(columns: Sequence[TableColumn]) -> int:
    return sum(map(_natural, columns)) + len(_GAP) * (len(columns) - 1)


@functools.lru_cache(maxsize=1 << 14)
def text_width(text: str) -> int:
    """Columns of a terminal that the text takes: Chinese characters take two.

    Example:
        >>> text_width("fc"), text_width("层")
        (2, 2)
    """
    return len(text) if text.isascii() else sum(map(_character_width, text))


@functools.cache
def _character_width(character: str) -> int:
    return 0 if combining(character) else 2 if east_asian_width(character) in "WF" else 1


def _padded(text: str, width: int, right: bool) -> str:
    space = " " * (width - text_width(text))
    return space + text if right else text + space


def cut(text: str, width: int) -> str:
    """The text's beginning, so that it takes at most ``width`` columns, with … where it was cut.

    Example:
        >>> cut("Conv2dNormActivation", 8)
        'Conv2dN…'
    """
    if text_width(text) <= width:
        return text
    while text and text_width(text) > width - 1:
        text = text[:-1]
    return text + "…" if width > 0 else ""


def cut_tail(text: str, width: int) -> str:
    """The text's indentation and end, so that it takes at most ``width`` columns, with … where it was cut.

    Example:
        >>> cut_tail("  features.denseblock4", 14)
        '  …denseblock4'
    """
    if text_width(text) <= width:
        return text
    body = text.lstrip(" │├└─✕")
    lead = text[: len(text) - len(body)]
    if text_width(lead) > width // 2:
        lead = ""
    while body and text_width(lead) + 1 + text_width(body) > width:
        body = body[1:]
    return f"{lead}…{body}"
