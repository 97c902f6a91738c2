"""Nested, sparse, subclassed, quantised and normed tensors."""

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import parametrizations, parametrize

from tests.tracing.kinds.checking import WITH_VALUES, checked, places
from tests.tracing.kinds.small import TwoLayers, batch


@pytest.mark.parametrize("layout", [torch.jagged, torch.strided])
def test_a_nested_tensor_runs_for_real_and_keeps_its_known_sizes(layout: torch.layout) -> None:
    """The ragged axis has no one size: it is told as 0, the others as they are."""
    nested = torch.nested.nested_tensor([torch.randn(2, 4), torch.randn(5, 4)], layout=layout)
    capture = checked(TwoLayers(), (nested,), executions=WITH_VALUES, ran="real")
    assert capture.tensors[capture.outputs[0].tensor].shape == (2, 0, 2)


def test_a_nested_tensor_made_inside_a_forward() -> None:
    """From a list of rows, and padded again."""

    class Pads(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Linear(4, 3)

        def forward(self, rows: list[torch.Tensor]) -> torch.Tensor:
            return self.fc(torch.nested.nested_tensor(rows, layout=torch.jagged)).to_padded_tensor(0.0)

    model, rows = Pads(), [torch.randn(2, 4), torch.randn(5, 4)]
    model(rows)  # the first nested tensor of a process has torch make one more, for itself
    checked(model, (rows,), executions=WITH_VALUES, ran="real")


SPARSE: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "coo": lambda dense: dense.to_sparse(),
    "csr": lambda dense: dense.to_sparse_csr(),
    "csc": lambda dense: dense.to_sparse_csc(),
    "bsr": lambda dense: dense.to_sparse_bsr((2, 2)),
}


class Propagates(nn.Module):
    """A layer of a graph net: adjacency · fc(x)"""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def forward(self, adjacency: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return (adjacency @ self.fc(x)).relu()


@pytest.mark.parametrize("layout", SPARSE)
def test_a_sparse_matrix_times_features(layout: str) -> None:
    """The matrix is an input like any other."""
    adjacency = SPARSE[layout](torch.eye(4) + torch.eye(4).flip(0))
    assert [name for name, _ in places(checked(Propagates(), (adjacency, torch.randn(4, 3)), executions=WITH_VALUES, ran=None))] == [
        "linear", "matmul", "relu",
    ]  # fmt: skip


def test_a_sparse_buffer_and_a_sparse_result() -> None:
    """A buffer that is sparse, made dense, and a dense result made sparse again."""

    class Keeps(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("graph", torch.eye(4).to_sparse())

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.sparse.mm(self.graph, x).to_sparse()

    checked(Keeps(), (torch.randn(4, 3),), executions=WITH_VALUES, ran=None)


def test_an_embedding_with_sparse_gradients() -> None:
    """Its forward is like any other's."""
    bag = nn.EmbeddingBag(10, 4, mode="sum", sparse=True)
    checked(bag, (torch.tensor([1, 2, 4, 5]), torch.tensor([0, 2])), executions=WITH_VALUES)
    checked(nn.Embedding(10, 4, sparse=True), (torch.tensor([[1, 2], [3, 4]]),))


class Tagged(torch.Tensor):
    """A subclass that adds nothing."""


class Counting(torch.Tensor):
    """A subclass that looks at every call."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return super().__torch_function__(func, types, args, kwargs or {})


@pytest.mark.parametrize("kind", [Tagged, Counting])
def test_a_tensor_subclass_goes_through(kind: type[torch.Tensor]) -> None:
    """As input, and as parameter."""
    assert places(checked(TwoLayers(), (batch().as_subclass(kind),))) == [("linear", "first"), ("relu", ""), ("linear", "second")]


class Wrapping(torch.Tensor):
    """A subclass that holds another tensor and works on that."""

    inner: torch.Tensor

    @staticmethod
    def __new__(cls, inner: torch.Tensor) -> "Wrapping":
        made = torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, device=inner.device)
        made.inner = inner
        return made

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        def opened(value: Any) -> Any:
            return value.inner if isinstance(value, cls) else value

        result = func(*torch.utils._pytree.tree_map(opened, args), **torch.utils._pytree.tree_map(opened, kwargs or {}))
        return torch.utils._pytree.tree_map(lambda value: cls(value) if isinstance(value, torch.Tensor) else value, result)


def test_a_wrapper_subclass_goes_through() -> None:
    """One with its own __torch_dispatch__, as quantisers and distributed tensors are."""
    checked(TwoLayers(), (Wrapping(batch()),), executions=WITH_VALUES, ran=None, around=torch.no_grad)


def quantised(model: nn.Module, *kinds: type[nn.Module]) -> nn.Module:
    """Its linear and recurrent layers quantised on the fly."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.ao.quantization.quantize_dynamic(model, set(kinds), dtype=torch.qint8)


def test_a_dynamically_quantised_linear() -> None:
    """Its weights are packed where torch can't see them as parameters; its op is that of the quantised kernel."""
    capture = checked(quantised(TwoLayers(), nn.Linear), (batch(),), executions=WITH_VALUES, ran=None)
    linears = [(op.name, op.module) for op in capture.ops if "quantized" in op.name]
    assert linears == [("torch.ops.quantized.linear_dynamic", "first"), ("torch.ops.quantized.linear_dynamic", "second")]


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
def test_a_dynamically_quantised_recurrent_layer(kind: type[nn.Module]) -> None:
    """One op, in its module, as if it weren't quantised."""

    class Recurs(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.rnn = kind(4, 5)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.rnn(x)[0].relu()

    capture = checked(quantised(Recurs(), kind), (torch.randn(6, 3, 4),), executions=WITH_VALUES, ran=None)
    assert (f"quantized_{kind.__name__.lower()}", "rnn") in places(capture)


def test_quantised_tensors_inside_a_forward() -> None:
    """quantize_per_tensor and back."""

    class Rounds(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.quantize_per_tensor(x, 0.1, 0, torch.qint8).dequantize() + 1

    checked(Rounds(), (batch(),), executions=WITH_VALUES, ran=None)


NORMED: dict[str, Callable[[nn.Module], nn.Module]] = {
    "weight_norm": parametrizations.weight_norm,
    "spectral_norm": parametrizations.spectral_norm,
    "orthogonal": parametrizations.orthogonal,
    "old_weight_norm": nn.utils.weight_norm,
    "old_spectral_norm": nn.utils.spectral_norm,
}


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("name", NORMED)
def test_normed_weights(name: str, training: bool) -> None:
    """The weight is computed at each call; spectral norm writes its buffers in training."""
    model = nn.Sequential(NORMED[name](nn.Linear(4, 4)), nn.ReLU(), nn.Linear(4, 2)).train(training)
    capture = checked(model, (batch(),), executions=WITH_VALUES if name == "orthogonal" else ("auto", "real", "fake"))
    assert [name for name, _ in places(capture)][-3:] == ["linear", "relu", "linear"]


def test_a_parametrization_of_the_user() -> None:
    """Its module is called, and recorded, as often as the weight is read."""

    class Symmetric(nn.Module):
        def forward(self, weight: torch.Tensor) -> torch.Tensor:
            return weight.triu() + weight.triu(1).T

    model = nn.Linear(4, 4)
    parametrize.register_parametrization(model, "weight", Symmetric())
    capture = checked(model, (batch(),))
    assert ("triu", "parametrizations.weight.0") in places(capture)
    with parametrize.cached():
        assert F.linear(batch(), model.weight).shape == (3, 4)
