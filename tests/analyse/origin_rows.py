"""A table of models that fail, each with what has to be said of where the wrong number comes from."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import torch
from torch import nn

Make: TypeAlias = Callable[[], Any]
Forward: TypeAlias = Callable[..., Any]


class Net(nn.Module):
    """A module whose forward is a function of itself and its inputs."""

    def __init__(self, forward: Forward, parts: dict[str, Any]) -> None:
        super().__init__()
        self._forward = forward
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, *args: Any) -> Any:
        return self._forward(self, *args)


@dataclass(frozen=True)
class Row:
    """One failing model: its forward, its inputs' shapes (or tensors), what has to be said, and which call of which line made it."""

    forward: Forward
    inputs: tuple[Any, ...]
    why: str
    made_by: str  # the op's short name, or the input's, buffer's or parameter's
    at: str = ""  # part of its statement
    parts: dict[str, Make] = field(default_factory=dict)

    def build(self) -> tuple[nn.Module, tuple[Any, ...]]:
        """A fresh model, with its inputs."""
        torch.manual_seed(0)
        made = {name: part() for name, part in self.parts.items()}
        inputs = tuple(torch.randn(given) if isinstance(given, tuple) else given() for given in self.inputs)
        return Net(self.forward, made), inputs


class Table(dict[str, Row]):
    """Rows by name, filled by its decorator, which stands above a forward."""

    def row(self, *inputs: Any, why: str, by: str, at: str = "", **parts: Make) -> Callable[[Forward], Forward]:
        """Registers the decorated forward, with parts by name as the model's attributes."""

        def register(forward: Forward) -> Forward:
            assert forward.__name__ not in self, f"two rows are called {forward.__name__}"
            self[forward.__name__] = Row(forward, inputs, why, by, at, parts)
            return forward

        return register
