"""Which code of a function never ran, told from the instructions that did: branches, loops, expressions, what follows a return."""

import ast
import linecache
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import TypeAlias

from tb_shapeplugin.tracing.syntax import syntax_tree

_LONGEST_CODE = 200
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Span: TypeAlias = tuple[tuple[int, int], tuple[int, int]]  # first and last (line, column)


@dataclass(frozen=True)
class Untaken:
    """Code that never ran: the line of its head, its last line, and the head's text."""

    line: int
    end_line: int
    code: str


def untaken(code: CodeType, instructions: Collection[int]) -> tuple[Untaken, ...]:
    """What of a function's code never ran; () where its source can't be had, or none of it ran.

    Arms on one line are told apart from Python 3.11 on, where instructions know their columns.

    Args:
        code: the function's code.
        instructions: offsets (``f_lasti``) of the instructions that ran.
    """
    function = _function(code)
    if function is None or not instructions:
        return ()
    spans = list(_spans(code))
    every = [span for span in spans if span is not None]
    ran = [span for offset in instructions if (span := spans[offset // 2]) is not None]
    return tuple(_Walk(code.co_filename, every, ran).in_block(function.body))


def _spans(code: CodeType) -> Iterator[Span | None]:
    """Where each instruction of the code stands; whole lines before Python 3.11."""
    positions = getattr(code, "co_positions", None)
    if positions is None:
        for start, end, line in code.co_lines():
            yield from [((line, 0), (line, 1 << 30)) if line else None] * ((end - start) // 2)
        return
    for line, end_line, column, end_column in positions():
        known = None not in (line, end_line, column, end_column) and (end_line, end_column) != (line, column)
        yield ((line, column), (end_line, end_column)) if known else None


def _function(code: CodeType) -> Function | None:
    for node in ast.walk(syntax_tree(code.co_filename)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == code.co_name:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            if first == code.co_firstlineno:
                return node
    return None


class _Walk:
    """Goes down the code that ran, and tells of the parts of it that didn't."""

    def __init__(self, filename: str, every: Sequence[Span], ran: Sequence[Span]) -> None:
        self._lines = linecache.getlines(filename)
        self._every = every
        self._ran = ran

    def in_block(self, statements: Sequence[ast.stmt]) -> Iterator[Untaken]:
        """Of statements the first of which ran."""
        for before, statement in zip([None, *statements], statements, strict=False):
            if before is not None and self._never_ran([statement]):
                if any(isinstance(node, _LEAVES) for node in ast.walk(before)):
                    yield self._of(statement.lineno, statements[-1])
                return
            yield from self._in_statement(statement)

    def _in_statement(self, statement: ast.stmt) -> Iterator[Untaken]:
        if isinstance(statement, _INNER):
            return
        if isinstance(statement, (ast.If, ast.For, ast.AsyncFor, ast.While)):
            yield from self._arm(statement.lineno, statement.body)
            yield from self._other_arm(statement.orelse)
        elif isinstance(statement, ast.Match):
            for case in statement.cases:
                yield from self._arm(case.pattern.lineno, case.body)
        elif isinstance(statement, (ast.With, ast.AsyncWith, ast.Try)):
            yield from self.in_block(statement.body)
        yield from self._in_expressions(statement)

    def _other_arm(self, statements: Sequence[ast.stmt]) -> Iterator[Untaken]:
        if not statements:
            return
        elif_ = len(statements) == 1 and isinstance(statements[0], ast.If) and self._text(statements[0].lineno).startswith("elif")
        yield from self._arm(statements[0].lineno if elif_ else self._else_above(statements[0]), statements)

    def _arm(self, head: int, statements: Sequence[ast.stmt]) -> Iterator[Untaken]:
        if self._never_ran(statements):
            yield self._of(head, statements[-1])
        else:
            yield from self.in_block(statements)

    def _in_expressions(self, statement: ast.stmt) -> Iterator[Untaken]:
        """Arms of ``a if c else b`` in the statement's own expressions."""
        for part in ast.iter_child_nodes(statement):
            if not isinstance(part, ast.expr):
                continue
            for node in ast.walk(part):
                if isinstance(node, ast.IfExp) and not self._never_ran([node.test]):
                    for arm in (node.body, node.orelse):
                        if self._never_ran([arm]) and not self._never_ran([node.body, node.orelse]):
                            text = " ".join((ast.get_source_segment("".join(self._lines), node) or "").split())
                            yield Untaken(arm.lineno, arm.end_lineno or arm.lineno, text[:_LONGEST_CODE])

    def _never_ran(self, nodes: Sequence[ast.stmt | ast.expr]) -> bool:
        """No instruction of theirs ran; False for code that has none, such as a folded constant."""
        first, last = nodes[0], nodes[-1]
        start, end = (first.lineno, first.col_offset), (last.end_lineno or last.lineno, last.end_col_offset or 0)

        def inside(spans: Sequence[Span]) -> bool:
            return any(start <= span[0] and span[1] <= end for span in spans)

        return inside(self._every) and not inside(self._ran)

    def _of(self, head: int, last: ast.stmt) -> Untaken:
        return Untaken(head, last.end_lineno or last.lineno, self._text(head)[:_LONGEST_CODE])

    def _else_above(self, statement: ast.stmt) -> int:
        for line in range(statement.lineno, 0, -1):
            if self._text(line).startswith("else"):
                return line
        return statement.lineno

    def _text(self, line: int) -> str:
        return self._lines[line - 1].strip() if line <= len(self._lines) else ""
