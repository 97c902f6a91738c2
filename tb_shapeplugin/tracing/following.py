"""Sends calls of some types through a handler of this thread while captures last; other threads' calls pass straight through."""

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from torch import nn

from tb_shapeplugin.tracing.compat import SCRIPTED_KINDS
from tb_shapeplugin.tracing.while_used import WhileUsed, swapped

_DEEPER, _OWN_FRAMES = 3, 500  # frames of a followed call per frame of a plain one; those of modes and shape-level kernels below


# Runs a call and says what it gave: ``handler(run, target, args, kwargs)``, where ``run(target, *args, **kwargs)`` is the
# call as it would have been.
CallHandler: TypeAlias = Callable[[Callable[..., Any], Any, tuple[Any, ...], dict[str, Any]], Any]


class Following:
    """Calls of instances of some types. Captures may nest, and run in several threads at once."""

    def __init__(self, *kinds: Any) -> None:  # Any: torch has no types for its scripted ones
        self._swaps = [swapped(kind, "__call__", self._handed_on) for kind in kinds]
        self._handlers = threading.local()

    def _handed_on(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(target: Any, *args: Any, **kwargs: Any) -> Any:
            handler: CallHandler | None = getattr(self._handlers, "current", None)
            if handler is None:
                return original(target, *args, **kwargs)
            return handler(original, target, args, kwargs)

        return call

    def active(self) -> bool:
        """Does this thread follow them now?"""
        return getattr(self._handlers, "current", None) is not None

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Inside, this thread's calls pass straight through: trials are no part of the run."""
        with self._handled_by(None):
            yield

    @contextlib.contextmanager
    def through(self, handler: CallHandler) -> Iterator[None]:
        """Inside, this thread's calls go through the handler."""
        with contextlib.ExitStack() as stack:
            for swap in self._swaps:
                stack.enter_context(swap())
            stack.enter_context(self._handled_by(handler))
            yield

    @contextlib.contextmanager
    def _handled_by(self, handler: CallHandler | None) -> Iterator[None]:
        before = getattr(self._handlers, "current", None)
        self._handlers.current = handler
        try:
            yield
        finally:
            self._handlers.current = before


def _raise_limit() -> int:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(_DEEPER * limit + _OWN_FRAMES)
    return limit


# As torch.fx patches it; hooks could not go on past an error.
MODULE_CALLS = Following(nn.Module)
SCRIPT_CALLS = Following(*SCRIPTED_KINDS)
# A nest of modules that torch just manages must be managed here.
deeper_nests = WhileUsed(_raise_limit, sys.setrecursionlimit)
