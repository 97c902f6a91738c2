"""The TypeScript half: imports point down, no cycles, lengths, no any, a first line that says the job."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from house.cycles import find_cycles
from house.lengths import Span
from house.problem import Problem
from house.tables import FRONTEND_ROOMS, GENERATED, PANEL_INTERFACE, PANEL_TABLE

SOURCE = Path("frontend/src")
_SUFFIXES = (".ts", ".tsx")

_TOKENS = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
      |(?P<string>'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`)
      |(?<=[=(,:;!&|?\[])(?P<regex>\s*/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/)""",
    re.VERBOSE | re.DOTALL,
)
_IMPORT = re.compile(
    r"""^[ \t]*(?:import|export)\b[^'";]*?\bfrom\s*['"](?P<from>[^'"]+)['"]
      |^[ \t]*import\s*['"](?P<bare>[^'"]+)['"]
      |\bimport\s*\(\s*['"](?P<dynamic>[^'"]+)['"]
      |\bnew\s+URL\(\s*['"](?P<url>\.[^'"]+)['"]\s*,\s*import\.meta\.url""",
    re.VERBOSE | re.MULTILINE,
)
_ANY = re.compile(r"(?:[:<|&]|\bas|\bextends|=>)\s*(?:readonly\s+)?any\b|\bany\s*\[\]|,\s*any\s*[,>]")
_FUNCTION = re.compile(
    r"""^(?P<indent>[ ]*)(?:
        (?:export\s+)?(?:default\s+)?(?:async\s+)?function\b\s*\*?\s*(?P<function>\w*)
      | (?:export\s+)?(?:const|let)\s+(?P<arrow>\w+)\b[^=\n]*=\s*(?:\w+\()?(?:async\s*)?\(
      | (?:(?:public|private|protected|static|override|async|get|set)\s+)*
        (?!(?:if|for|while|switch|catch|return|function)\b)(?P<method>\#?\w+)\(
    )""",
    re.VERBOSE,
)


class Source(NamedTuple):
    """A TypeScript file: its text, and the text with comments, strings and regular expressions blanked."""

    path: Path
    text: str
    code: str


class Import(NamedTuple):
    """What an import line names, and where."""

    target: str
    line: int


def read_sources(root: Path, paths: Sequence[Path]) -> list[Source]:
    """The TypeScript files under frontend/ that people write; paths are relative to root."""
    sources = []
    for path in paths:
        if path.suffix in _SUFFIXES and path.parts[0] == "frontend" and not any(path.is_relative_to(made) for made in GENERATED):
            text = (root / path).read_text(encoding="utf-8")
            sources.append(Source(path, text, _blank(text, strings=True)))
    return sources


def _blank(text: str, *, strings: bool) -> str:
    """The text with comments (and strings) turned to spaces, every line kept where it is."""

    def blank(match: re.Match[str]) -> str:
        if match["string"] is not None and not strings:
            return match[0]
        return re.sub(r"[^\n]", " ", match[0])

    return _TOKENS.sub(blank, text)


def check_frontend(root: Path, sources: Sequence[Source], paths: Sequence[Path]) -> Iterator[Problem]:
    """Every broken rule of the TypeScript files, lengths apart; paths are all files that exist, styles included."""
    known = {path for path in paths if path.is_relative_to(SOURCE)}
    graph: dict[str, set[str]] = {}
    for source in sources:
        yield from _check_first_line(source)
        yield from _check_any(source)
        if source.path.is_relative_to(SOURCE):
            yield from _check_room(source)
            imports = list(imports_of(source.text))
            yield from _check_imports(source, imports, known)
            targets = (_resolve(source.path, imported.target, known) for imported in imports)
            graph[str(source.path)] = {str(target) for target in targets if target is not None}
    yield from _check_cycles(graph)


def imports_of(text: str) -> Iterator[Import]:
    """Every import, import type, export from, import() and new URL('./x', import.meta.url).

    Example:
        >>> list(imports_of("import type { A } from './a';"))
        [Import(target='./a', line=1)]
    """
    code = _blank(text, strings=False)
    for match in _IMPORT.finditer(code):
        target = next(group for group in match.groups() if group is not None)
        yield Import(target, code.count("\n", 0, match.end()) + 1)


def _check_first_line(source: Source) -> Iterator[Problem]:
    if not source.text.startswith(("//", "/*")):
        yield Problem(source.path, 1, "docstring", "The module doesn't begin with a comment.", "Write its one job in one line at its top.")


