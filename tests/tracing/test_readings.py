"""Which reading of a failing run is chosen: the one with the fewest causes, in few runs, and what follows from what."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tb_shapeplugin.record.site import sites
from tb_shapeplugin.record.trace import Trace
from tb_shapeplugin.tracing import execution
from tb_shapeplugin.tracing.execution import Options, examine
from tb_shapeplugin.tracing.passes.readings import diagnose
from tb_shapeplugin.tracing.subject import Subject
from tests.tracing.runs import built, run
from tests.zoo.failing import Forward

X = torch.ones(2, 5, 64)


def failing(trace: Trace) -> list[str]:
    """Module paths of the failures that nothing explains, of an op at the root its name."""
    told = [(trace.modules[f.module].path or f.call.short_name) for f in trace.failures if f.caused_by < 0]
    return list(dict.fromkeys(told))


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts the shape-level runs."""
    count = [0]
    plain = execution._Asked.run

    def counted(asked: Any, *args: Any, **kwargs: Any) -> Any:
        count[0] += 1
        return plain(asked, *args, **kwargs)

    monkeypatch.setattr(execution._Asked, "run", counted)
    return count


def _chain(self: Any, x: torch.Tensor) -> Any:
    return self.fc(self.norm(x))


def _twice_normed(self: Any, x: torch.Tensor) -> Any:
    return self.fc(self.left(x) + self.right(x))


def block(norm: int, wide: int) -> Forward:
    """x + fc(norm(x)), the stream 64 wide."""
    return Forward(lambda self, x: x + self.fc(self.norm(x)), norm=nn.LayerNorm(norm), fc=nn.Linear(wide, 64))


FEWEST: dict[str, tuple[Callable[[], nn.Module], list[str], int]] = {
    "the norm alone is wrong: what comes behind takes the stream's width": (
        lambda: Forward(_chain, norm=nn.LayerNorm(128), fc=nn.Linear(64, 4)),
        ["norm"],
        2,
    ),
    "norm and layer agree against the stream: one cause, not two": (
        lambda: Forward(_chain, norm=nn.LayerNorm(128), fc=nn.Linear(128, 4)),
        ["norm"],
        2,
    ),
    "two norms that are added agree with the layer behind: no single change of reading is a gain": (
        lambda: Forward(_twice_normed, left=nn.LayerNorm(128), right=nn.LayerNorm(128), fc=nn.Linear(128, 4)),
        ["left", "right"],
        12,
    ),
    "the same norm in twelve equal blocks": (
        lambda: nn.Sequential(*(block(128, 64) for _ in range(12))),
        [f"{n}.norm" for n in range(12)],
        4,
    ),
    "norm and layer agree in each of twelve blocks": (
        lambda: nn.Sequential(*(block(128, 128) for _ in range(12))),
        [f"{n}.norm" for n in range(12)],
        4,
    ),
    "a norm that checks its input itself": (
        lambda: nn.Sequential(nn.Conv2d(3, 8, 3), nn.InstanceNorm2d(16, affine=True), nn.Conv2d(8, 4, 3)),
        ["1"],
        3,
    ),
}


@pytest.mark.parametrize("what", FEWEST)
def test_the_reading_with_the_fewest_causes_is_chosen(what: str, runs: list[int]) -> None:
    """Each of the failures is a cause, and choosing costs few runs."""
    build, wrong, most = FEWEST[what]
    x = torch.ones(2, 3, 12, 12) if "checks" in what else X
    trace = run(build(), (x,))
    assert failing(trace) == wrong
    assert runs[0] <= most


def test_outputs_that_are_certain_cost_no_further_run(runs: list[int]) -> None:
    """A Linear gives its out_features whatever comes in: three faults in a row are three causes in one run."""
    model = nn.Sequential(nn.Linear(60, 32), nn.Linear(30, 16), nn.ReLU(), nn.Linear(10, 4))
    trace = run(model, (torch.ones(2, 64),))
    assert failing(trace) == ["0", "1", "3"]
    assert all(not failure.depends_on for failure in trace.failures)
    assert runs == [1]


