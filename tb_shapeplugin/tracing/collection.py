"""Keeps Python's cyclic garbage collector from walking over everything that the process holds, again and again, while we are at work.

A capture makes many small objects, which sets off full collections: a fifth of a second each where large libraries are loaded.
"""

import contextlib
import gc
import threading
from collections.abc import Iterator

_NEVER = 1 << 30  # younger generations that are collected before the oldest one is


class _Pauses:
    """The collector's settings for the whole process: the first of several users in several threads changes them, the last one puts them back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._paused = 0
        self._was_enabled = True
        self._young = 0
        self._threshold = (0, 0, 0)

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        with self._lock:
            if self._paused == 0:
                self._was_enabled = gc.isenabled()
                gc.disable()
            self._paused += 1
        try:
            yield
        finally:
            with self._lock:
                self._paused -= 1
                if self._paused == 0 and self._was_enabled:
                    gc.enable()

    @contextlib.contextmanager
    def young_only(self) -> Iterator[None]:
        with self._lock:
            if self._young == 0:
                self._threshold = gc.get_threshold()
                gc.set_threshold(*self._threshold[:2], _NEVER)
            self._young += 1
        try:
            yield
        finally:
            with self._lock:
                self._young -= 1
                if self._young == 0 and gc.get_threshold()[2] == _NEVER:  # else somebody has set others meanwhile
                    gc.set_threshold(*self._threshold)


_pauses = _Pauses()


def paused_collection() -> contextlib.AbstractContextManager[None]:
    """No cyclic collection inside. Fakes and notes hold no memory, so nothing is lost by waiting."""
    return _pauses.paused()


def young_collection() -> contextlib.AbstractContextManager[None]:
    """No full collection inside, as a model runs for real: what it throws away in circles is collected still, while it is young."""
    return _pauses.young_only()
