"""What forwards of real libraries do that a twin could answer otherwise than the model: each the smallest net that does it."""

from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tb_shapeplugin.record.trace import Trace
from tests.tracing.runs import run

BOTH = pytest.mark.parametrize("execution", ["auto", "real"])


def told(trace: Trace) -> list[tuple[str, str, list[Any]]]:
    """Every op with its module and the types of what it gave."""
    told = []
    for op in trace.ops:
        made = [(trace.tensors[index].shape, trace.tensors[index].dtype) for index in op.outputs]
        told.append((op.name, trace.modules[trace.calls[op.call].module].path, made))
    return told


def same_at_the_shape_level(model: Any, *args: Any) -> Trace:
    """The trace at the shape level, which is that of a real run with the same random numbers."""
    torch.manual_seed(0)
    trace = run(model, args)
    torch.manual_seed(0)
    assert told(trace) == told(run(model, args, execution="real"))
    assert (trace.execution, trace.completed) == ("fake", True)
    return trace


class ByGrid(nn.Module):
    """As models of pictures of any size do: ``for height, width in grid.tolist()``."""

    def forward(self, x: torch.Tensor, grid: torch.Tensor) -> torch.Tensor:
        pieces = [x[:, : height * width].reshape(-1, height, width) for height, width in grid.tolist()]
        return pieces[0].sum() + pieces[1].sum()


def test_a_nested_list_is_read_at_once() -> None:
    """Fakes have a tolist of their own, which takes a tensor apart in ops that the model doesn't have."""
    trace = same_at_the_shape_level(ByGrid(), torch.ones(2, 24), torch.tensor([[2, 3], [4, 6]]))
    assert [op.name for op in trace.ops][:3] == ["torch.Tensor.__getitem__", "torch.Tensor.reshape", "torch.Tensor.__getitem__"]
    assert [trace.tensors[value.tensor].name for value in trace.values] == ["grid"]


