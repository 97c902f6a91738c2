"""Pauses Python's cyclic garbage collection while a twin is asked.

A capture makes many small objects, which sets off full collections over everything the process holds: a fifth of a second
each where large libraries are loaded. Fakes hold no memory, so nothing is lost by waiting.
"""

import contextlib
import gc
import threading
from collections.abc import Iterator

_lock = threading.Lock()
_users = 0
_was_enabled = True


@contextlib.contextmanager
def paused_collection() -> Iterator[None]:
    """No cyclic collection inside; the last of several users in several threads turns it on again, if it was on."""
    global _users, _was_enabled  # noqa: PLW0603  one collector for the whole process
    with _lock:
        if _users == 0:
            _was_enabled = gc.isenabled()
            gc.disable()
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0 and _was_enabled:
                gc.enable()
