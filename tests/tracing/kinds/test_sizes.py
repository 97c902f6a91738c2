"""Very many modules, very deep nesting: no recursion limit is met anywhere."""

import subprocess
import sys
from typing import Any

import pytest
import torch
from torch import nn

import tb_shapeplugin as shapes
from tests.tracing.kinds.checking import WITH_VALUES, checked
from tests.tracing.pictures import Picture, picture
from tests.zoo.structure import nested


def test_a_model_with_five_thousand_submodules() -> None:
    """Fifty blocks of a hundred layers, of which every second one runs."""

    class Blocks(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.blocks = nn.ModuleList(nn.ModuleList(nn.Linear(2, 2) for _ in range(100)) for _ in range(50))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            for block in self.blocks:
                for layer in block[::2]:
                    x = layer(x)
            return x

    capture = checked(Blocks(), (torch.randn(1, 2),), executions=WITH_VALUES)
    assert len(capture.ops) == 2500
    assert sum(not row.called for row in capture.modules) == 2500 + 51


def test_a_flat_chain_of_ten_thousand_layers() -> None:
    """One Sequential."""
    model = nn.Sequential(*(nn.Linear(2, 2) for _ in range(10_000)))
    assert len(checked(model, (torch.randn(1, 2),), executions=WITH_VALUES).ops) == 10_000


class Chain(nn.Module):
    """A link holds the next one but calls nothing of it: depth without nested calls."""

    def __init__(self, after: nn.Module | None) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.after = after

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        link: nn.Module | None = self
        while isinstance(link, Chain):
            x, link = link.layer(x), link.after
        return x


def links_of(model: nn.Module, *rest: Any) -> Picture:
    """Each link's picture; by the path from the first one, the last one's would be very long."""
    links: list[Any] = [model]
    while isinstance(links[-1], Chain):
        links.append(links[-1].after)
    return picture(*links, *rest)


def chain(links: int) -> nn.Module:
    """A linked list of layers."""
    model: nn.Module | None = None
    for _ in range(links):
        model = Chain(model)
    assert model is not None
    return model


@pytest.mark.parametrize("execution", ["auto", "real", "fake"])
def test_a_chain_of_two_thousand_modules_in_one_another(execution: str) -> None:
    """Copied, run, told, encoded, printed, at Python's usual recursion limit."""
    limit = sys.getrecursionlimit()
    ran = "real" if execution == "real" else "fake"
    capture = checked(chain(2000), (torch.randn(1, 2),), executions=[execution], ran=ran, photographed=links_of)
    assert len(capture.ops) == 2000
    assert execution != "auto" or str(capture).count("\n") > 2000
    assert sys.getrecursionlimit() == limit


_DEEP_CALLS = """
import sys
sys.setrecursionlimit({limit})
import torch
import tb_shapeplugin as shapes
from tb_shapeplugin.wire.decode import decode
from tb_shapeplugin.wire.encode import encode
from tests.zoo.structure import nested
model, x = nested(2000), torch.randn(1, 2)
model(x)
for execution in ("auto", "real", "fake"):
    capture = shapes.capture(model, x, execution=execution)
    assert capture.completed, (execution, capture.error)
    assert capture.execution == ("real" if execution == "real" else "fake"), capture.unchecked
    assert len(capture.ops) == 2001, len(capture.ops)
    assert decode(encode(capture.record)) == capture.record
assert len(str(capture)) > 2000
assert max(row.depth for row in capture.modules) == 2000
assert sys.getrecursionlimit() == {limit}
print("fine")
"""


@pytest.mark.parametrize("limit", [8100, 100_000])
def test_two_thousand_nested_calls_where_a_plain_run_completes(limit: int) -> None:
    """torch needs about four levels of Python's stack a module: at 8100 the plain run just completes, and so must the capture."""
    done = subprocess.run([sys.executable, "-c", _DEEP_CALLS.format(limit=limit)], capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stdout.strip()) == (0, "fine"), done.stderr[-3000:]


def test_a_plain_run_that_meets_the_limit_is_a_failed_model() -> None:
    """At Python's usual limit torch itself can't run it: a result like any other, in every execution."""
    with pytest.raises(RecursionError):
        nested(2000)(torch.randn(1, 2))
    for execution in ("auto", "real", "fake"):
        capture = shapes.capture(nested(2000), torch.randn(1, 2), execution=execution, verify_fixes=False)
        assert not capture.completed
        assert capture.error.startswith("RecursionError")


class Endless(nn.Module):
    """x ─ layer ─ itself, without an end, by a call or straight through forward."""

    def __init__(self, called: bool) -> None:
        super().__init__()
        self.layer, self.called = nn.Linear(2, 2), called

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        again = self if self.called else self.forward
        return again(self.layer(x))


@pytest.mark.parametrize("called", [True, False])
def test_a_model_that_calls_itself_without_an_end_is_told_at_its_line(called: bool) -> None:
    """Where the stack runs out there is no room to write the failure down: it is, once the stack is free again."""
    capture = shapes.capture(Endless(called), torch.randn(1, 2))
    (finding,) = capture.findings
    assert (finding.kind, finding.code, finding.fixes) == ("user_error", "return again(self.layer(x))", ())
    assert not capture.completed and not capture.unchecked


def test_arguments_nested_deeper_than_any_limit() -> None:
    """A list in a list, two thousand deep, and one that holds itself."""
    deep: list[object] = [torch.ones(2)]
    for _ in range(2000):
        deep = [deep]
    circle: list[object] = [torch.ones(2)]
    circle.append(circle)

    def innermost(value: object) -> torch.Tensor:
        while isinstance(value, list):
            value = value[0]
        assert isinstance(value, torch.Tensor)
        return value + 1

    for given in (deep, circle):
        capture = shapes.capture(innermost, (given,))
        assert capture.completed, capture.error
        assert capture.outputs[0].tensor >= 0
