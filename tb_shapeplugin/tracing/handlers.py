"""Whether the user's own code may catch an error on its way up: told from the text of its try and with statements."""

import ast
import builtins
import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any, TypeAlias

from tb_shapeplugin.tracing.source import is_users_file
from tb_shapeplugin.tracing.syntax import syntax_tree

_TRIES: tuple[type[ast.Try], ...] = (ast.Try, getattr(ast, "TryStar", ast.Try))  # except* comes with Python 3.11
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_UNKNOWN = object()
_May: TypeAlias = Callable[[FrameType, Exception], bool]


@dataclass(frozen=True)
class _Guarded:
    """Lines under a handler."""

    first: int
    last: int
    may_catch: _May


def may_be_handled(frame: FrameType | None, bottom: CodeType, error: Exception) -> bool:
    """Would a handler of the user, in that frame or above it, catch the error? Where the text doesn't tell, it may.

    Args:
        frame: the innermost one that is looked at.
        bottom: the capture's own frame, beyond which nothing is the model's.
        error: what is raised there.
    """
    while frame is not None and frame.f_code is not bottom:
        code = frame.f_code
        if is_users_file(code.co_filename):
            for guarded in _guarded(code.co_filename).get((code.co_name, _first_line(code)), ()):
                if guarded.first <= frame.f_lineno <= guarded.last and guarded.may_catch(frame, error):
                    return True
        frame = frame.f_back
    return False


def _first_line(code: CodeType) -> int:
    return 0 if code.co_name == "<module>" else code.co_firstlineno


@functools.lru_cache(maxsize=256)
def _guarded(filename: str) -> dict[tuple[str, int], tuple[_Guarded, ...]]:
    """What is guarded in a file, by the name and first line of the function that it stands in: a body is run by its own frame only."""
    found: dict[tuple[str, int], list[_Guarded]] = {}
    waiting: list[tuple[ast.AST, tuple[str, int]]] = [(syntax_tree(filename), ("<module>", 0))]
    while waiting:
        node, scope = waiting.pop()
        found.setdefault(scope, []).extend(_guards(node))
        inner = _scope(node) if isinstance(node, _SCOPES) else scope
        waiting.extend((child, inner) for child in ast.iter_child_nodes(node))
    return {scope: tuple(guards) for scope, guards in found.items() if guards}


def _scope(node: ast.AST) -> tuple[str, int]:
    lines = [item.lineno for item in (node, *getattr(node, "decorator_list", ())) if isinstance(item, (ast.stmt, ast.expr))]
    return str(getattr(node, "name", "<lambda>")), min(lines)


def _guards(node: ast.AST) -> Iterator[_Guarded]:
    if isinstance(node, _TRIES) and node.handlers:
        types = tuple(handler.type for handler in node.handlers)
        yield _Guarded(*_lines(node.body), lambda frame, error: any(_catches(kind, frame, error) for kind in types))
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        for item in node.items:
            yield _Guarded(*_lines(node.body), functools.partial(_swallows, item.context_expr))


def _lines(body: list[ast.stmt]) -> tuple[int, int]:
    return body[0].lineno, body[-1].end_lineno or body[-1].lineno


def _catches(kind: ast.expr | None, frame: FrameType, error: Exception) -> bool:
    """Does ``except kind`` catch the error?"""
    if kind is None:
        return True
    if isinstance(kind, ast.Tuple):
        return any(_catches(item, frame, error) for item in kind.elts)
    types = _looked_up(kind, frame)
    try:
        return types is _UNKNOWN or isinstance(error, types)
    except TypeError:
        return True


def _swallows(manager: ast.expr, frame: FrameType, error: Exception) -> bool:
    """May ``with manager`` swallow the error?"""
    called = isinstance(manager, ast.Call)
    target = _looked_up(manager.func if isinstance(manager, ast.Call) else manager, frame)
    if isinstance(manager, ast.Call) and getattr(target, "__name__", "") == "suppress":
        return any(_catches(kind, frame, error) for kind in manager.args)
    if target is _UNKNOWN:
        return True
    if str(getattr(target, "__module__", "")).partition(".")[0] == "torch":
        return False
    if isinstance(target, FunctionType):  # of contextlib.contextmanager
        made = getattr(target, "__wrapped__", None)
        return made is None or _handles_around_yield(made)
    kind = target if called and isinstance(target, type) else None if called else type(target)
    return kind is None or issubclass(kind, ExitStack) or _exit_may_swallow(kind)


def _handles_around_yield(function: Any) -> bool:
    tree = _tree_of(function)
    tries = [node for node in ast.walk(tree) if isinstance(node, _TRIES) and node.handlers] if tree is not None else []
    return tree is None or any(
        isinstance(inner, (ast.Yield, ast.YieldFrom)) for node in tries for part in node.body for inner in ast.walk(part)
    )


def _exit_may_swallow(kind: type) -> bool:
    """Does a class of context managers have an ``__exit__``, in Python, that gives something else than None or False?"""
    leave = inspect.getattr_static(kind, "__exit__", None)
    if not isinstance(leave, FunctionType):
        return False
    tree = _tree_of(leave)
    values = [node.value for node in ast.walk(tree) if isinstance(node, ast.Return)] if tree is not None else []
    return tree is None or any(value is not None and not (isinstance(value, ast.Constant) and not value.value) for value in values)


def _tree_of(function: Any) -> ast.AST | None:
    """The statements of a function; None where its text isn't to be had."""
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType):
        return None
    wanted = (code.co_name, code.co_firstlineno)
    return next((node for node in ast.walk(syntax_tree(code.co_filename)) if isinstance(node, _SCOPES) and _scope(node) == wanted), None)


def _looked_up(node: ast.expr, frame: FrameType) -> Any:
    """What a name, or an attribute chain on one, stands for, without running any code; ``_UNKNOWN`` for all else."""
    if isinstance(node, ast.Name):
        for names in (frame.f_locals, frame.f_globals, vars(builtins)):
            if node.id in names:
                return names[node.id]
    if isinstance(node, ast.Attribute):
        owner = _looked_up(node.value, frame)
        if isinstance(owner, ModuleType):
            return vars(owner).get(node.attr, _UNKNOWN)
        if owner is not _UNKNOWN:
            return inspect.getattr_static(owner, node.attr, _UNKNOWN)
    return _UNKNOWN
