"""The user's own file, line and columns: which statement called, and who called that."""

import ast
import functools
import linecache
import os
import sysconfig
import traceback
from itertools import islice
from pathlib import Path
from types import CodeType, FrameType, TracebackType
from typing import Literal, TypeAlias

import numpy as np
import torch

from tb_shapeplugin.record.trace import SourceFact
from tb_shapeplugin.tracing.notebooks import cell_number
from tb_shapeplugin.tracing.syntax import syntax_tree

SourceMode: TypeAlias = Literal["none", "line", "full"]

_TORCH = os.path.dirname(torch.__file__) + os.sep
_OURS = str(Path(__file__).parents[1]) + os.sep
_STDLIB = sysconfig.get_path("stdlib") + os.sep
_SITE = tuple({sysconfig.get_path(kind) + os.sep for kind in ("purelib", "platlib")})
_LONGEST_CODE = 400
_NUMPY = os.path.dirname(np.__file__) + os.sep
_WRAPPERS = ("typing_extensions.py",)  # around functions of torch that are deprecated


@functools.cache
def _site_of(filename: str) -> str:
    """The site-packages folder that holds the file, "" when none does."""
    for marker in (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}"):
        head, found, _ = filename.rpartition(marker)
        if found:
            return head + marker
    return next((site for site in _SITE if filename.startswith(site)), "")


@functools.cache
def is_users_file(filename: str) -> bool:
    """Is this file the user's (or a library's on top of torch), rather than torch's, Python's or ours?"""
    if filename.startswith("<"):
        return filename.startswith("<ipython-input")
    if filename.startswith((_TORCH, _OURS, _NUMPY)) or filename.endswith(_WRAPPERS):
        return False
    return not (filename.startswith(_STDLIB) and not _site_of(filename))


def is_torchs_file(filename: str) -> bool:
    """Is this one of torch's own files?"""
    return filename.startswith(_TORCH)


def is_our_file(filename: str) -> bool:
    """Is this one of this package's files?"""
    return filename.startswith(_OURS)


def _is_users(code: CodeType) -> bool:
    return is_users_file(code.co_filename)  # code objects themselves are slow to hash: all of their bytes go in


class SourceBook:
    """Interns stacks: each user frame once, linked to the frame that called it."""

    def __init__(self, mode: SourceMode, bottom: CodeType) -> None:
        self._mode = mode
        self.bottom = bottom  # the capture's own frame: callers beyond it are not part of the model
        self._frames: list[tuple[CodeType, int, int, int]] = []  # code, instruction, line, caller
        self._index: dict[tuple[int, int, int], int] = {}  # by the code's id, which its frame here keeps from being used again
        self._entered: list[tuple[int, int]] = []  # id of each open call's frame, what stands above it

    def enter(self, frame: FrameType) -> None:
        """A call begins in that frame: what stands above it is frozen until ``leave``, and walked through only once."""
        self._entered.append((id(frame), self.here(frame)))

    def leave(self) -> None:
        """The call entered last ends."""
        self._entered.pop()

    def here(self, frame: FrameType | None) -> int:
        """The index of the innermost user statement above that frame, -1 when there is none."""
        if self._mode == "none":
            return -1
        found: list[tuple[CodeType, int, int]] = []
        entered, above = self._entered[-1] if self._entered else (0, -1)
        while frame is not None:
            code = frame.f_code
            if code is self.bottom:
                above = -1
                break
            if is_users_file(code.co_filename):
                found.append((code, frame.f_lasti, frame.f_lineno))
            elif id(frame) == entered:
                break
            frame = frame.f_back
        else:
            above = -1
        return self._intern(found, above)

    def of_traceback(self, trace: TracebackType | None) -> int:
        """The same for the frames through which an exception went, innermost first."""
        if self._mode == "none":
            return -1
        steps = [(step.tb_frame.f_code, step.tb_lasti, step.tb_lineno) for step in _steps(trace) if _is_users(step.tb_frame.f_code)]
        outer: list[tuple[CodeType, int, int]] = []
        frame = trace.tb_frame.f_back if trace else None
        while frame is not None and frame.f_code is not self.bottom:
            if _is_users(frame.f_code):
                outer.append((frame.f_code, frame.f_lasti, frame.f_lineno))
            frame = frame.f_back
        return self._intern([*reversed(steps), *outer], -1)

    def _intern(self, innermost_first: list[tuple[CodeType, int, int]], caller: int) -> int:
        for code, instruction, line in reversed(innermost_first):
            key = (id(code), instruction, caller)
            index = self._index.get(key)
            if index is None:
                index = self._index[key] = len(self._frames)
                self._frames.append((code, instruction, line, caller))
            caller = index
        return caller

    def facts(self) -> tuple[SourceFact, ...]:
        """Every interned statement with its text."""
        return tuple(self._fact(*frame) for frame in self._frames)

    def fact(self, index: int) -> SourceFact | None:
        """One interned statement with its text; None for -1."""
        return self._fact(*self._frames[index]) if index >= 0 else None

    def _fact(self, code: CodeType, instruction: int, line: int, caller: int) -> SourceFact:
        column, end_line, end_column = _columns(code, instruction, line)
        text, first = _function_text(code) if self._mode == "full" else ("", 0)
        return SourceFact(
            file=display_path(code.co_filename),
            line=line,
            end_line=end_line,
            column=column,
            end_column=end_column,
            code=statement_at(code.co_filename, line),
            function=getattr(code, "co_qualname", code.co_name),
            text=text,
            text_line=first,
            caller=caller,
        )


