"""Wrong arguments in the model's own code: one expression of one statement written otherwise, the function compiled anew."""

import ast
import contextlib
import functools
import gc
import itertools
import linecache
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

_OPERATORS: dict[type[ast.operator], str] = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.MatMult: "matmul"}
_METHODS = ("view", "reshape", "permute", "transpose", "split", "chunk", "expand", "matmul", "bmm", "cat", "index")
_NUMBERS = ("view", "reshape", "split", "chunk", "expand")
_OPERANDS = ("add", "sub", "mul", "matmul", "bmm")
# What an operand may become by mistake, the commoner mistakes more often.
_SPOILED = (
    *("({0})[..., :-1]",) * 3,
    *("({0}).transpose(-1, -2)",) * 2,
    *("({0}).unsqueeze(1)", "({0})[:-1]", "({0}).flatten(1)", "({0})[..., None]"),
)


@dataclass(frozen=True)
class Statement:
    """A stretch of a source file that is written otherwise; it stays within its line."""

    file: str
    line: int
    column: int  # 0-based, in characters
    end_column: int
    right: str
    wrong: str
    op: str
    modules: tuple[str, ...]  # paths of those that run the function

    kind = "argument"

    @property
    def module(self) -> str:
        """The first of the modules that run it."""
        return self.modules[0]

    def __str__(self) -> str:
        return f"{Path(self.file).name}:{self.line} {self.op}: {self.right} → {self.wrong}"


@dataclass(frozen=True)
class Site:
    """A call in the model's code that was seen to run."""

    file: str
    op: str
    node: ast.expr | ast.AugAssign
    modules: tuple[str, ...]


Ran = dict[CodeType, tuple[set[int], list[str]]]  # the lines of each function that ran, and the modules in which they did


@contextlib.contextmanager
def watching(ran: Ran, is_users: Callable[[str], bool], running: Callable[[], str]) -> Iterator[None]:
    """Notes every line of the users' code that runs."""

    def each_line(frame: FrameType, event: str, _argument: Any) -> Callable[..., Any] | None:
        if not is_users(frame.f_code.co_filename):
            return None
        lines, modules = ran.setdefault(frame.f_code, (set(), []))
        if event == "call" and running() not in modules:
            modules.append(running())
        lines.add(frame.f_lineno)
        return each_line

    before = sys.gettrace()
    sys.settrace(each_line)
    try:
        yield
    finally:
        sys.settrace(before)


def sites(ran: Ran) -> list[Site]:
    """The calls and operators among what ran that can be given wrong arguments."""
    found: list[Site] = []
    for code, (lines, modules) in ran.items():
        if set(code.co_freevars) - {"__class__"} or code.co_name.startswith("<"):
            continue  # a closure, or a part of another function
        function = _tree(code.co_filename).get((code.co_name, code.co_firstlineno))
        for node in ast.walk(function) if function is not None else ():
            op = _op(node)
            if op and isinstance(node, (ast.expr, ast.AugAssign)) and not lines.isdisjoint(range(node.lineno, (node.end_lineno or 0) + 1)):
                found.append(Site(code.co_filename, op, node, tuple(modules)))
    return sorted(found, key=lambda site: (site.file, site.node.lineno, site.node.col_offset, site.op))


@functools.cache
def _tree(file: str) -> dict[tuple[str, int], ast.FunctionDef]:
    """Every function of a file, by its name and its first line, that of its decorators included."""
    functions = [node for node in ast.walk(ast.parse("".join(linecache.getlines(file)))) if isinstance(node, ast.FunctionDef)]
    return {(node.name, min([node.lineno, *(d.lineno for d in node.decorator_list)])): node for node in functions}


def _op(node: ast.AST) -> str:
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        return name if name in _METHODS and node.args else ""
    if isinstance(node, (ast.BinOp, ast.AugAssign)):
        return _OPERATORS.get(type(node.op), "")
    return "index" if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and not _of_a_shape(node.value) else ""


def _of_a_shape(node: ast.expr) -> bool:
    """Is it x.shape or x.size(), which are indexed without torch?"""
    return ast.unparse(node).endswith((".shape", ".size()"))


def wrong_statement(rng: random.Random, site: Site) -> Statement | None:
    """The site's statement with one mistake in it; None where this one can't be written within its line."""
    choices = list(_mistakes(rng, site.op, site.node))
    if not choices:
        return None
    node, wrong = rng.choice(choices)
    if node.end_lineno != node.lineno or node.end_col_offset is None:
        return None
    text = linecache.getline(site.file, node.lineno)
    column, end = (len(text.encode()[:offset].decode()) for offset in (node.col_offset, node.end_col_offset))
    return Statement(site.file, node.lineno, column, end, text[column:end], wrong, site.op, site.modules)


