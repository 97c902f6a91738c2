"""Taking back what a call has written down, so that it can be made once more with something changed."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias, runtime_checkable

Undo: TypeAlias = Callable[[], None]


@runtime_checkable
class Book(Protocol):
    """Something that is written while a model runs."""

    def bookmark(self) -> Undo:
        """What takes back all that is written from here on."""


def bookmark(books: Sequence[Book]) -> Undo:
    """The same for several books, the last one first."""
    undos = [book.bookmark() for book in books]

    def undo() -> None:
        for one in reversed(undos):
            one()

    return undo
