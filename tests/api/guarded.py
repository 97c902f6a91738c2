"""Loops that fail inside a guard: what the exception then carries, and what the run then holds."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
import torch.nn.functional as F
from torch import nn

import tb_shapeplugin as shapes
from tb_shapeplugin.api import guarding
from tb_shapeplugin.record.finding import Finding


class Net(nn.Module):
    """A convolution, a flatten, a linear layer: right for pictures of 14×14 when the width is 400."""

    def __init__(self, width: int = 400) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 16, 5)
        self.fc = nn.Linear(width, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.max_pool2d(F.relu(self.conv(x)), 2)
        return self.fc(torch.flatten(x, 1))


def pictures(count: int = 4, side: int = 14) -> torch.Tensor:
    """A batch that Net takes."""
    return torch.ones(count, 1, side, side)


def labels(count: int = 4) -> torch.Tensor:
    """Class numbers for it."""
    return torch.zeros(count, dtype=torch.long)


@dataclass(frozen=True)
class Crashed:
    """What came out of a guard."""

    error: Exception
    note: str
    captures: list[shapes.Capture]

    @property
    def captured(self) -> shapes.Capture:
        """The only one."""
        (captured,) = self.captures
        return captured

    @property
    def finding(self) -> Finding:
        """The first one."""
        return self.captured.findings[0]


def crashed(folder: Path, model: Any, loop: Callable[..., Any], *args: Any, seconds: float = 120.0) -> Crashed:
    """What a loop leaves that fails inside a guard; a busy machine gets more time than a user would give it."""
    with shapes.ShapeWriter(folder) as writer, patch.object(guarding, "_SECONDS", seconds):
        error = raised_by(lambda: _guarded(writer, model, loop, args))
    return Crashed(error, "\n".join(getattr(error, "__notes__", [])), shapes.load(folder))


def _guarded(writer: Any, model: Any, loop: Callable[..., Any], args: tuple[Any, ...]) -> None:
    with shapes.guard(writer, model):
        loop(model, *args)


def raised_by(run: Callable[[], Any]) -> Exception:
    """The exception that a call ends with."""
    try:
        run()
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")
