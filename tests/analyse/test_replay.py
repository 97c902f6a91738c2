"""Going through the ops again with other input shapes: what would run, and what nobody can tell."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tb_shapeplugin.analyse.origins.replay import Replay
from tb_shapeplugin.record.trace import Trace
from tb_shapeplugin.record.values import Shape
from tb_shapeplugin.tracing.execution import Options, examine
from tb_shapeplugin.tracing.subject import Subject
from tests.analyse.origin_rows import Net


def traced(forward: Callable[..., Any], *inputs: torch.Tensor, **parts: Any) -> Trace:
    """The trace of a model that fails."""
    trace = examine(Subject("net", Net(forward, parts), inputs, {}), Options()).trace
    assert trace.failures
    return trace


def runs(trace: Trace, shape: Shape) -> bool:
    """Would the first failing call run with that shape of the first input?"""
    replay = Replay(trace, trace.failures[0])
    assert replay.possible
    return replay.runs({replay.inputs()[0]: shape})


def by_torch(forward: Callable[..., Any], shape: Shape, **parts: Any) -> bool:
    """Does the model run with that shape?"""
    try:
        Net(forward, parts)(torch.zeros(shape))
    except RuntimeError:
        return False
    return True


def classifier(self: Any, x: torch.Tensor) -> Any:
    """conv ─ pool ─ view of sizes that are read off ─ fc."""
    h = F.max_pool2d(self.conv(x), 2)
    b, c, height, width = h.shape
    return self.fc(h.view(b, c * height * width))


def encoder(self: Any, x: torch.Tensor) -> Any:
    """LSTM ─ attention ─ places for as many steps as there are."""
    h, _ = self.rnn(x)
    h, _ = self.mix(h, h, h)
    return h + self.places[: x.shape[1]]


def grid(self: Any, x: torch.Tensor) -> Any:
    """A view whose sizes the code holds."""
    return x.view(-1, 6, 8, 8) + x.view(x.shape[0], 6, -1).sum(-1).view(-1, 6, 1, 1)


MODELS: tuple[tuple[Callable[..., Any], dict[str, Any], Shape, tuple[Shape, ...]], ...] = (
    (
        classifier,
        {"conv": nn.Conv2d(1, 2, 3), "fc": nn.Linear(72, 3)},
        (2, 1, 28, 28),
        ((2, 1, 14, 14), (2, 1, 15, 15), (2, 1, 16, 16), (5, 1, 14, 14), (2, 3, 14, 14), (2, 1, 3, 3), (2, 1, 2, 2)),
    ),
    (
        encoder,
        {"rnn": nn.LSTM(4, 8, batch_first=True), "mix": nn.MultiheadAttention(8, 2, batch_first=True), "places": torch.zeros(12, 8)},
        (2, 20, 4),
        ((2, 12, 4), (2, 13, 4), (3, 5, 4), (2, 12, 5), (2, 1, 4)),
    ),
    (grid, {}, (2, 6, 70), ((2, 6, 64), (4, 6, 64), (2, 6, 65), (3, 3, 64), (1, 6, 128))),
)


@pytest.mark.parametrize(("forward", "parts", "failing", "shapes"), MODELS, ids=lambda value: getattr(value, "__name__", None))
def test_what_is_said_to_run_runs(forward: Callable[..., Any], parts: dict[str, Any], failing: Shape, shapes: tuple[Shape, ...]) -> None:
    """The replay of the failing run answers as torch does for each other shape."""
    trace = traced(forward, torch.zeros(failing), **parts)
    answers = {shape: runs(trace, shape) for shape in shapes}
    assert answers == {shape: by_torch(forward, shape, **parts) for shape in shapes}
    assert set(answers.values()) == {True, False}


def test_numbers_that_the_code_spells_out_stay() -> None:
    """view(64, 10) holds for a batch of 64 only, view(x.size(0), 10) for any."""
    stated = traced(lambda self, x: x.view(64, 10), torch.zeros(16, 10))
    read = traced(lambda self, x: x.view(x.size(0), 11), torch.zeros(16, 10))
    assert [runs(stated, (size, 10)) for size in (16, 32, 64)] == [False, False, True]
    assert [runs(read, (16, size)) for size in (10, 11, 12)] == [False, True, False]


def test_a_way_that_leads_through_an_assumed_tensor_is_not_followed() -> None:
    """What comes after a failure that was passed over says nothing about the input."""
    trace = traced(lambda self, x: self.b(self.a(x)), torch.zeros(2, 5), a=nn.Linear(4, 6), b=nn.Linear(7, 3))
    assert [Replay(trace, failure).possible for failure in trace.failures] == [True, False]


def test_equal_blocks_are_asked_once() -> None:
    """Twenty equal layers of equal shapes cost one answer a kind of op."""

    def forward(self: Any, x: torch.Tensor) -> Any:
        for layer in self.layers:
            x = layer(x).relu()
        return self.out(x.flatten(1))

    layers = nn.ModuleList(nn.Conv2d(4, 4, 3, padding=1) for _ in range(20))
    trace = traced(forward, torch.zeros(1, 4, 9, 9), layers=layers, out=nn.Linear(100, 2))
    replay = Replay(trace, trace.failures[0])
    assert replay.runs({replay.inputs()[0]: (1, 4, 5, 5)})
    assert replay.asked == 3  # conv, relu, flatten


def test_what_nobody_can_tell_is_no_promise() -> None:
    """An op that no rule follows, and that changes the shape, ends the way."""
    trace = traced(lambda self, x: self.fc(torch.combinations(x).flatten()), torch.zeros(4), fc=nn.Linear(20, 3))
    assert not runs(trace, (5,))
