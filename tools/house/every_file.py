"""Rules for every file: names that say something, no machine's paths, no registry's hosts, no bare to-do, reasons for silence."""

import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from house.problem import Problem
from house.tables import EMPTY_WORDS

# What git ignores, for a checkout without git.
_SKIPPED_FOLDERS = {".git", ".venv", "node_modules", "__pycache__", "build", "dist", "runs", "static"}
_CODE = {".py", ".pyi", ".ts", ".tsx", ".mjs", ".js", ".css", ".proto", ".toml", ".yml", ".yaml", ".cfg", ""}

# Put together from halves, so that this file keeps its own rules.
_MACHINE_PATH = re.compile(r"(?<![\w.~-])/(?:wo" + r"rk|ro" + r"ot)/")
_HOSTS = re.compile(r"py" + r"pi\.org|python" + r"hosted\.org|registry\.(?:npm" + r"js|yarn" + r"pkg)\.|download\.py" + r"torch\.org")
_TO_DO = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X)\b(?!(?:\([^)]*\))?:? +\w+\W+\w+\W+\w+)")
_SILENCED_PYTHON = re.compile(r"#\s*(?P<what>noqa(?::\s*[A-Z]+\d+(?:,\s*[A-Z]+\d+)*)?|type:\s*ignore(?:\[[^\]]*\])?)(?P<reason>.*)$")
_SILENCED_SCRIPT = re.compile(r"(?://|/\*)\s*(?P<what>@ts-\w+(?:-error)?|eslint-disable[\w-]*[\w@/, -]*?)(?P<reason>\s(?:--|:)?\s*\w.*)?$")
_REASON = re.compile(r"[^\W\d_]{2}")


def list_files(root: Path) -> list[Path]:
    """Files that git tracks or would track, relative to root; every file where root is no checkout."""
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode == 0:
        return sorted({Path(name) for name in answer.stdout.split("\0") if name and (root / name).is_file()})
    paths = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
    return sorted(path for path in paths if not _SKIPPED_FOLDERS.intersection(path.parts))


def check_every_file(root: Path, paths: Sequence[Path]) -> Iterator[Problem]:
    """Every broken rule that holds for any file."""
    for path in paths:
        yield from check_name(path, 1, path.stem, "file")
        yield from (problem for folder in path.parts[:-1] for problem in check_name(path, 1, folder, "folder"))
        try:
            text = (root / path).read_text(encoding="utf-8")
        except UnicodeDecodeError:  # a picture or a record
            continue
        yield from _check_text(path, text)


def check_name(path: Path, line: int, name: str, what: str) -> Iterator[Problem]:
    """Problems of a file's, folder's or class's name: words that say nothing."""
    words = {word.lower() for word in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+", name)}
    for word in sorted(words & EMPTY_WORDS):
        yield Problem(path, line, "names", f"The {what} is called {name!r}, and {word!r} says nothing.", "Name it by what it holds.")


def _check_text(path: Path, text: str) -> Iterator[Problem]:
    for number, line in enumerate(text.splitlines(), 1):
        if _MACHINE_PATH.search(line):
            yield Problem(path, number, "machine", "The line holds a path of one machine.", "Say where it is in the checkout.")
        if _HOSTS.search(line):
            yield Problem(path, number, "registry", "The line names a package registry's host.", "Leave it to the user's settings.")
        if path.suffix in _CODE and _TO_DO.search(line):
            yield Problem(
                path, number, "to do", "A note of unfinished work gives no reason.", "Finish it, or say in a sentence why not now."
            )
    if path.suffix in _CODE:
        yield from _check_silenced(path, text.splitlines())


def _check_silenced(path: Path, lines: Sequence[str]) -> Iterator[Problem]:
    """Each kind of silence is explained at least once in its file: on the line or in a comment above it."""
    pattern = _SILENCED_PYTHON if path.suffix in (".py", ".pyi") else _SILENCED_SCRIPT
    explained: set[str] = set()
    silent: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        found = pattern.search(line)
        if found is None:
            continue
        above = lines[number - 2].strip() if number > 1 else ""
        if _REASON.search(found["reason"] or "") or above.startswith(("#", "//", "/*")):
            explained.add(found["what"])
        else:
            silent.append((number, found["what"]))
    for number, what in silent:
        if what not in explained:
            yield Problem(path, number, "silenced", f"{what!r} carries no reason.", "Write it behind it, or in a comment above.")
