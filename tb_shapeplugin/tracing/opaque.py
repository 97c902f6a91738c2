"""Calls into what can't be looked into: TorchScript, followed as one call; and C++ that runs aten ops on its own."""

import contextlib
import threading
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Protocol

import torch

from tb_shapeplugin.record.trace import ChildFact
from tb_shapeplugin.tracing.compat import SCRIPTED_KINDS, no_function_modes

# The name of a call that ran aten ops which no torch function had called.
NATIVE = "python.opaque"


class OpaqueHandler(Protocol):
    """Runs an opaque call and says what it gave."""

    def __call__(self, run: "Scripted", args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """``run(*args, **kwargs)`` is the call as it would have been."""


class Scripted:
    """A scripted function or method under the name of its kind; its inside calls no torch function of the user."""

    def __init__(self, original: Callable[..., Any], scripted: Any) -> None:
        self._original = original
        self._scripted = scripted
        self.__name__ = self.__qualname__ = SCRIPTED_KINDS[type(scripted)]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scripted) and other.__name__ == self.__name__

    def __hash__(self) -> int:
        return hash(self.__name__)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The call, not followed."""
        with no_function_modes():
            return self._original(self._scripted, *args, **kwargs)


@dataclass
class NativeCall:
    """Aten ops that one expression of the user set off without any torch function."""

    key: tuple[int, int, int]  # frame, instruction, module call
    call: int
    source: int
    children: list[ChildFact] = field(default_factory=list)
    inputs: list[int] = field(default_factory=list)
    made: list["weakref.ref[torch.Tensor]"] = field(default_factory=list)

    def alive(self) -> list[torch.Tensor]:
        """What it gave: the tensors that somebody still holds."""
        return [tensor for reference in self.made if (tensor := reference()) is not None]


def place_of(frame: FrameType, call: int) -> tuple[int, int, int]:
    """The same for all that one expression sets off in one module call."""
    return id(frame), frame.f_lasti, call


_lock = threading.Lock()
_handlers = threading.local()
_followers = 0
_originals: dict[Any, Callable[..., Any]] = {}  # Any: torch has no types there


def _following(original: Callable[..., Any]) -> Callable[..., Any]:
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        handler: OpaqueHandler | None = getattr(_handlers, "current", None)
        if handler is None:
            return original(self, *args, **kwargs)
        return handler(Scripted(original, self), args, kwargs)

    return call


@contextlib.contextmanager
def followed_scripts(handler: OpaqueHandler | None) -> Iterator[None]:
    """Sends every scripted call of this thread through the handler while it lasts; None lets them pass, as other threads' do."""
    global _followers  # noqa: PLW0603  one patch for the whole process
    with _lock:
        if _followers == 0:
            for kind in SCRIPTED_KINDS:
                _originals[kind] = kind.__call__
                kind.__call__ = _following(kind.__call__)
        _followers += 1
    before = getattr(_handlers, "current", None)
    _handlers.current = handler
    try:
        yield
    finally:
        _handlers.current = before
        with _lock:
            _followers -= 1
            if _followers == 0:
                for kind, original in _originals.items():
                    kind.__call__ = original