def test_what_vanishes_in_another_reading_is_a_consequence_of_what_is_read_differently() -> None:
    """The sum is as wide as either side: each of its two takers fails in one of the readings only."""

    def function(self: Any, x: torch.Tensor) -> Any:
        both = self.left(x) + self.right(x)
        return self.narrow(both) + self.broad(both)

    model = Forward(function, left=nn.Linear(64, 48), right=nn.Linear(64, 32), narrow=nn.Linear(48, 4), broad=nn.Linear(32, 4))
    trace = run(model, (X,))
    assert failing(trace) == ["add"]
    (consequence,) = (failure for failure in trace.failures if failure.caused_by >= 0)
    assert trace.failures[consequence.caused_by].call.short_name == "add"


def test_a_second_fault_behind_a_guess_stands_by_itself() -> None:
    """It is there whichever side of the sum is right."""

    def function(self: Any, x: torch.Tensor) -> Any:
        return self.head(self.left(x) + self.right(x))

    model = Forward(function, left=nn.Linear(64, 48), right=nn.Linear(64, 32), head=nn.Linear(20, 4))
    assert failing(run(model, (X,))) == ["add", "head"]


def test_an_unpacking_that_only_a_guess_leads_to_is_no_cause() -> None:
    """Python's own failures behind a guess vanish with another one, as those of ops do."""

    def function(self: Any, x: torch.Tensor) -> Any:
        y = x + torch.ones(2, 3, 5, 1)[..., None]
        batch, length, width = y.shape
        return self.fc(y.reshape(batch * length, width))

    trace = run(Forward(function, fc=nn.Linear(64, 4)), (X,))
    assert failing(trace) == ["add"]


def test_what_is_refused_for_its_dtype_goes_on_in_the_parameters_dtype() -> None:
    """One wrong input is one failure, not one a layer."""
    model = nn.Sequential(nn.Linear(64, 8), nn.ReLU(), nn.Linear(8, 8), nn.Linear(8, 2))
    trace = run(model, (X.double(),))
    assert failing(trace) == ["0"]
    assert trace.tensors[trace.outputs[0].tensor].dtype == "float32"


def test_a_batch_that_a_block_misses_is_added_to_go_on() -> None:
    """The block unpacks four axes and gets three; the fault behind it is found, too."""

    def unpacks(self: Any, x: torch.Tensor) -> Any:
        batch, _channels, _height, _width = x.shape
        return self.conv(x).reshape(batch, 8, -1)

    model = nn.Sequential(Forward(unpacks, conv=nn.Conv2d(3, 8, 1)), nn.Linear(25, 4), nn.Linear(5, 2))
    assert failing(run(model, (torch.ones(3, 5, 5),))) == ["0", "2"]


def test_a_packed_sequence_of_another_width_is_gone_past() -> None:
    """Its kernel's outputs have the sizes of the states."""
    model, args, kwargs = built("packed_lstm")
    lstm = model.lstm
    model.lstm = nn.LSTM(24, lstm.hidden_size, batch_first=True, bidirectional=lstm.bidirectional)
    trace = run(model, args, kwargs)
    assert failing(trace) == ["lstm"]
    assert trace.outputs, "the run went through"


def test_going_on_can_be_left_out() -> None:
    """The first fault only, nothing assumed behind it."""
    model = nn.Sequential(nn.Linear(60, 32), nn.Linear(30, 16))
    trace = run(model, (X,), continue_past_errors=False)
    assert failing(trace) == ["0"]
    assert not any(tensor.assumed for tensor in trace.tensors)
    assert not any(op.assumed for op in trace.ops)
    assert trace.outputs == ()


def test_what_is_assumed_says_so_in_the_chosen_reading_too() -> None:
    """The stand-in and all that is computed from it are marked, what was there before isn't."""
    trace = run(Forward(_chain, norm=nn.LayerNorm(128), fc=nn.Linear(128, 4)), (X,))
    (failure,) = trace.failures
    stand_in = trace.ops[failure.op].outputs[0]
    assert trace.tensors[stand_in].shape == (2, 5, 128)
    assert [tensor.assumed for tensor in trace.tensors if tensor.producer >= 0] == [True] * (len(trace.tensors) - 5)


def test_what_if_runs_are_read_as_the_diagnosis_was() -> None:
    """A repaired model has no other failures than the first run had: else no fix of one fault could be told from the others."""
    model = Forward(lambda self, x: self.head(_chain(self, x)), norm=nn.LayerNorm(128), fc=nn.Linear(128, 4), head=nn.Linear(9, 2))
    examination = examine(Subject("model", model, (X,), {}), Options())
    assert examination.retry is not None
    mended = examination.retry([{"module": "head", "arg": "in_features", "value": 4}])
    assert mended is not None
    assert set(sites(mended)) < set(sites(examination.trace))
    assert failing(mended) == ["norm"]


