"""Faults of our own: noted, told once, and never raised into the user's code."""

import os
import traceback
import warnings
from collections.abc import Callable
from typing import TypeVar

from tb_shapeplugin.base.errors import ShapesError

Result = TypeVar("Result")

_OURS = os.path.dirname(os.path.dirname(__file__)) + os.sep


class Faults:
    """Those of one capture.

    Example:
        >>> faults = Faults()
        >>> try: 1 / 0
        ... except ZeroDivisionError as error: faults.note("reading a cell", error)
        >>> faults.texts()
        ('reading a cell: ZeroDivisionError: division by zero',)
    """

    def __init__(self) -> None:
        self._noted: dict[str, str] = {}  # what was lost → the fault

    def __bool__(self) -> bool:
        return bool(self._noted)

    def note(self, lost: str, fault: BaseException) -> None:
        """Keeps a fault; ``lost`` says in few words what the capture lacks by it. Of the same loss the first is kept."""
        own = [frame for frame in traceback.extract_tb(fault.__traceback__) if frame.filename.startswith(_OURS)]
        place = f" ({os.path.basename(own[-1].filename)}:{own[-1].lineno})" if own else ""
        self._noted.setdefault(lost, f"{type(fault).__name__}: {fault}".partition("\n")[0] + place)

    def guarded(self, lost: str, action: Callable[[], Result], otherwise: Result) -> Result:
        """What the action gives; ``otherwise``, and a note, where it fails by a fault of ours. A wrong call is the user's: it raises."""
        try:
            return action()
        except ShapesError:
            raise
        except Exception as fault:
            self.note(lost, fault)
            return otherwise

    def texts(self) -> tuple[str, ...]:
        """What is missing, and why, one line each."""
        return tuple(f"{lost}: {fault}" for lost, fault in self._noted.items())

    def tell(self) -> None:
        """One warning for all of them; none where there are none."""
        if self._noted:
            told = "; ".join(self.texts())
            warnings.warn(f"Shapes met a fault of its own and left out {told}. Your code goes on. Please report this.", stacklevel=4)
