"""Other sizes or another dtype for the tensors that a twin is made of: what if the batch were twice as large?"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import nn

from tb_shapeplugin.record.values import Shape
from tb_shapeplugin.tracing.compat import FakeTensor, FakeTensorMode, device_of, no_function_modes, real_execution
from tb_shapeplugin.tracing.inputs import Spec
from tb_shapeplugin.tracing.tensors import shape_of

Typed: TypeAlias = "torch.Tensor | Spec"
ShapeAndDtype: TypeAlias = tuple[Shape, torch.dtype]


class Alteration(ABC):
    """What becomes of tensors; None where they stay as they are."""

    @abstractmethod
    def of_reached(self, tensor: Typed) -> ShapeAndDtype | None:
        """Of one that the model or its arguments hold."""

    @abstractmethod
    def of_stray(self, tensor: torch.Tensor) -> ShapeAndDtype | None:
        """Of one that code finds outside, as a loss finds its labels, or that an earlier run read."""


@dataclass(frozen=True)
class InputSize:
    """A size that inputs share: its name, and the axes that have it of each of them, by the tensor's identity."""

    name: str  # "batch" | "sequence" | "side"
    logged: int
    axes: Mapping[int, tuple[int, ...]]

    def axes_of_stray(self, tensor: torch.Tensor) -> tuple[int, ...]:
        """The axes that a tensor from outside has it at, as inputs of its kind would."""
        return axes_with(self.name, self.logged, shape_of(tensor), tensor.is_floating_point())


def axes_with(name: str, size: int, shape: Shape, floating: bool) -> tuple[int, ...]:
    """The axes at which a tensor of that shape has a batch, a sequence or a side of a picture of that size.

    Example:
        >>> axes_with("sequence", 7, (4, 7, 16), floating=True)
        (1,)
    """
    rank = len(shape)
    if name == "batch":
        at: Sequence[int] = (0,) if rank else ()
    elif name == "side":
        at = (rank - 2, rank - 1) if floating and rank >= 4 else ()
        return tuple(at) if at and all(shape[axis] == size for axis in at) else ()
    elif floating:  # features may be as many as there are steps: those of masks (N × 1 × S × S) aren't
        at = (2, 3) if rank == 4 else (1,) if rank in (2, 3) else ()
    else:
        at = range(1, rank)
    return tuple(axis for axis in at if shape[axis] == size)


class OtherSizes(Alteration):
    """Inputs, and what belongs to them, with other sizes."""

    def __init__(self, sizes: Sequence[tuple[InputSize, int]]) -> None:
        self._sizes = sizes

    def of_reached(self, tensor: Typed) -> ShapeAndDtype | None:
        """An input's, where it has one of the sizes."""
        return self._altered(tensor, [(size.axes.get(id(tensor), ()), new) for size, new in self._sizes])

    def of_stray(self, tensor: torch.Tensor) -> ShapeAndDtype | None:
        """One's that looks like such an input."""
        return self._altered(tensor, [(size.axes_of_stray(tensor), new) for size, new in self._sizes])

    @staticmethod
    def _altered(tensor: Typed, changes: Sequence[tuple[tuple[int, ...], int]]) -> ShapeAndDtype | None:
        shape = list(shape_of(tensor) if isinstance(tensor, torch.Tensor) else tensor.shape)
        before = list(shape)
        for axes, new in changes:
            for axis in axes:
                shape[axis] = new
        return None if shape == before else (tuple(shape), tensor.dtype)


class OtherDtype(Alteration):
    """Everything floating in another dtype."""

    def __init__(self, dtype: torch.dtype) -> None:
        self._dtype = dtype

    def of_reached(self, tensor: Typed) -> ShapeAndDtype | None:
        """A floating tensor's."""
        return (tuple(tensor.shape), self._dtype) if tensor.dtype.is_floating_point and tensor.dtype != self._dtype else None

    def of_stray(self, tensor: torch.Tensor) -> ShapeAndDtype | None:
        """The same."""
        return self.of_reached(tensor)


class Altogether(Alteration):
    """Several at once, of which none undoes another."""

    def __init__(self, parts: Sequence[Alteration]) -> None:
        self._parts = parts

    def of_reached(self, tensor: Typed) -> ShapeAndDtype | None:
        """What all of them make of it."""
        return _combined(tensor, [part.of_reached(tensor) for part in self._parts])

    def of_stray(self, tensor: torch.Tensor) -> ShapeAndDtype | None:
        """The same."""
        return _combined(tensor, [part.of_stray(tensor) for part in self._parts])


def _combined(tensor: Typed, altered: Sequence[ShapeAndDtype | None]) -> ShapeAndDtype | None:
    shape, dtype = before = tuple(tensor.shape), tensor.dtype
    for each in altered:
        if each is not None:
            shape = each[0] if each[0] != before[0] else shape
            dtype = each[1] if each[1] != before[1] else dtype
    return None if (shape, dtype) == before else (shape, dtype)


def altered_fake(mode: FakeTensorMode, tensor: torch.Tensor, altered: ShapeAndDtype) -> torch.Tensor:
    """A fake in the tensor's place; nobody who listens to ops hears of it."""
    shape, dtype = altered
    with real_execution(), no_function_modes():
        content = torch.empty(shape, dtype=dtype, device="meta", requires_grad=tensor.requires_grad)
        made = FakeTensor(mode, content, device_of(tensor))
    if isinstance(tensor, nn.Parameter):
        made._is_param = True  # what makes it an nn.Parameter
    return made
