"""A model that fails, what has to be said of it, and a near twin that runs or fails in another way."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch

Given: TypeAlias = tuple[Callable[..., Any], tuple[Any, ...]]


@dataclass(frozen=True)
class Fault:
    """One mismatch as the cases of the outside measure state them: place, kind, op and the two numbers."""

    kind: str
    module: str
    op: str
    line: str  # part of the statement
    got: Mapping[str, int]
    want: Mapping[str, int]
    fixed: bool = False  # does one argument repair it? Then a verified fix is due.


@dataclass(frozen=True)
class Row:
    """A failing model with all its faults, and its twin; ``twin_kind`` is what the twin fails with, "" where it runs."""

    model: Callable[[], Given]
    faults: tuple[Fault, ...]
    twin: Callable[[], Given]
    twin_kind: str = ""


def noise(*shape: int) -> torch.Tensor:
    """Zeros: nothing here depends on values."""
    return torch.zeros(shape)


def classes(*shape: int) -> torch.Tensor:
    """Class numbers, all of them 0."""
    return torch.zeros(shape, dtype=torch.long)