def test_the_number_of_runs_is_bounded() -> None:
    """However many doubts there are; without time left there is one run."""

    def function(self: Any, x: torch.Tensor) -> Any:
        for at in range(6):
            x = F.relu(x.reshape(2, 5, 63 + at)) + torch.ones(2, 7, 3 + at)
        return x

    model = Forward(function)
    asked = [0]

    def rerun(going: Any) -> Trace:
        asked[0] += 1
        return examine_once(model, going)

    diagnose(rerun, runs=7)
    assert asked[0] <= 7
    asked[0] = 0
    diagnose(rerun, seconds=0.0)
    assert asked == [1]


def examine_once(model: nn.Module, going: Any) -> Trace:
    """One run in the way that is asked for."""
    found: list[Trace] = []
    plain = execution.diagnose

    def once(rerun: Any, **_: Any) -> Any:
        found.append(rerun(going))
        return plain(lambda _: found[0], runs=1)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(execution, "diagnose", once)
        run(model, (X,))
    return found[0]


def test_a_comparison_that_fails_gives_truth_values() -> None:
    """What it would have chosen can be chosen with it."""

    def function(self: Any, x: torch.Tensor, y: torch.Tensor) -> Any:
        return torch.where(x > y, x, torch.zeros(()))

    trace = run(Forward(function), (torch.ones(4, 5), torch.ones(4, 6)))
    assert [failure.call.short_name for failure in trace.failures] == ["gt"]
    assert trace.tensors[trace.ops[trace.failures[0].op].outputs[0]].dtype == "bool"


class Attention(nn.Module):
    """Splits into two what it takes three of; gives its result with nothing else, or together with its weights."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(64, 192)

    def forward(self, x: torch.Tensor) -> Any:
        q, k, v = self.qkv(x).split(128, dim=2)
        return q + k + v


class WithWeights(Attention):
    def forward(self, x: torch.Tensor) -> Any:
        q, k, v = self.qkv(x).split(128, dim=2)
        return q + k + v, q @ k


@pytest.mark.parametrize("kind", [Attention, WithWeights])
def test_a_module_that_takes_a_wrong_number_of_parts_is_gone_past(kind: type[nn.Module]) -> None:
    """Nothing that comes in could help it: its input stands in for its output, in the form that it returns."""

    def function(self: Any, x: torch.Tensor) -> Any:
        y = self.attention(x)
        return self.head(x + (y[0] if isinstance(y, tuple) else y))

    trace = run(Forward(function, attention=kind(), head=nn.Linear(20, 4)), (X,))
    assert failing(trace) == ["attention", "head"]


def test_a_view_with_a_size_too_many_is_read_without_it() -> None:
    """What comes behind takes as many axes as there should be."""

    def function(self: Any, x: torch.Tensor) -> Any:
        return self.conv(x.reshape(2, 3, 8, 8, 2))

    trace = run(Forward(function, conv=nn.Conv2d(3, 4, 3)), (torch.ones(2, 3, 64),))
    assert failing(trace) == ["reshape"]


@pytest.mark.parametrize("width", [14, 20])
def test_a_view_of_features_that_no_head_divides_is_read_as_stated_too(width: int) -> None:
    """14 features in heads of 8 are 1 or 2 heads, 20 are 2 or 3: the output layer tells."""

    def function(self: Any, x: torch.Tensor) -> Any:
        return self.out(self.q(x).view(2, 5, -1, 8).reshape(2, 5, -1))

    trace = run(Forward(function, q=nn.Linear(64, width), out=nn.Linear(16, 4)), (X,))
    assert failing(trace) == ["view"]


def test_a_view_that_states_a_0_by_mistake_is_read_with_some_elements() -> None:
    """A side of 3 in patches of 4 is 0 patches: what is computed of no patch at all tells nothing."""

    def function(self: Any, x: torch.Tensor) -> Any:
        x = x.view(2, x.shape[1] // 4, 4, 64)
        return self.head(x.reshape(2, x.shape[1], -1, 64).mean(2))

    trace = run(Forward(function, head=nn.Linear(64, 3)), (torch.ones(2, 3, 64),))
    assert failing(trace) == ["view"]
    assert all(0 not in tensor.shape for tensor in trace.tensors)