def _check_any(source: Source) -> Iterator[Problem]:
    for match in _ANY.finditer(source.code):
        line = source.code.count("\n", 0, match.end()) + 1
        yield Problem(source.path, line, "any", "The type any turns checking off.", "Name the type, or use unknown and narrow it.")


def _room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].split(".")[0]


def _check_room(source: Source) -> Iterator[Problem]:
    room = _room_of(source.path)
    if room not in FRONTEND_ROOMS:
        what = f"{room!r} is no room of the frontend."
        way_out = f"Move the file into one of {', '.join(FRONTEND_ROOMS)}, or give the room its row in tools/house/tables.py."
        yield Problem(source.path, 1, "rooms", what, way_out)


def _check_imports(source: Source, imports: Sequence[Import], known: set[Path]) -> Iterator[Problem]:
    room = FRONTEND_ROOMS.get(_room_of(source.path))
    if room is None:
        return
    for imported in imports:
        if not imported.target.startswith("."):
            yield from _check_library(source, imported, room.libraries)
            continue
        target = _resolve(source.path, imported.target, known)
        if target is None:
            what = f"{imported.target!r} leads to no file of frontend/src."
            yield Problem(source.path, imported.line, "imports", what, "Correct the path.")
        elif _room_of(target) != _room_of(source.path) and _room_of(target) not in room.rooms:
            allowed = ", ".join(sorted(room.rooms)) or "no other room"
            what = f"The room {_room_of(source.path)!r} imports {imported.target!r}, sideways or up."
            way_out = f"It may import {allowed}: hand the thing in as an argument, or move it down."
            yield Problem(source.path, imported.line, "imports", what, way_out)
        elif _crosses_panels(source.path, target):
            what = f"The panel {_panel_of(source.path)!r} imports the panel {_panel_of(target)!r}."
            yield Problem(source.path, imported.line, "imports", what, "Panels meet in state, or share a widget.")


def _check_library(source: Source, imported: Import, libraries: frozenset[str]) -> Iterator[Problem]:
    package = "/".join(imported.target.split("/")[: 2 if imported.target.startswith("@") else 1])
    if package not in libraries:
        what = f"The room {_room_of(source.path)!r} imports the package {imported.target!r}."
        yield Problem(source.path, imported.line, "imports", what, f"It may import: {', '.join(sorted(libraries)) or 'none'}.")


def _panel_of(path: Path) -> str:
    return path.relative_to(SOURCE / "panels").parts[0].split(".")[0]


def _crosses_panels(path: Path, target: Path) -> bool:
    if _room_of(path) != "panels" or _room_of(target) != "panels":
        return False
    return _panel_of(path) != PANEL_TABLE and _panel_of(target) not in (_panel_of(path), PANEL_INTERFACE)


def _resolve(path: Path, target: str, known: set[Path]) -> Path | None:
    if not target.startswith("."):
        return None
    base = Path(os.path.normpath(path.parent / target.split("?")[0]))
    without_js = base.with_suffix("") if base.suffix == ".js" else base
    candidates = [base, *(Path(f"{without_js}{suffix}") for suffix in _SUFFIXES), *(base / f"index{suffix}" for suffix in _SUFFIXES)]
    return next((candidate for candidate in candidates if candidate in known), None)


def _check_cycles(graph: Mapping[str, set[str]]) -> Iterator[Problem]:
    for cycle in find_cycles(graph):
        what = f"Modules import each other: {' -> '.join(cycle)}."
        yield Problem(Path(cycle[0]), 1, "cycle", what, "Move what both need into a lower module.")


def frontend_spans(sources: Sequence[Source]) -> Iterator[Span]:
    """The files and the functions with their lengths, read off the indentation that the formatter keeps."""
    for source in sources:
        lines = source.code.splitlines()
        yield Span(source.path, "", 1, len(source.text.splitlines()))
        for number, line in enumerate(lines):
            match = _FUNCTION.match(line)
            if match and line.rstrip().endswith(("{", "(", "=>", "[", ",")):
                name = match["function"] or match["arrow"] or match["method"] or "default"
                end = _end_of_function(lines, number, match["indent"])
                if end is not None:
                    yield Span(source.path, name, number + 1, end - number + 1)


def _end_of_function(lines: Sequence[str], start: int, indent: str) -> int | None:
    """The line with the closing brace at the function's own indentation; None for a call that only looks like one."""
    for number in range(start + 1, len(lines)):
        line = lines[number].rstrip()
        if not line.startswith(indent) or line[len(indent) : len(indent) + 1] in ("", " "):
            continue
        if line.endswith(("{", "=>", "(")):
            continue
        return number if line[len(indent)] in "})" else None
    return None