def _mistakes(rng: random.Random, op: str, node: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    """Expressions within the node, each with what it becomes."""
    if isinstance(node, ast.Subscript):
        yield from _of_index(node)
    elif isinstance(node, ast.BinOp):
        yield from ((operand, rng.choice(_SPOILED).format(ast.unparse(operand))) for operand in (node.left, node.right))
    elif isinstance(node, ast.AugAssign):
        yield node.value, rng.choice(_SPOILED).format(ast.unparse(node.value))
    elif isinstance(node, ast.Call):
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        if op in _NUMBERS:
            yield from _of_numbers(rng, node)
        elif op in ("permute", "transpose"):
            yield from _of_axes(rng, [argument for argument in arguments if _is_number(argument)])
        elif op == "cat":
            yield from _of_cat(rng, node)
        elif op in _OPERANDS:
            yield from ((operand, rng.choice(_SPOILED).format(ast.unparse(operand))) for operand in node.args)


def _of_numbers(rng: random.Random, node: ast.Call) -> Iterator[tuple[ast.expr, str]]:
    sizes = node.args[0].elts if len(node.args) == 1 and isinstance(node.args[0], (ast.Tuple, ast.List)) else node.args
    for size in sizes:
        text = ast.unparse(size)
        if isinstance(size, ast.Starred):
            yield size, f"{text}, 2"
        elif not text.startswith("-") and not text.endswith(("shape", "shape)")):
            yield size, rng.choice((f"({text}) + 1", f"({text}) * 2", f"({text}) - 1", f"({text}) // 2", f"{text}, 2"))
    for keyword in node.keywords:
        if keyword.arg in ("dim", "chunks"):
            yield keyword.value, str(rng.choice((-3, -2, -1, 0, 1, 2, 3)))
    yield from _exchanged([size for size in sizes if not isinstance(size, ast.Starred)])


def _of_axes(rng: random.Random, axes: list[ast.expr]) -> Iterator[tuple[ast.expr, str]]:
    for axis in axes:
        yield axis, str(rng.choice((-3, -2, -1, 0, 1, 2, 3, 4)))
    yield from _exchanged(axes)


def _exchanged(nodes: list[ast.expr]) -> Iterator[tuple[ast.expr, str]]:
    """Neighbours in the other order, in one stretch: the first one's position stands for both."""
    for first, second in itertools.pairwise(nodes):
        if first.lineno == second.end_lineno:
            both = ast.copy_location(ast.Tuple([first, second], ast.Load()), first)
            both.end_lineno, both.end_col_offset = second.end_lineno, second.end_col_offset
            yield both, f"{ast.unparse(second)}, {ast.unparse(first)}"


def _of_cat(rng: random.Random, node: ast.Call) -> Iterator[tuple[ast.expr, str]]:
    dims = [*node.args[1:], *(keyword.value for keyword in node.keywords if keyword.arg in ("dim", "axis"))]
    yield from ((dim, str(rng.choice((-3, -2, -1, 0, 1, 2, 3)))) for dim in dims)
    joined = node.args[0].elts if isinstance(node.args[0], (ast.Tuple, ast.List)) else []
    for part in joined:
        yield part, rng.choice(_SPOILED).format(ast.unparse(part))
    if len(joined) > 1:
        yield joined[-1], ""


def _of_index(node: ast.Subscript) -> Iterator[tuple[ast.expr, str]]:
    for index in node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]:
        if _is_number(index):
            yield index, f"{ast.unparse(index)} + 40"
            yield index, f"{ast.unparse(index)}:"
        elif isinstance(index, ast.Slice):
            yield index, "0"
            yield index, "1:"
    if isinstance(node.slice, ast.Tuple):
        yield node.slice, f"0, {ast.unparse(node.slice)[1:-1] if ast.unparse(node.slice).startswith('(') else ast.unparse(node.slice)}"


def _is_number(node: ast.expr) -> bool:
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(inner, ast.Constant) and isinstance(inner.value, int)


@contextlib.contextmanager
def written(statements: list[Statement]) -> Iterator[None]:
    """While it lasts, the functions around the statements run as if the files said so; the files stay as they are.

    Raises:
        SyntaxError: it can't be written so.
    """
    before: list[tuple[FunctionType, CodeType]] = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            for file in sorted({statement.file for statement in statements}):
                here = [statement for statement in statements if statement.file == file]
                copy = Path(folder) / Path(file).name
                copy.write_text(_text_with(file, here), encoding="utf-8")
                made = _codes_of(copy)
                for function in {id(f): f for statement in here for f in _functions_around(file, statement.line)}.values():
                    before.append((function, function.__code__))
                    function.__code__ = made[function.__code__.co_name, function.__code__.co_firstlineno]
            yield
        finally:
            for function, code in reversed(before):
                function.__code__ = code
            linecache.checkcache()


def _text_with(file: str, statements: list[Statement]) -> str:
    lines = list(linecache.getlines(file))
    for statement in sorted(statements, key=lambda s: (s.line, s.column), reverse=True):
        line = lines[statement.line - 1]
        lines[statement.line - 1] = line[: statement.column] + statement.wrong + line[statement.end_column :]
    return "".join(lines)


def _codes_of(copy: Path) -> dict[tuple[str, int], CodeType]:
    """The code of every function of a file, by its name and its first line."""
    waiting, found = [compile(copy.read_text(encoding="utf-8"), str(copy), "exec")], {}
    while waiting:
        inner = [constant for constant in waiting.pop().co_consts if isinstance(constant, CodeType)]
        found.update({(code.co_name, code.co_firstlineno): code for code in inner})
        waiting += inner
    return found


def _functions_around(file: str, line: int) -> list[FunctionType]:
    """The functions of a file, methods and those inside decorators among them, that a line belongs to."""
    around = [key for key, node in _tree(file).items() if node.lineno <= line <= (node.end_lineno or 0)]
    return [function for function in _functions_of(file) if (function.__code__.co_name, function.__code__.co_firstlineno) in around]


@functools.cache
def _functions_of(file: str) -> list[FunctionType]:
    return [function for function in gc.get_objects() if type(function) is FunctionType and function.__code__.co_filename == file]