class ConvertsItself(nn.Module):
    """As routers of experts do: the layer takes on the input's dtype in the middle of a forward."""

    def __init__(self) -> None:
        super().__init__()
        self.router = nn.Linear(4, 3)
        self.norm = nn.BatchNorm1d(3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scores = self.norm.to(x.dtype)(self.router.to(x.dtype)(x))
        return scores[scores[:, 0] > 0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_layer_may_convert_itself_in_forward(dtype: torch.dtype) -> None:
    """torch swaps fakes with their conversions, which it refuses where anything refers to them weakly, as we do."""
    trace = same_at_the_shape_level(ConvertsItself().eval(), torch.randn(8, 4).to(dtype))
    made = next(trace.tensors[op.outputs[0]] for op in trace.ops if op.name == "torch.nn.functional.linear")
    assert made.dtype == str(dtype).removeprefix("torch.")


@BOTH
def test_a_layer_that_converted_itself_is_put_back(execution: Any) -> None:
    """The same Parameter objects, in the dtype and the memory that they had."""
    model = ConvertsItself().eval()
    before = [(p, p.dtype, p.data_ptr()) for p in (*model.parameters(), *model.buffers())]
    run(model, (torch.randn(8, 4).double(),), execution=execution)
    after = [(p, p.dtype, p.data_ptr()) for p in (*model.parameters(), *model.buffers())]
    assert [(id(p), *rest) for p, *rest in before] == [(id(p), *rest) for p, *rest in after]


class MaskedByNormed(nn.Module):
    """A value that stands on batch norm in training: its kernel writes statistics of which its schema says nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        normed = self.norm(x)
        return normed[normed[:, 0] > 0]


@BOTH
def test_values_behind_batch_norm_leave_its_statistics_alone(execution: Any) -> None:
    """What is computed for the mask is computed on copies."""
    model = MaskedByNormed().train()
    before = {name: buffer.clone() for name, buffer in model.named_buffers()}
    run(model, (torch.randn(8, 4) + 3,), execution=execution)
    assert all(torch.equal(buffer, before[name]) for name, buffer in model.named_buffers())


def test_statistics_are_read_as_they_were_written() -> None:
    """A branch on a running mean sees what this forward's batch norm made of it."""

    def function(x: torch.Tensor, mean: torch.Tensor, variance: torch.Tensor) -> torch.Tensor:
        normed = F.batch_norm(x, mean, variance, training=True, momentum=1.0)
        return normed.flatten() if mean[0] > 2 else normed.t()

    x, mean, variance = torch.full((8, 4), 3.0), torch.zeros(4), torch.ones(4)
    trace = same_at_the_shape_level(function, x, mean, variance)
    assert trace.ops[-1].name == "torch.Tensor.flatten"
    assert mean.sum() == 0


class Pools(nn.Module):
    """As heads that pool by attention do, in a model some of whose code names ``forward``."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

    def encode(self, x: torch.Tensor) -> torch.Tensor:
        return self.forward(x)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.attention(x[:, :1], x, x)[0]


def test_torchs_attention_is_asked_for_its_kernel_though_forwards_are_followed() -> None:
    """Asking which kernel a plain run takes calls the layer's forward: no call of the model."""
    with torch.no_grad():
        trace = same_at_the_shape_level(Pools().eval(), torch.randn(2, 5, 8))
    assert [(trace.modules[call.module].path, call.number) for call in trace.calls] == [("", 1), ("attention", 1)]


class NearestCode(nn.Module):
    """As codecs of sounds do: an LSTM, then the entries of a table that lie nearest."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(4, 4, batch_first=True)
        self.codes = nn.Embedding(9, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        distances = torch.cdist(self.lstm(x)[0], self.codes.weight)
        return self.codes(distances.argmin(-1))


def test_values_behind_an_lstm_are_known() -> None:
    """Its real kernel gives fewer tensors than its shape-level one; the index of the lookup is checked all the same."""
    with torch.no_grad():
        trace = same_at_the_shape_level(NearestCode().eval(), torch.randn(2, 5, 4))
    assert trace.unchecked == ()
    assert trace.tensors[trace.outputs[0].tensor].shape == (2, 5, 4)


def sums_of_neighbours(graph: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """As nets on graphs do: one message an entry of a sparse matrix."""
    to, source = graph.indices()
    return torch.zeros_like(x).index_add(0, to, x[source] * graph.values()[:, None])


def test_a_sparse_input_has_as_many_entries_as_it_has() -> None:
    """Its fake has none."""
    graph = (torch.eye(5) + torch.diag(torch.ones(4), 1)).to_sparse()
    trace = same_at_the_shape_level(sums_of_neighbours, graph, torch.randn(5, 3))
    assert next(trace.tensors[op.outputs[0]].shape for op in trace.ops if op.name == "torch.Tensor.mul") == (9, 3)


def test_without_values_nobody_knows_how_many_entries_there_are() -> None:
    """A shape-level run alone ends there rather than go on with none."""
    trace = run(sums_of_neighbours, (torch.eye(5).to_sparse(), torch.randn(5, 3)), execution="fake")
    assert not trace.completed
    assert trace.ops[-1].name == "python.value"


def test_a_tensor_made_sparse_has_as_many_entries_as_its_values_say() -> None:
    """Shape-level kernels make it without any."""

    def function(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        sparse = x.to_sparse()
        return sparse.values(), torch.sparse.mm(sparse, x), (sparse + sparse).coalesce().indices()

    trace = same_at_the_shape_level(function, torch.eye(5))
    assert [trace.tensors[output.tensor].shape for output in trace.outputs] == [(5,), (5, 5), (2, 5)]


class Experts(nn.ModuleDict):
    """As mixtures of experts do: only those are called that some word was sent to, each by its name."""

    def __init__(self) -> None:
        super().__init__({f"expert_{number}": nn.Linear(4, 4) for number in range(4)})

    def forward(self, x: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
        out = torch.zeros_like(x)
        for number in torch.nonzero(F.one_hot(chosen, 4).sum(0)):
            mine = torch.where(chosen == number)[0]
            out.index_add_(0, mine, self[f"expert_{number[0]}"](x[mine]))
        return out


def test_a_number_is_formatted_as_what_it_holds() -> None:
    """A fake's own text is no expert's name."""
    trace = same_at_the_shape_level(Experts(), torch.randn(6, 4), torch.tensor([3, 1, 1, 3, 3, 1]))
    assert [trace.modules[call.module].path for call in trace.calls] == ["", "expert_1", "expert_3"]


class DropsLayers(nn.Module):
    """As deep nets in training do: a layer is left out by a draw, with other draws in between."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(20))
        self.dropout = nn.Dropout(0.3)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        for layer in self.layers:
            if torch.rand([]) < 0.5:
                continue
            x = self.dropout(layer(x)) + torch.randn_like(x)
        return x[torch.randperm(len(x))][: int(torch.randint(1, 5, (1,)))], x[torch.empty(6).bernoulli_(0.5) > 0]


def test_random_branches_are_those_of_a_real_run_with_the_same_seed() -> None:
    """Every step draws what it would draw in its turn, also where nobody asks for the numbers before it."""
    trace = same_at_the_shape_level(DropsLayers().train(), torch.ones(6, 4))
    assert 0 < sum(op.name == "torch.nn.functional.linear" for op in trace.ops) < 20
    assert {value.origin for value in trace.values} == {"random"}


def test_a_capture_draws_nothing() -> None:
    """What is drawn to know a branch is given back."""
    model = DropsLayers().train()
    before = torch.random.get_rng_state()
    run(model, (torch.ones(6, 4),))
    assert torch.equal(torch.random.get_rng_state(), before)
