"""Lets what torch.compile made run as it was written while this thread captures: dynamo sees no frame, and keeps its caches.

Dynamo would give up every frame that it meets below our modes, for good: a capture would leave the user's code uncompiled.
"""

import contextlib
import functools
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, TypeAlias

from tb_shapeplugin.tracing.while_used import WhileUsed, swapped

_DYNAMO, _CHOOSES = "torch._dynamo.eval_frame", "_callback_from_stance"  # who is to look at frames, from torch 2.6 on
_WRAPPERS = ("compile_wrapper", "_fn")  # what torch.compile puts around a function

# It compiles its own insides, whoever calls it, unless that is said.
_FLEX, _AS_WRITTEN = "torch.nn.attention.flex_attention", "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG"

# Told of each compiled function that is about to run: the function, its arguments, and the frame that calls it.
Told: TypeAlias = Callable[[Any, tuple[Any, ...], dict[str, Any], FrameType | None], None]
_captures = threading.local()


@contextlib.contextmanager
def uncompiled(told: Told) -> Iterator[None]:
    """Inside, this thread compiles nothing; other threads go on as ever."""
    before = getattr(_captures, "told", None)
    with contextlib.ExitStack() as stack:
        dynamo = sys.modules.get(_DYNAMO)
        if hasattr(dynamo, _CHOOSES):
            stack.enter_context(_swap(dynamo)())
        flex = sys.modules.get(_FLEX)
        if hasattr(flex, _AS_WRITTEN):
            stack.enter_context(_flex_as_written())
        _captures.told = told
        try:
            yield
        finally:
            _captures.told = before


def _say_as_written() -> bool:
    module = sys.modules[_FLEX]
    before = bool(getattr(module, _AS_WRITTEN))
    setattr(module, _AS_WRITTEN, True)
    return before


def _say_as_before(before: bool) -> None:
    setattr(sys.modules[_FLEX], _AS_WRITTEN, before)


_flex_as_written = WhileUsed(_say_as_written, _say_as_before)


@functools.cache
def _swap(dynamo: Any) -> WhileUsed[Any]:
    return swapped(dynamo, _CHOOSES, _handed_on)


def _handed_on(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def chosen(callback: Any) -> Any:
        told: Told | None = getattr(_captures, "told", None)
        if told is None:
            return original(callback)
        wrapper = sys._getframe(1)
        if callback not in (None, False) and wrapper.f_code.co_name in _WRAPPERS:  # what is disabled anyway comes through here, too
            given = wrapper.f_locals
            told(given.get("fn"), given.get("args", ()), given.get("kwargs", {}), wrapper.f_back)
        return None

    return chosen
