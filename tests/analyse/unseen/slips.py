"""Models whose own code raises, asserts or slips: no mismatch, and reported as exactly that."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from tests.analyse.unseen.row import Row, ones


class Around(nn.Module):
    """Runs a function of itself and its input."""

    def __init__(self, run: Callable[..., Any]) -> None:
        super().__init__()
        self.run, self.table, self.config = run, {"width": 4}, None

    def forward(self, x: torch.Tensor) -> Any:
        return self.run(self, x)


class Outer(nn.Module):
    """The slip is one module further down."""

    def __init__(self, run: Callable[..., Any]) -> None:
        super().__init__()
        self.inner = Around(run)

    def forward(self, x: torch.Tensor) -> Any:
        return self.inner(x)


class Misspelt(nn.Module):
    """Has no forward."""

    def forwards(self, x: torch.Tensor) -> torch.Tensor:
        return x


class OwnError(Exception):
    """Somebody's own."""


def refuses(_: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """A check of one's own that speaks of shapes as torch does."""
    if x.shape[-1] != 5:
        raise ValueError(f"The size of tensor a ({x.shape[-1]}) must match the size of tensor b (5)")
    return x


def insists(_: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """An assert without a word."""
    assert x.shape[-1] == 5
    return x


def silent(_: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """An exception of one's own that says nothing."""
    raise OwnError


def unfinished(_: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """What a subclass was to write."""
    raise NotImplementedError("write this")


def slip(run: Callable[..., Any], says: str, code: str, twin: Callable[..., Any], op: str = "python.error", deep: bool = False) -> Row:
    """A row whose model runs that function, whose twin runs the other one."""
    kind = Outer if deep else Around
    module = "inner" if deep else ""
    return Row(
        lambda: (kind(run), (ones(2, 4),)),
        "user_error",
        op,
        {},
        {},
        lambda: (kind(twin), (ones(2, 4),)),
        code=code,
        module=module,
        says=says,
    )


def passes(_: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """Nothing wrong."""
    return x.relu()


ROWS: dict[str, Row] = {
    "a key that isn't there": slip(
        lambda self, x: x * self.table["height"], "KeyError: 'height'", 'self.table["height"]', lambda self, x: x * self.table["width"]
    ),
    "an attribute of None": slip(
        lambda self, x: x * self.config.width, "AttributeError", "self.config.width", lambda self, x: x if self.config is None else x * 2
    ),
    "an attribute that nobody set": slip(lambda self, x: self.nothing(x), "nothing", "self.nothing(x)", passes),
    "a method that tensors don't have": slip(lambda _, x: x.softly(), "softly", "x.softly()", passes),
    "a division by zero": slip(
        lambda _, x: x * (1 // (x.shape[0] - 2)), "ZeroDivisionError", "x.shape[0] - 2", lambda _, x: x * (1 // x.shape[0])
    ),
    "a list that is too short": slip(lambda _, x: list(x)[5], "IndexError", "list(x)[5]", lambda _, x: list(x)[1]),
    "a name that nobody gave": slip(lambda _, x: x * unknown, "NameError", "x * unknown", passes),  # type: ignore[name-defined]  # noqa: F821  that is the slip
    "an iterator that is used up": slip(lambda _, x: next(iter([])), "StopIteration", "next(iter([]))", lambda _, x: next(iter([x]))),
    "a check of its own": slip(refuses, "ValueError: The size of tensor a (4)", "raise ValueError", passes, "python.raise"),
    "an assert without a word": slip(insists, "AssertionError", "assert x.shape[-1] == 5", passes, "python.raise"),
    "an error of its own without a word": slip(silent, "OwnError", "raise OwnError", passes, "python.raise"),
    "what a subclass was to write": slip(
        unfinished, "NotImplementedError: write this", "raise NotImplementedError", passes, "python.raise"
    ),
    "one module further down": slip(lambda self, x: self.table["deep"], "KeyError: 'deep'", 'self.table["deep"]', passes, deep=True),
    "a forward that is misspelt": Row(
        lambda: (Misspelt(), (ones(2, 4),)),
        "user_error",
        "python.error",
        {},
        {},
        lambda: (Around(passes), (ones(2, 4),)),
        says="forward",
    ),
}
