"""Calls into what can't be looked into: TorchScript, followed as one call; and C++ that runs aten ops on its own."""

import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import torch

from tb_shapeplugin.record.trace import ChildFact
from tb_shapeplugin.tracing.compat import SCRIPTED_KINDS, no_function_modes

# The name of a call that ran aten ops which no torch function had called.
NATIVE = "python.opaque"


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
