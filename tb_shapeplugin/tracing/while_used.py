"""Changes of the whole process that last as long as somebody uses them, in however many threads."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

State = TypeVar("State")


class WhileUsed(Generic[State]):
    """The first user makes the change, the last one takes it back.

    Args:
        make: makes it and gives what is needed to take it back.
        take_back: is given that.

    Example:
        >>> quiet = WhileUsed(gc.disable, lambda _: gc.enable())
        >>> with quiet(): ...  # doctest: +SKIP
    """

    def __init__(self, make: Callable[[], State], take_back: Callable[[State], None]) -> None:
        self._make = make
        self._take_back = take_back
        self._lock = threading.Lock()
        self._users = 0
        self._states: list[State] = []

    @contextlib.contextmanager
    def __call__(self) -> Iterator[None]:
        """One more user while it lasts."""
        with self._lock:
            if self._users == 0:
                self._states = [self._make()]
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    self._take_back(self._states.pop())


def swapped(owner: Any, name: str, replacement: Callable[[Any], Any]) -> WhileUsed[Any]:
    """An attribute that has another value meanwhile: what ``replacement`` makes of its own."""

    def make() -> Any:
        before = getattr(owner, name)
        setattr(owner, name, replacement(before))
        return before

    return WhileUsed(make, lambda before: setattr(owner, name, before))
