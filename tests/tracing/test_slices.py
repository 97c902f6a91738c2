"""Which steps a value depends on, what they cost and hold: asked of steps that really ran."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from tb_shapeplugin.tracing.compat import storage_key
from tb_shapeplugin.tracing.slices import Step, StepLog, endings, multiply_adds, peak_bytes, step_of
from tests.tracing.runs import run


class Logging(TorchDispatchMode):
    """Writes down every aten op of what runs inside."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[Step] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        result = func(*args, **(kwargs or {}))
        self.steps.append(step_of(func, args, kwargs or {}, result))
        return result


def steps_of(function: Callable[[], Any]) -> tuple[list[Step], Any]:
    """The steps of a call, and what it gave."""
    with torch.no_grad(), Logging() as logging:
        result = function()
    return logging.steps, result


def slice_for(steps: list[Step], *wanted: torch.Tensor) -> list[str]:
    """Names of the ops that the tensors depend on."""
    log = StepLog()
    for step in steps:
        log.add(step)
    return [step.func._schema.name[6:] for step in log.slice_of(map(storage_key, wanted), lambda _: False)]


def test_a_slice_holds_only_what_the_value_depends_on() -> None:
    """Not the branch beside it, nor what is written to its operands later."""
    x = torch.ones(3)

    def function() -> Any:
        a = x + 1
        b = a * 2
        beside = a - 1
        made = b.clone()
        b.mul_(5)
        return made, beside, b

    steps, (made, beside, b) = steps_of(function)
    assert slice_for(steps, made) == ["add", "mul", "clone"]
    assert slice_for(steps, beside) == ["add", "sub"]
    assert slice_for(steps, b) == ["add", "mul", "mul_"]


def test_a_write_through_a_view_is_part_of_the_slice() -> None:
    """``rows[0] = …`` writes to the whole tensor, and to the tensor that it is a view of."""

    def function() -> torch.Tensor:
        base = torch.zeros(4, 2)
        base.view(2, 4)[0].copy_(torch.arange(4.0))
        return base

    steps, base = steps_of(function)
    assert {"zeros", "view", "select", "arange", "copy_"} <= set(slice_for(steps, base))


def test_storages_end_behind_the_last_step_that_touches_them() -> None:
    """A chain of sums needs room for two of them at a time; what is wanted never ends."""
    x = torch.zeros(1024)

    def function() -> torch.Tensor:
        y = x
        for _ in range(10):
            y = y + 1
        return y

    steps, y = steps_of(function)
    ends = endings(steps, [storage_key(y)])
    assert [len(ended) for ended in ends] == [1] * 10
    assert not any(storage_key(y) in ended for ended in ends)
    assert peak_bytes(steps, ends) == 2 * 4096
    assert peak_bytes(steps, endings(steps, {key for step in steps for key in step.outputs})) == 10 * 4096


X = torch.randn(4, 16, 32)
COUNTED = {
    "linear": lambda: nn.Linear(32, 64)(X),
    "matmul": lambda: X @ X.transpose(1, 2),
    "addmm": lambda: torch.addmm(torch.zeros(16, 64), X[0], torch.randn(32, 64)),
    "conv2d": lambda: nn.Conv2d(3, 8, 3)(torch.randn(2, 3, 16, 16)),
    "conv2d_groups": lambda: nn.Conv2d(4, 8, 3, groups=2)(torch.randn(2, 4, 16, 16)),
    "conv_transpose": lambda: nn.ConvTranspose2d(3, 8, 3)(torch.randn(2, 3, 16, 16)),
    "einsum": lambda: torch.einsum("bik,bjk->bij", X, X),
}


@pytest.mark.parametrize("name", COUNTED)
def test_costs_of_products_are_torchs_own_count(name: str) -> None:
    """Half of the FLOPs that torch counts, where it counts any."""
    with FlopCounterMode(display=False) as counter:
        COUNTED[name]()
    steps, _ = steps_of(COUNTED[name])
    costly = max(steps, key=multiply_adds)
    assert 2 * multiply_adds(costly) == counter.get_total_flops() > 0


def test_costs_that_torch_does_not_count() -> None:
    """Attention on the CPU: two products of every query with every key. An LSTM: its weights at every step."""
    q = torch.randn(2, 4, 16, 8)
    steps, _ = steps_of(lambda: F.scaled_dot_product_attention(q, q, q))
    assert max(map(multiply_adds, steps)) == 2 * (2 * 4) * 16 * 16 * 8
    lstm = nn.LSTM(32, 24, batch_first=True)
    steps, _ = steps_of(lambda: lstm(X))
    assert max(map(multiply_adds, steps)) >= 4 * 16 * (4 * 24 * 32 + 4 * 24 * 24)


def test_a_value_behind_large_intermediates_is_known() -> None:
    """A hundred tensors of 32 MB, one after the other, lead to the value: never more than a few of them are held."""

    def function(x: torch.Tensor) -> torch.Tensor:
        y = x.expand(8_000_000)
        for _ in range(100):
            y = y + 1
        return x.repeat(int(y[:3].max().item()) // 50)

    trace = run(function, (torch.zeros(1),))
    assert (trace.execution, trace.completed) == ("fake", True)
    assert trace.tensors[trace.outputs[0].tensor].shape == (2,)
