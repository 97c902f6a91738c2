"""Compiled models: what torch.compile would refuse is found without compiling anything, not even our own frames."""

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import nn

import tb_shapeplugin as shapes
from tb_shapeplugin.tracing.pinned_sizes import pinned_size


@pytest.fixture(autouse=True)
def nothing_compiled_yet() -> Iterator[None]:
    """Each test begins with empty caches, and without the log lines of guards that fail on purpose."""
    torch._dynamo.reset()
    logger = logging.getLogger("torch._guards")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    yield
    logger.setLevel(level)
    torch._dynamo.reset()


class Table(nn.Module):
    """x[n, 4] + a table of some rows."""

    def __init__(self, rows: int = 5) -> None:
        super().__init__()
        self.register_buffer("table", torch.ones(rows, 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        moved = x + self.table
        return torch.relu(moved)


class Around(nn.Module):
    """Something, then a compiled part."""

    def __init__(self, part: nn.Module) -> None:
        super().__init__()
        self.part = part

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.part(marked(x.relu(), 0))


def marked(x: torch.Tensor, *dims: int) -> torch.Tensor:
    """The same tensor's copy with those dims declared variable."""
    x = x.clone()
    torch._dynamo.mark_dynamic(x, dims)
    return x


def compiled(model: Any) -> Any:
    """As torch.compile gives it, without a compiler behind it."""
    return torch.compile(model, backend="eager")


def called(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """Compiles and calls."""
    x = marked(x, 0)
    return compiled(model)(x)


def frames() -> int:
    """How many frames dynamo has looked at."""
    return sum(torch._dynamo.utils.counters["frames"].values())


PINS: dict[str, tuple[Callable[..., Any], Callable[[], tuple[Any, ...]], int, int]] = {
    # what is compiled, its arguments, the dim and the size that it is pinned to
    "a table": (Table(), lambda: (marked(torch.ones(5, 4), 0),), 0, 5),
    "a branch on the size": (lambda x: x + 1 if x.shape[0] == 5 else x - 1, lambda: (marked(torch.ones(5, 4), 0),), 0, 5),
    "a view of fixed rows": (lambda x: x.view(5, 2, 2), lambda: (marked(torch.ones(5, 4), 0),), 0, 5),
    "a width": (nn.Linear(4, 3), lambda: (marked(torch.ones(5, 4), 1),), 1, 4),
    "a partner of fixed size": (lambda a, b: a + b, lambda: (marked(torch.ones(5, 4), 0), torch.ones(5, 4)), 0, 5),
    "a loop over the rows": (lambda x: sum(row.sum() for row in x), lambda: (marked(torch.ones(5, 4), 0),), 0, 5),
    "a range over the rows": (lambda x: [x[i] for i in range(x.shape[0])], lambda: (marked(torch.ones(5, 4), 0),), 0, 5),
    "inside a list": (lambda given: given[0] + torch.ones(5, 4), lambda: ([marked(torch.ones(5, 4), 0)],), 0, 5),
}
FREE: dict[str, tuple[Callable[..., Any], Callable[[], tuple[Any, ...]]]] = {
    "a row that broadcasts": (Table(1), lambda: (marked(torch.ones(5, 4), 0),)),
    "a size of one": (Table(1), lambda: (marked(torch.ones(1, 4), 0),)),
    "two that vary alike": (lambda a, b: a + b, lambda: (marked(torch.ones(5, 4), 0), marked(torch.ones(5, 4), 0))),
    "a size as a number": (lambda x: x * int(x.shape[0]), lambda: (marked(torch.ones(5, 4), 0),)),
    "a mean by the size": (lambda x: x.sum() / x.shape[0] / float(x.shape[1]), lambda: (marked(torch.ones(5, 4), 0, 1),)),
    "a norm": (nn.BatchNorm1d(4), lambda: (marked(torch.ones(5, 4), 0),)),
    "places by the size": (lambda x: x + torch.arange(x.shape[0])[:, None], lambda: (marked(torch.ones(5, 4), 0),)),
    "a recurrent layer": (nn.LSTM(4, 2), lambda: (marked(torch.ones(3, 7, 4), 1),)),
    "nothing declared": (Table(), lambda: (torch.ones(5, 4),)),
}


@pytest.mark.parametrize("name", PINS)
def test_a_size_that_the_code_pins_is_found_and_torch_compile_refuses_it(name: str) -> None:
    """The same dim and number as torch.compile raises with."""
    model, arguments, dim, size = PINS[name]
    found = pinned_size(model, arguments(), {})
    assert found is not None
    assert (found.dim, found.size) == (dim, size)
    with pytest.raises(RuntimeError, match=f"marked .* as dynamic but your code specialized it to be a constant \\({size}\\)"):
        compiled(model)(*arguments())
    assert f"You marked {found.name}.size()[{dim}] as dynamic" in str(found.error)


@pytest.mark.parametrize("name", FREE)
def test_a_size_that_stays_free_is_let_alone_and_torch_compile_runs_it(name: str) -> None:
    """No false alarm."""
    model, arguments = FREE[name]
    assert pinned_size(model, arguments(), {}) is None
    compiled(model)(*arguments())


def test_the_finding_stands_at_the_call_and_names_the_line_that_pins() -> None:
    """The op that pins the size is the origin."""
    capture = shapes.capture(called, (Table(), torch.ones(5, 4)))
    (finding,) = capture.findings
    assert (finding.kind, finding.module, finding.op, finding.code) == ("compile_guard", "", "torch.compile", "return compiled(model)(x)")
    assert (dict(finding.got), dict(finding.want)) == ({"batch": 5}, {"batch": 5})
    assert finding.origin is not None
    assert (finding.origin.op, finding.origin.code) == ("torch.Tensor.add", "moved = x + self.table")
    assert f"test_compiled.py:{finding.origin.line}" in finding.message
    assert not capture.completed
    assert [op.name for op in capture.ops if not op.failed] == ["torch.Tensor.clone", "torch.Tensor.add", "torch.relu"]


def test_a_table_that_broadcasts_completes() -> None:
    """The repaired one."""
    capture = shapes.capture(called, (Table(1), torch.ones(5, 4)))
    assert capture.completed
    assert not capture.findings


@pytest.mark.parametrize("in_place", [False, True])
def test_a_compiled_part_is_asked_too(in_place: bool) -> None:
    """The finding's module is the caller's."""
    part = Table()
    if in_place:
        part.compile(backend="eager")
    capture = shapes.capture(Around(part if in_place else compiled(part)), torch.ones(5, 4))
    (finding,) = capture.findings
    assert (finding.kind, finding.module, finding.code) == ("compile_guard", "", "return self.part(marked(x.relu(), 0))")


@pytest.mark.parametrize("model", [Table(), lambda x: x + torch.ones(5, 4)])
def test_a_model_that_is_compiled_itself_is_asked_with_the_marks_of_its_arguments(model: Any) -> None:
    """What was declared before the capture counts."""
    capture = shapes.capture(compiled(model), marked(torch.ones(5, 4), 0))
    assert [finding.kind for finding in capture.findings] == ["compile_guard"]
    assert not capture.completed
    assert shapes.capture(compiled(model), torch.ones(5, 4)).completed


def test_a_handler_of_the_users_keeps_the_error() -> None:
    """Who falls back to the uncompiled model completes."""

    def falls_back(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
        try:
            return called(model, x)
        except RuntimeError:
            return model(x)

    capture = shapes.capture(falls_back, (Table(), torch.ones(5, 4)))
    assert capture.completed
    assert not capture.findings


def test_a_run_that_stops_at_errors_stops_there() -> None:
    """Nothing of the compiled call is written down then."""
    capture = shapes.capture(called, (Table(), torch.ones(5, 4)), continue_past_errors=False)
    assert [finding.kind for finding in capture.findings] == ["compile_guard"]
    assert "torch.relu" not in [op.name for op in capture.ops]


@pytest.mark.parametrize("model", [Table(1), lambda x: x.relu() + 1])
def test_below_a_compiled_call_none_of_our_frames_is_compiled(model: Any) -> None:
    """Dynamo looks at no frame: its caches, and the user's code objects, are as before."""
    inside = compiled(model)
    before = frames()
    assert shapes.capture(lambda x: inside(x), torch.ones(5, 4)).completed
    assert frames() == before
    inside(torch.ones(5, 4))
    assert frames() > before


def test_a_compiled_function_inside_is_asked_too() -> None:
    """It has no module to be met at."""

    def plain(x: torch.Tensor) -> torch.Tensor:
        return x + torch.ones(5, 4)

    inside = compiled(plain)
    capture = shapes.capture(lambda x: inside(marked(x, 0)), torch.ones(5, 4))
    assert [(finding.kind, finding.op) for finding in capture.findings] == [("compile_guard", "torch.compile")]
    assert any("torch.compile" in text for text in capture.unchecked)
