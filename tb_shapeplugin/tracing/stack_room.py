"""Room on Python's stack, so that no hot call stands where a new piece of it begins.

Since Python 3.11 frames stand in pieces of 16 KB. A call that is the first of a piece asks the system for memory, and gives it
back when it returns: where such a call is one of thousands, a run takes up to twice as long, by the luck of how deep it began.
"""

from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")

_PIECE_BYTES, _SLOT_BYTES = 2 << 20, 8


def with_room(run: Callable[[], Result]) -> Result:
    """What ``run`` gives, called from a frame so large that it gets a piece of its own, half of which is left for the frames below it."""
    return run()


# A frame takes what its code asks for, and no memory is touched that it doesn't use.
with_room.__code__ = with_room.__code__.replace(co_stacksize=_PIECE_BYTES // 2 // _SLOT_BYTES)
