"""The statements around a stopped line: the one that runs, those before it that assigned names, and the blocks they stand in."""

import ast
import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from types import FrameType, TracebackType
from typing import TypeAlias

from tb_shapeplugin.tracing.syntax import syntax_tree

Position: TypeAlias = tuple[int, int, int, int]

_OURS_ALONE = 3  # references to a dict of locals: the frame's, a variable's, and that of counting
_BLOCKS = ("body", "orelse", "finalbody")


@dataclass(frozen=True)
class Stop:
    """Where an exception went through a frame."""

    frame: FrameType
    line: int
    instruction: int

    @property
    def filename(self) -> str:
        """The file of the frame's code."""
        return self.frame.f_code.co_filename


def stops_of(trace: TracebackType | None) -> list[Stop]:
    """Every frame of a traceback, the outermost first."""
    stops = []
    while trace is not None:
        stops.append(Stop(trace.tb_frame, trace.tb_lineno, trace.tb_lasti))
        trace = trace.tb_next
    return stops


def forget_locals(stops: list[Stop]) -> None:
    """Lets go of what frames hold because they were asked.

    Up to Python 3.12 a frame keeps the dict of its locals, once it gave it out: a loop that goes on after the exception
    would keep tensors alive that its variables have long let go. A dict that somebody else holds, too, is left to them.
    """
    if sys.version_info >= (3, 13):
        return
    for stop in stops:
        if stop.frame.f_code.co_flags & inspect.CO_OPTIMIZED:  # in a module they are its globals
            held = stop.frame.f_locals
            if sys.getrefcount(held) <= _OURS_ALONE:
                held.clear()


def statement_of(stop: Stop) -> ast.stmt | None:
    """The innermost statement that was running, of several on a line from Python 3.11; None where its source is not to be had."""
    block, found = syntax_tree(stop.filename).body, None
    exact = _exact(stop)
    while True:
        at = next((node for node in block if node.lineno <= stop.line <= _end_of(node) and (exact is None or _holds(node, exact))), None)
        if at is None:
            return found
        found, block = at, _inner_blocks(at)


def failing_parts(stop: Stop, statement: ast.stmt) -> Iterator[ast.expr]:
    """The calls and operations in a statement that may be the one that raised: from Python 3.11 it alone, else in the order they run."""
    exact = _exact(stop)
    for node in _in_running_order(statement):
        if exact is None or (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset) == exact:
            yield node


def _exact(stop: Stop) -> Position | None:
    """First and last line, first and last column of the expression at which the frame stopped; None before Python 3.11."""
    positions = getattr(stop.frame.f_code, "co_positions", None)
    found = next(islice(positions(), stop.instruction // 2, None), None) if positions and stop.instruction >= 0 else None
    return None if found is None or None in found else found


def _holds(node: ast.stmt, position: Position) -> bool:
    line, end_line, column, end_column = position
    ends = (node.end_lineno or node.lineno, node.end_col_offset or 0)
    return (node.lineno, node.col_offset) <= (line, column) and (end_line, end_column) <= ends


def _in_running_order(statement: ast.AST) -> Iterator[ast.expr]:
    for name, value in ast.iter_fields(statement):
        if name in (*_BLOCKS, "handlers"):  # a compound statement stops in its head
            continue
        for node in value if isinstance(value, list) else [value]:
            if isinstance(node, ast.AST):
                yield from _in_running_order(node)
    if isinstance(statement, (ast.Call, ast.BinOp, ast.Subscript, ast.Compare, ast.UnaryOp)):
        yield statement


def earlier_statements(stop: Stop) -> Iterator[ast.stmt]:
    """What ran before the stopped line without a branch between, in the same function: the nearest first."""
    found: list[ast.stmt] = []
    block = syntax_tree(stop.filename).body
    while block:
        at = next((i for i, node in enumerate(block) if node.lineno <= stop.line <= _end_of(node)), None)
        if at is None:
            break
        if isinstance(block[at], (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found = []
        else:
            found += [inner for node in block[:at] for inner in _straight(node)]
        block = next((part for part in _blocks_of(block[at]) if part[0].lineno <= stop.line <= _end_of(part[-1])), [])
    return reversed(found)


def _straight(statement: ast.stmt) -> Iterator[ast.stmt]:
    """A statement, or those in a ``with``: what surely ran when the next one runs."""
    if isinstance(statement, ast.With):
        for inner in statement.body:
            yield from _straight(inner)
    elif isinstance(statement, (ast.Assign, ast.AugAssign, ast.Expr)):
        yield statement


def contexts_around(stop: Stop, line: int) -> list[ast.expr]:
    """The expressions of the ``with`` statements that a line of the stopped function stands in, the outermost first."""
    found: list[ast.expr] = []
    block = syntax_tree(stop.filename).body
    while True:
        statement = next((node for node in block if node.lineno <= line <= _end_of(node)), None)
        if statement is None:
            return found
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found = []
        elif isinstance(statement, ast.With) and line >= statement.body[0].lineno:
            found += [item.context_expr for item in statement.items]
        block = _inner_blocks(statement)


def _inner_blocks(statement: ast.stmt) -> list[ast.stmt]:
    """All statements of a compound one, whichever of its blocks they stand in."""
    return [node for block in _blocks_of(statement) for node in block]


def _blocks_of(statement: ast.stmt) -> list[list[ast.stmt]]:
    holders = [statement, *getattr(statement, "handlers", ()), *getattr(statement, "cases", ())]
    return [block for holder in holders for name in _BLOCKS if (block := getattr(holder, name, None))]


def _end_of(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno
