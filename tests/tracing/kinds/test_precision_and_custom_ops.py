"""Autocast, autograd functions of the user, and custom ops: with a shape-level kernel, without one, with one that is wrong."""

import contextlib
from typing import Any

import pytest
import torch
from torch import nn

from tests.tracing.kinds.checking import WITH_VALUES, checked, places
from tests.tracing.kinds.small import Around, TwoLayers, batch


def dtypes(capture: Any) -> dict[str, str]:
    """Of each op by its short name, the dtype of its output."""
    return {op.name.rpartition(".")[2]: op.outputs[0].dtype for op in capture.ops}


def test_the_callers_autocast_gives_its_dtypes() -> None:
    """Linear in bfloat16, what follows in its dtype, the loss in float32, as autocast's lists say."""

    class Scored(TwoLayers):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return nn.functional.cross_entropy(super().forward(x), y)

    capture = checked(Scored(), (batch(), torch.tensor([0, 1, 1])), around=lambda: torch.autocast("cpu", torch.bfloat16))
    assert dtypes(capture) == {"linear": "bfloat16", "relu": "bfloat16", "cross_entropy": "float32"}


def test_autocast_inside_a_forward_holds_for_its_part() -> None:
    """One layer inside, one outside, and autocast switched off again within the caller's."""

    class Mixed(TwoLayers):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            with torch.autocast("cpu", torch.bfloat16):
                x = torch.relu(self.first(x))
            with torch.autocast("cpu", enabled=False):
                return self.second(x.float())

    capture = checked(Mixed(), (batch(),), around=lambda: torch.autocast("cpu", torch.float16))
    assert [op.outputs[0].dtype for op in capture.ops if op.name.endswith("linear")] == ["bfloat16", "float32"]


def test_models_in_half_and_double_precision() -> None:
    """The dtype is the model's own."""
    for dtype in (torch.bfloat16, torch.float16, torch.float64):
        capture = checked(TwoLayers().to(dtype), (batch().to(dtype),))
        assert {op.outputs[0].dtype for op in capture.ops} == {str(dtype).removeprefix("torch.")}


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x * x.sigmoid()

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        (x,) = ctx.saved_tensors
        return gradient * x.sigmoid() * (1 + x * (1 - x.sigmoid()))


class UsesSwish(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return Swish.apply(self.fc(x)).sum()


@pytest.mark.parametrize("around", [contextlib.nullcontext, torch.no_grad])
def test_ops_inside_an_autograd_function_are_recorded(around: Any) -> None:
    """With and without gradients: apply itself is no op, what its forward calls is."""
    capture = checked(UsesSwish(), (batch(),), around=around)
    assert places(capture) == [("linear", "fc"), ("sigmoid", ""), ("mul", ""), ("sum", "")]


@torch.library.custom_op("kinds_of_model::rolled", mutates_args=())
def rolled(x: torch.Tensor, by: int) -> torch.Tensor:
    """Has a shape-level kernel."""
    return torch.roll(x, by, 0)


@rolled.register_fake
def _(x: torch.Tensor, by: int) -> torch.Tensor:
    return torch.empty_like(x)


@torch.library.custom_op("kinds_of_model::opaque", mutates_args=())
def opaque(x: torch.Tensor) -> torch.Tensor:
    """Has none."""
    return torch.from_numpy(x.detach().numpy().repeat(2, axis=-1))


@torch.library.custom_op("kinds_of_model::widened", mutates_args=())
def widened(x: torch.Tensor) -> torch.Tensor:
    """Its shape-level kernel gives another shape than its real one."""
    return torch.cat([x, x], -1)


@widened.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


@torch.library.custom_op("kinds_of_model::halved", mutates_args=())
def halved(x: torch.Tensor) -> torch.Tensor:
    """Its shape-level kernel raises where its real one runs."""
    return x[..., : x.shape[-1] // 2].clone()


@halved.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    raise RuntimeError("the shape-level kernel is not ready for this")


@torch.library.custom_op("kinds_of_model::counted", mutates_args=("table",))
def counted(table: torch.Tensor, x: torch.Tensor) -> None:
    """Gives nothing and writes to its first operand."""
    table.add_(x.sum(0))


@counted.register_fake
def _(table: torch.Tensor, x: torch.Tensor) -> None:
    return None


OPS: dict[str, Any] = {"rolled": rolled, "opaque": opaque, "widened": widened, "halved": halved}


class Calls(nn.Module):
    """fc ─ a custom op ─ relu"""

    def __init__(self, name: str, *more: Any) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.name = name
        self.more = more

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return OPS[self.name](self.fc(x), *self.more).relu()


def test_a_custom_op_with_a_shape_level_kernel_is_one_op() -> None:
    """Under its own name, with its argument; no value is read."""
    capture = checked(Calls("rolled", 1), (batch(),))
    assert [op.name for op in capture.ops] == ["torch.nn.functional.linear", "torch.ops.kinds_of_model.rolled", "torch.Tensor.relu"]
    assert capture.ops[1].module == ""
    assert "1" in capture.ops[1].arguments.values()
    assert capture.ops[1].code == "return OPS[self.name](self.fc(x), *self.more).relu()"


def test_a_custom_op_called_through_torch_ops_is_the_same_op() -> None:
    """``torch.ops.ns.name`` and its overload are ways to call it, too."""

    class Mixed(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.ops.kinds_of_model.rolled(torch.ops.kinds_of_model.rolled.default(x, 1), 2)

    capture = checked(Mixed(), (batch(),))
    assert [op.name for op in capture.ops] == ["torch.ops.kinds_of_model.rolled"] * 2
    assert all(op.code.startswith("return torch.ops") for op in capture.ops)


def test_a_custom_op_without_a_shape_level_kernel_runs_for_real() -> None:
    """The op alone is computed, on zeros; all else stays at the shape level."""
    capture = checked(Calls("opaque"), (batch(),))
    assert capture.tensors[capture.outputs[0].tensor].shape == (3, 8)


def test_a_custom_op_whose_shape_level_kernel_raises_runs_for_real() -> None:
    """The real kernel's word counts."""
    checked(Calls("halved"), (batch(),), executions=WITH_VALUES)


def test_a_custom_op_whose_shape_level_kernel_is_wrong_is_found_out() -> None:
    """Auto asks the real kernel on zeros, takes its shape and says so."""
    capture = checked(Calls("widened"), (batch(),), executions=WITH_VALUES)
    assert any("torch.ops.kinds_of_model.widened" in text for text in capture.unchecked), capture.unchecked


def test_a_custom_op_that_only_writes_is_an_op() -> None:
    """It gives None; what it wrote to is its output."""

    class Counts(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("table", torch.zeros(4))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            counted(self.table, x)
            return x - self.table

    capture = checked(Counts(), (batch(),))
    assert [op.name for op in capture.ops] == ["torch.ops.kinds_of_model.counted", "torch.Tensor.sub"]
    (written,) = capture.ops[0].outputs
    assert written.id in [tensor.id for tensor in capture.ops[1].inputs]


def test_a_custom_op_inside_a_module_in_a_model() -> None:
    """Its place is the module that calls it."""
    assert ("rolled", "inner") in places(checked(Around(Calls("rolled", 2)), (batch(),)))
