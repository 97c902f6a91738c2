"""Branches of forward that never ran: each kind, told by its head's line, and nothing that did run."""

import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

import tb_shapeplugin as shapes

COLUMNS = sys.version_info >= (3, 11)  # instructions know their columns


def never_ran(function: Any, *args: Any, **options: Any) -> list[tuple[int, str]]:
    """Line within the function (1 is its def) and code of every branch."""
    code = function.__code__ if hasattr(function, "__code__") else type(function).forward.__code__
    captured = shapes.capture(function, args, thorough=True, **options)
    assert captured.branches is not None
    return [(branch.line - code.co_firstlineno + 1, branch.code) for branch in captured.branches]


def chain(x: torch.Tensor, kind: str) -> torch.Tensor:
    """If, elif and else."""
    if kind == "a":
        x = x + 1
    elif kind == "b":
        x = x + 2
    else:
        x = x + 3
    return x


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("a", [(5, 'elif kind == "b":')]),
        ("b", [(3, 'if kind == "a":'), (7, "else:")]),
        ("c", [(3, 'if kind == "a":'), (5, 'elif kind == "b":')]),
    ],
)
def test_arms_of_a_chain(kind: str, expected: list[tuple[int, str]]) -> None:
    """What lies below an arm that never ran is told once, by the arm."""
    assert never_ran(chain, torch.ones(2), kind) == expected


def loops(x: torch.Tensor, turns: int) -> torch.Tensor:
    """For and while."""
    for _ in range(turns):
        x = x + 1
    while turns > 1:
        x, turns = x * 2, turns - 1
    return x


@pytest.mark.parametrize(("turns", "expected"), [(0, [3, 5]), (1, [5]), (2, [])])
def test_bodies_of_loops(turns: int, expected: list[int]) -> None:
    """A loop that was never entered."""
    assert [line for line, _ in never_ran(loops, torch.ones(2), turns)] == expected


def early(x: torch.Tensor, stop: bool) -> torch.Tensor:
    """Leaves before the end."""
    if stop:
        return x
    x = x + 1
    return x * 2


def test_what_follows_an_early_return() -> None:
    """The rest of the function is the other branch."""
    assert never_ran(early, torch.ones(2), True) == [(5, "x = x + 1")]
    assert never_ran(early, torch.ones(2), False) == [(3, "if stop:")]


def matched(x: torch.Tensor, kind: int) -> torch.Tensor:
    """Cases of a match, one of them with an inner branch."""
    match kind:
        case 1:
            if x.dim() > 1:
                x = x.flatten()
        case _:
            x = -x
    return x


def test_cases_of_a_match() -> None:
    """Those that weren't chosen, and inside the chosen one."""
    assert never_ran(matched, torch.ones(2), 1) == [(5, "if x.dim() > 1:"), (7, "case _:")]


@pytest.mark.skipif(not COLUMNS, reason="Python 3.10 tells no columns")
def test_arms_on_one_line() -> None:
    """A conditional expression, and a statement beside its if."""

    def function(x: torch.Tensor, flag: bool) -> torch.Tensor:
        y = x * (2 if flag else 3)
        if flag: y = y + 1  # noqa: E701  # fmt: skip
        return y

    assert never_ran(function, torch.ones(2), True) == [(2, "2 if flag else 3")]
    one_line = "if flag: y = y + 1  # noqa: E701  # fmt: skip"
    assert never_ran(function, torch.ones(2), False) == [(2, "2 if flag else 3"), (3, one_line)]


def test_methods_that_forward_calls_count_too() -> None:
    """Of the module's class and its bases, decorated ones included; functions elsewhere don't."""

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        import functools

        @functools.wraps(function)
        def around(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        return around

    class Base(nn.Module):
        def features(self, x: torch.Tensor) -> torch.Tensor:
            if x.is_complex():
                x = x.abs()
            return x

    class Net(Base):
        @decorated
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if not self.training:
                x = x * 2
            return self.features(x)

    captured = shapes.capture(nn.Sequential(Net(), Net()), torch.ones(2), thorough=True)
    assert captured.branches is not None
    assert [branch.code for branch in captured.branches] == ["if not self.training:", "if x.is_complex():"]
    paths = [row.path for row in captured.modules]
    assert [[paths[module] for module in branch.modules] for branch in captured.branches] == [["0", "1"], ["0", "1"]]
    assert captured.branches[0].function == "Net.forward"


def test_a_debugger_keeps_its_trace_function() -> None:
    """Nobody's tool is switched off: the question stays open, and the capture says so."""
    met: list[str] = []

    def tool(frame: Any, event: str, arg: Any) -> None:
        met.append(event)

    before = sys.gettrace()
    sys.settrace(tool)
    try:
        captured = shapes.capture(chain, (torch.ones(2), "a"), thorough=True)
        assert sys.gettrace() is tool
    finally:
        sys.settrace(before)
    assert captured.branches is None
    assert any("debugger" in text for text in captured.unchecked)


@pytest.mark.parametrize("execution", ["auto", "fake", "real"])
def test_no_trace_function_is_left_behind(execution: Any) -> None:
    """Also when the forward fails."""

    def failing(x: torch.Tensor) -> torch.Tensor:
        if x.dim() > 7:
            return x
        return x @ torch.ones(5, 5)

    captured = shapes.capture(failing, torch.ones(2, 4), thorough=True, execution=execution)
    assert not captured.completed
    assert sys.gettrace() is None
    assert captured.branches is not None
    assert [branch.code for branch in captured.branches] == ["if x.dim() > 7:"]
