"""inference_mode, vmap and gradients inside a forward; in-place ops and views."""

import contextlib
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.tracing.kinds.checking import WITH_VALUES, checked, places
from tests.tracing.kinds.small import TwoLayers, batch


@pytest.mark.parametrize("around", [torch.inference_mode, torch.no_grad, torch.enable_grad])
def test_the_callers_gradient_mode_holds(around: Any) -> None:
    """What comes out requires gradients where it would in a plain run."""
    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.ReLU(inplace=True))
    capture = checked(model, (batch(),), around=around)
    with around():
        assert capture.record.tensors.flags[capture.outputs[0].tensor] & 1 == int(model(batch()).requires_grad)


def test_inference_mode_inside_a_forward() -> None:
    """A part of the forward runs in it."""

    class Mixed(TwoLayers):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            with torch.inference_mode():
                x = torch.relu(self.first(x)).add_(1)
            return self.second(x.clone()).detach()

    checked(Mixed(), (batch(),))


def test_inference_tensors_go_in() -> None:
    """Model and input were made in inference mode."""
    with torch.inference_mode():
        model, x = nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=True)), batch()
    checked(model, (x,), around=torch.inference_mode)


def mapped(self: Any, x: torch.Tensor) -> torch.Tensor:
    """One row at a time."""
    return torch.vmap(lambda row: torch.tanh(self.fc.weight @ row))(x)


def jacobian(self: Any, x: torch.Tensor) -> torch.Tensor:
    """Of each row."""
    return torch.func.vmap(torch.func.jacrev(lambda row: torch.tanh(self.fc.weight @ row)))(x)


def gradient(self: Any, x: torch.Tensor) -> torch.Tensor:
    """Of a loss of the input."""
    return torch.func.grad(lambda inner: self.fc(inner).square().sum())(x)


def functional(self: Any, x: torch.Tensor) -> torch.Tensor:
    """A layer with other weights."""
    weights = {name: weight * 2 for name, weight in self.fc.named_parameters()}
    return torch.func.functional_call(self.fc, weights, (x,))


def autograd(self: Any, x: torch.Tensor) -> torch.Tensor:
    """The older way to a gradient."""
    x = x.detach().requires_grad_()
    (made,) = torch.autograd.grad(self.fc(x).square().sum(), x, create_graph=True)
    return made


TRANSFORMS: dict[str, Callable[[Any, torch.Tensor], torch.Tensor]] = {
    "vmap": mapped,
    "jacobian": jacobian,
    "grad": gradient,
    "functional_call": functional,
    "autograd": autograd,
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms_of_functions_inside_a_forward(name: str) -> None:
    """What torch does to make them work is no op of the model."""
    model = type("Transforms", (nn.Module,), {"forward": TRANSFORMS[name]})()
    model.fc = nn.Linear(4, 4)
    capture = checked(model, (batch(),))
    assert not [op.name for op in capture.ops if "_functorch" in op.name or "_C." in op.name]


def test_vmap_of_a_whole_module() -> None:
    """Per-sample calls of a layer: one call of the module, with the shapes of one sample."""

    class PerSample(TwoLayers):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.vmap(self.first)(x)

    capture = checked(PerSample(), (batch(),))
    assert places(capture) == [("linear", "first")]
    assert [row.shape for row in capture.ops[0].outputs] == [(8,)]


def test_in_place_ops_and_views_are_versions_of_one_storage() -> None:
    """A row written through a view, an assignment, += and an inplace activation."""

    class Writes(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = x * 2
            row = y[0]
            row.add_(1)
            y[1] = 0
            y += 1
            z = F.relu(y, inplace=True)
            torch.mul(z, 3, out=y)
            return z.view(-1).T if z.dim() == 1 else z.view(-1)

    capture = checked(Writes(), (batch(),))
    storages = [op.outputs[0].storage for op in capture.ops]
    assert storages == [storages[0]] * len(storages)
    assert [name for name, _ in places(capture)] == ["mul", "__getitem__", "add_", "__setitem__", "add_", "relu", "mul", "view"]


def test_a_model_that_writes_its_input_and_buffers() -> None:
    """The user's tensors keep their values."""

    class Meddles(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("mean", torch.zeros(4))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.mean.lerp_(x.mean(0), 0.1)
            x.sub_(self.mean)
            x[:, 0].zero_()
            return x.t_()

    checked(Meddles(), (batch(),))


def test_views_of_many_kinds() -> None:
    """Strided, expanded, unfolded, complex, split and diagonal ones."""

    class Views(nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            left, right = x.chunk(2, -1)
            waves = torch.view_as_complex(torch.stack([left, right], -1))
            return (
                x.as_strided((2, 2), (1, 4)),
                x.expand(5, 3, 4),
                x.unfold(1, 2, 1),
                waves.conj().imag,
                waves.real,
                torch.view_as_real(waves),
                x.diagonal(),
                *x.unbind(0),
                x.T,
                x.mT,
                x[..., None],
                x[:, [0, 2]],
                x.view(torch.int32),
            )

    checked(Views(), (batch(),))


@pytest.mark.parametrize("training", [True, False])
def test_random_numbers_inside_a_forward(training: bool) -> None:
    """Dropout, noise, a branch on a random number: the caller's generators give the same numbers as without a capture."""

    class Draws(TwoLayers):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = F.dropout(x + torch.randn_like(x), 0.5, self.training)
            keep = torch.bernoulli(torch.full((3,), 0.5))
            return super().forward(x * keep[:, None] + torch.randint(0, 9, (3, 4)))

    checked(Draws().train(training), (batch(),))


def test_a_generator_of_the_models_own() -> None:
    """Numbers are drawn from a generator that the model keeps."""

    class Seeded(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.generator = torch.Generator().manual_seed(3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + torch.rand(x.shape, generator=self.generator)

    checked(Seeded(), (batch(),), executions=WITH_VALUES)


def test_deterministic_and_anomaly_modes_and_a_default_device() -> None:
    """Global modes of the caller hold, and are left as they are."""

    @contextlib.contextmanager
    def modes() -> Any:
        before = torch.get_default_dtype()
        torch.use_deterministic_algorithms(True)
        torch.set_default_dtype(torch.float64)
        try:
            with torch.autograd.detect_anomaly(check_nan=False), torch.device("cpu"):
                yield
        finally:
            torch.set_default_dtype(before)
            torch.use_deterministic_algorithms(False)

    class Makes(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + torch.ones(4)

    capture = checked(Makes(), (batch(),), around=modes)
    assert capture.tensors[capture.outputs[0].tensor].dtype == "float64"
