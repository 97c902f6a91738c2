"""Watches which instructions of the model's forwards run, and says which branches none of the runs took."""

import contextlib
import inspect
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from types import CodeType, FrameType, FunctionType, MethodType
from typing import Any

from torch import nn

from tb_shapeplugin.record.trace import Branch, ModuleFact
from tb_shapeplugin.tracing.source import display_path, is_users_file
from tb_shapeplugin.tracing.untaken import untaken

_BLOCKED = "branches that never ran: a debugger or a coverage tool traces this thread"


class Watch:
    """One for all runs that are to be judged together."""

    def __init__(self) -> None:
        self.blocked = False  # something else traces this thread, which isn't ours to stop
        self._ran: dict[CodeType, set[int]] = {}
        self._owners: dict[CodeType, dict[str, None]] = {}  # paths of the modules whose class holds the code

    @contextlib.contextmanager
    def over(self, model: Any, modules: Iterable[tuple[str, nn.Module]]) -> Iterator[None]:
        """Watches this thread meanwhile: methods of those modules, told by their paths, and the model itself where it is a function."""
        for path, module in modules:
            for code in _methods(module):
                self._owners.setdefault(code, {})[path] = None
        for code in _codes_of(model):
            self._owners.setdefault(code, {})[""] = None
        if sys.gettrace() is not None:
            self.blocked = True
            yield
            return
        sys.settrace(self._entered)
        try:
            yield
        finally:
            sys.settrace(None)

    def _entered(self, frame: FrameType, event: str, arg: Any) -> Any:
        if frame.f_code not in self._owners:
            return None
        frame.f_trace_opcodes = True
        ran = self._ran.setdefault(frame.f_code, set())

        def step(frame: FrameType, event: str, arg: Any) -> Any:
            if event == "opcode":
                ran.add(frame.f_lasti)
            return step

        return step

    def unchecked(self) -> tuple[str, ...]:
        """What it could not answer."""
        return (_BLOCKED,) if self.blocked else ()

    def branches(self, modules: Sequence[ModuleFact]) -> tuple[Branch, ...] | None:
        """What never ran of the functions that did, in the order in which they were first entered; None where nothing could be seen."""
        if self.blocked:
            return None
        index = {module.path: position for position, module in enumerate(modules)}
        found = {}
        for code, ran in self._ran.items():
            owners = tuple(sorted(index[path] for path in self._owners[code] if path in index))
            name = str(getattr(code, "co_qualname", code.co_name)).rpartition("<locals>.")[2]  # co_qualname: from Python 3.11
            for part in untaken(code, ran):
                branch = Branch(display_path(code.co_filename), part.line, part.end_line, part.code, name, owners)
                found[code.co_filename, part.line, part.end_line, part.code] = branch
        return tuple(found.values())


def _methods(module: nn.Module) -> Iterator[CodeType]:
    """Codes of everything that the user wrote in the module's class and its bases, and of a forward set on the module itself."""
    for kind in type(module).__mro__:
        for value in vars(kind).values():
            yield from _codes_of(value.fget if isinstance(value, property) else getattr(value, "__func__", value))
    yield from _codes_of(vars(module).get("forward"))


def _codes_of(function: Any) -> Iterable[CodeType]:
    while isinstance(function, (partial, MethodType)):
        function = function.func if isinstance(function, partial) else function.__func__
    function = inspect.unwrap(function) if callable(function) else function
    if not isinstance(function, FunctionType) or not is_users_file(function.__code__.co_filename):
        return ()
    return (function.__code__,)