def _steps(trace: TracebackType | None) -> list[TracebackType]:
    steps = []
    while trace is not None:
        steps.append(trace)
        trace = trace.tb_next
    return steps


def innermost_user_frame(trace: TracebackType | None) -> FrameType | None:
    """The deepest user frame that an exception went through."""
    frames = [step.tb_frame for step in _steps(trace) if _is_users(step.tb_frame.f_code)]
    return frames[-1] if frames else None


def frames_of(trace: TracebackType | None) -> list[FrameType]:
    """Every frame that an exception went through, outermost first."""
    return [step.tb_frame for step in _steps(trace)]


@functools.lru_cache(maxsize=4096)
def _columns(code: CodeType, instruction: int, line: int) -> tuple[int, int, int]:
    """Column, end line and end column of the expression at that instruction; zeros before Python 3.11."""
    positions = getattr(code, "co_positions", None)  # from Python 3.11
    if positions is None or instruction < 0:
        return 0, 0, 0
    start, end, column, end_column = next(islice(positions(), instruction // 2, None), (None, None, None, None))
    if start != line or column is None or end_column is None:
        return 0, 0, 0
    return column, end or line, end_column


@functools.lru_cache(maxsize=256)
def _statements(filename: str) -> dict[int, tuple[int, int]]:
    """Line → first and last line of the innermost statement on it (of a compound one: of its head)."""
    spans: dict[int, tuple[int, int]] = {}
    for node in ast.walk(syntax_tree(filename)):
        if not isinstance(node, ast.stmt):
            continue
        body = getattr(node, "body", None)
        first = node.lineno
        last = max(first, body[0].lineno - 1) if isinstance(body, list) and body else node.end_lineno or first
        for line in range(first, last + 1):
            known = spans.get(line)
            if known is None or last - first <= known[1] - known[0]:
                spans[line] = (first, last)
    return spans


@functools.lru_cache(maxsize=4096)
def statement_at(filename: str, line: int) -> str:
    """The statement on that line, its lines stripped and joined by one space; of a very long one, the line alone."""
    first, last = _statements(filename).get(line, (line, line))
    text = " ".join(part for number in range(first, last + 1) if (part := linecache.getline(filename, number).strip()))
    return text if len(text) <= _LONGEST_CODE else linecache.getline(filename, line).strip()[:_LONGEST_CODE]


def _function_text(code: CodeType) -> tuple[str, int]:
    lines = linecache.getlines(code.co_filename)
    first = code.co_firstlineno
    last = max((line for *_, line in code.co_lines() if line), default=first)
    return "".join(lines[first - 1 : last]), first


@functools.cache
def _git_top(folder: str) -> str:
    for parent in (Path(folder), *Path(folder).parents):
        if (parent / ".git").exists():
            return str(parent) + os.sep
    return ""


@functools.cache
def display_path(filename: str) -> str:
    """The path as a record holds it: relative to the nearest of git top, working directory or site-packages, else the name.

    Notebook cells are ``In[12]``.
    """
    cell = cell_number(filename)
    if cell is not None:
        return f"In[{cell}]"
    candidates = (_site_of(filename), _git_top(os.path.dirname(filename)), os.getcwd() + os.sep)
    roots = [root for root in candidates if root and filename.startswith(root)]
    return filename[len(max(roots, key=len)) :].replace(os.sep, "/") if roots else os.path.basename(filename)


def error_text(error: BaseException) -> str:
    """``RuntimeError: its first line``."""
    return "".join(traceback.format_exception_only(type(error), error)).strip().splitlines()[0]
