"""Lengths of files and functions against the limits and the written exceptions."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from house.problem import Problem
from house.tables import LONGER, MOST_FILE_LINES, MOST_FUNCTION_LINES

_STRIKE = "Strike it out of LONGER in tools/house/tables.py."


class Span(NamedTuple):
    """A file (name "") or a function (``Class.method``) and its length in lines."""

    path: Path
    name: str
    line: int
    lines: int


def check_lengths(spans: Iterable[Span], longer: Mapping[str, int] = LONGER) -> Iterator[Problem]:
    """What is too long, and exceptions that no longer say the truth."""
    stale = dict(longer)
    for span in spans:
        key = f"{span.path}::{span.name}" if span.name else str(span.path)
        most = MOST_FUNCTION_LINES if span.name else MOST_FILE_LINES
        what = f"The function {span.name}" if span.name else "The file"
        allowed = stale.pop(key, most)
        if span.lines > max(most, allowed):
            said = f"{what} has {span.lines} lines, at most {max(most, allowed)} are allowed."
            yield Problem(span.path, span.line, "length", said, "Split it by its jobs.")
        elif key in longer and span.lines < allowed:
            way_out = f"{_STRIKE} Or write {span.lines} there if that is more than {most}."
            yield Problem(span.path, span.line, "length", f"{what} has {span.lines} lines, its exception says {allowed}.", way_out)
    for key in stale:
        yield Problem(Path(key.split("::")[0]), 1, "length", f"The exception {key!r} names nothing.", _STRIKE)
