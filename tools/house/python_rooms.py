"""The Python half: imports point down, no cycles, lengths, names, docstrings, the lazy table."""

import ast
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from house.cycles import find_cycles
from house.lengths import Span
from house.problem import Problem
from house.tables import PUBLIC_FUNCTIONS, PYTHON_ROOMS

PACKAGE = "tb_shapeplugin"


class Module(NamedTuple):
    """A parsed Python file; name is dotted, "" outside the package."""

    path: Path
    name: str
    tree: ast.Module


class Import(NamedTuple):
    """A name asked for by an import statement; ``tb_shapeplugin.base.errors.ShapesError`` for a from-import."""

    target: str
    line: int


def parse(root: Path, paths: Sequence[Path]) -> list[Module]:
    """The Python files among the paths, parsed; paths are relative to root."""
    return [Module(path, _dotted(path), ast.parse((root / path).read_text(encoding="utf-8"))) for path in paths if path.suffix == ".py"]


def _dotted(path: Path) -> str:
    if path.parts[0] != PACKAGE:
        return ""
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def check_python(modules: Sequence[Module]) -> Iterator[Problem]:
    """Every broken rule of the Python files, lengths apart."""
    names = {module.name for module in modules if module.name}
    for module in modules:
        yield from _check_docstring(module)
        if module.name:
            yield from _check_place(module)
            yield from _check_imports(module, names)
            yield from _check_init(module)
    yield from _check_cycles([module for module in modules if module.name], names)


def imports_of(tree: ast.AST) -> Iterator[Import]:
    """Every import anywhere in the file, in functions, under TYPE_CHECKING and by ``import_module("…")`` too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (Import(alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            yield from (Import(f"{base}.{alias.name}" if node.module else base + alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.Call) and _is_import_call(node.func) and node.args:
            argument = node.args[0]
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                yield Import(argument.value, node.lineno)


def _is_import_call(function: ast.expr) -> bool:
    name = function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    return name in ("import_module", "__import__")


def _check_docstring(module: Module) -> Iterator[Problem]:
    if module.tree.body and not ast.get_docstring(module.tree):
        yield Problem(module.path, 1, "docstring", "The module has no docstring.", "Write its one job in one line at its top.")


def _room_of(name: str) -> str:
    parts = name.split(".")
    return parts[1] if len(parts) > 1 else ""


def _check_place(module: Module) -> Iterator[Problem]:
    room = _room_of(module.name)
    if room in PUBLIC_FUNCTIONS:
        what = f"{PACKAGE}.{room} is a module and a public function."
        yield Problem(module.path, 1, "public name", what, "Rename the module: on first import it would replace the function.")
    elif room and room not in PYTHON_ROOMS:
        what = f"{room!r} is no room of the house."
        way_out = f"Move the file into one of {', '.join(PYTHON_ROOMS)}, or give the room its row in tools/house/tables.py."
        yield Problem(module.path, 1, "rooms", what, way_out)


def _check_imports(module: Module, names: set[str]) -> Iterator[Problem]:
    room = _room_of(module.name)
    if not room:  # the package's own __init__: _check_init says what it may hold
        return
    for imported in imports_of(module.tree):
        top = imported.target.split(".")[0]
        if imported.target.startswith("."):
            what = f"The import of {imported.target!r} is relative."
            yield Problem(module.path, imported.line, "imports", what, f"Write it out from {PACKAGE} on.")
        elif top == PACKAGE:
            yield from _check_inner_import(module, room, imported, names)
        elif top not in sys.stdlib_module_names and room in PYTHON_ROOMS and top not in PYTHON_ROOMS[room].libraries:
            allowed = ", ".join(sorted(PYTHON_ROOMS[room].libraries)) or "none"
            what = f"The room {room!r} imports {imported.target!r}."
            yield Problem(module.path, imported.line, "imports", what, f"Beside the standard library it may import: {allowed}.")


def _check_inner_import(module: Module, room: str, imported: Import, names: set[str]) -> Iterator[Problem]:
    if _resolve(imported.target, names) in (None, PACKAGE):
        what = f"{imported.target!r} asks for a public name of the package."
        yield Problem(module.path, imported.line, "imports", what, "Import it from the module that holds it.")
        return
    target_room = _room_of(imported.target)
    if room in PYTHON_ROOMS and target_room not in {room, *PYTHON_ROOMS[room].rooms}:
        allowed = ", ".join(sorted(PYTHON_ROOMS[room].rooms)) or "no other room"
        what = f"The room {room!r} imports {imported.target!r}, sideways or up."
        way_out = f"It may import {allowed}: hand the thing in as an argument, or move it down."
        yield Problem(module.path, imported.line, "imports", what, way_out)


def _resolve(target: str, names: set[str]) -> str | None:
    """The module that an imported name lives in."""
    while target not in names:
        target, _, last = target.rpartition(".")
        if not last or not target:
            return None
    return target


def _check_init(module: Module) -> Iterator[Problem]:
    if module.path.name != "__init__.py":
        return
    is_top = module.name == PACKAGE
    for node in module.tree.body:
        if not _is_allowed_in_init(node, is_top):
            what = "The package holds more than the lazy table of public names." if is_top else "A room's __init__.py holds code."
            way_out = "Only the table, __getattr__ and __dir__ may stand here." if is_top else "Move the code into a module."
            yield Problem(module.path, node.lineno, "init", what, way_out)


def _is_allowed_in_init(node: ast.stmt, is_top: bool) -> bool:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True
    if not is_top:
        return False
    if isinstance(node, ast.FunctionDef):
        return node.name in ("__getattr__", "__dir__")
    if isinstance(node, ast.Import | ast.ImportFrom):
        return all(imported.target.split(".")[0] in sys.stdlib_module_names for imported in imports_of(node))
    return isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and _is_plain(node.value)


def _is_plain(value: ast.expr) -> bool:
    try:
        ast.literal_eval(value)
    except ValueError:
        return False
    return True


def _check_cycles(modules: Sequence[Module], names: set[str]) -> Iterator[Problem]:
    # A file's package is loaded with it, but packages are empty here; an edge to them would only hide real cycles.
    graph: dict[str, set[str]] = {}
    for module in modules:
        targets = {_resolve(imported.target, names) for imported in imports_of(module.tree) if imported.target.startswith(PACKAGE)}
        graph[module.name] = {target for target in targets if target is not None}
    paths = {module.name: module.path for module in modules}
    for cycle in find_cycles(graph):
        what = f"Modules import each other: {' -> '.join(cycle)}."
        yield Problem(paths[cycle[0]], 1, "cycle", what, "Move what both need into a lower module.")


def python_spans(root: Path, modules: Sequence[Module]) -> Iterator[Span]:
    """The files and the functions with their lengths; a docstring doesn't count in its function's."""
    for module in modules:
        yield Span(module.path, "", 1, len((root / module.path).read_text(encoding="utf-8").splitlines()))
        for name, node in _functions(module.tree, ""):
            yield Span(module.path, name, node.lineno, _lines_without_docstring(node))


def _functions(parent: ast.AST, prefix: str) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield prefix + node.name, node
        inner = f"{prefix}{node.name}." if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) else prefix
        yield from _functions(node, inner)


def _lines_without_docstring(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    lines = (node.end_lineno or node.lineno) - node.lineno + 1
    if ast.get_docstring(node) is None:
        return lines
    first = node.body[0]
    return lines - ((first.end_lineno or first.lineno) - first.lineno + 1)


def class_names(modules: Sequence[Module]) -> Iterator[tuple[Path, int, str]]:
    """Every class with its place."""
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef):
                yield module.path, node.lineno, node.name
