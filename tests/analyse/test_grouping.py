"""One fault, one finding: its places, what follows from it, and the other way to read it; told of real models."""

import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrize, spectral_norm
from torch.nn.utils.parametrizations import weight_norm

from tb_shapeplugin.analyse.findings import findings
from tb_shapeplugin.record.finding import Finding
from tests.tracing.runs import run
from tests.zoo.failing import Forward

X = torch.ones(2, 7, 10)


def found(model: nn.Module, *args: torch.Tensor) -> tuple[Finding, ...]:
    """What is found wrong with a model."""
    return findings(run(model, args or (X,)))


def causes(model: nn.Module, *args: torch.Tensor) -> list[tuple[str, list[str]]]:
    """Of each finding that stands by itself its kind and the modules of its places."""
    return [(finding.kind, [place.module for place in finding.places]) for finding in found(model, *args) if finding.caused_by is None]


def _on_three_lines(self: Any, x: torch.Tensor) -> Any:
    x = self.project(x)
    q = self.q(x)
    k = self.k(x)
    v = self.v(x)
    return q + k + v


def _on_one_line(self: Any, x: torch.Tensor) -> Any:
    x = self.project(x)
    return self.q(x) + self.k(x) + self.v(x)


def heads(function: Callable[..., Any]) -> Forward:
    """A projection that gives 48 to three layers that take 64."""
    return Forward(function, project=nn.Linear(10, 48), **{name: nn.Linear(64, 64) for name in "qkv"})


@pytest.mark.parametrize("function", [_on_three_lines, _on_one_line])
def test_layers_that_take_one_wrong_number_are_one_finding(function: Any) -> None:
    """All of them are its places; that each is declared so is the other reading."""
    (finding,) = found(heads(function))
    assert [place.module for place in finding.places] == ["q", "k", "v"]
    assert finding.readings == ("q, k and v are all 64 wide where project gives 48",)


def test_a_shared_layer_that_is_called_in_two_places_is_one_finding() -> None:
    """Its calls are the places."""

    def function(self: Any, x: torch.Tensor) -> Any:
        left = self.encoder(x)
        return left + self.encoder(x * 2)

    (finding,) = found(Forward(function, encoder=nn.Linear(12, 4)))
    assert [(place.module, place.call) for place in finding.places] == [("encoder", 1), ("encoder", 2)]


class Block(nn.Module):
    def __init__(self, width: int, wide: int) -> None:
        super().__init__()
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(wide, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.down(self.up(x))


def test_twelve_equal_blocks_are_one_finding_with_twelve_places() -> None:
    """All of them and no others: the head behind them has a fault of its own."""
    model = nn.Sequential(*(Block(10, 24) for _ in range(12)), nn.Linear(11, 3))
    assert causes(model) == [("linear_in_features", [f"{n}.down" for n in range(12)]), ("linear_in_features", ["12"])]


def test_blocks_of_other_widths_that_are_off_alike_are_one_finding() -> None:
    """Each takes half of what it is given; a block that is off in another way is a finding of its own."""
    model = nn.Sequential(Block(10, 10), nn.Linear(10, 20), Block(20, 20), nn.Linear(20, 30), Block(30, 44))
    assert [places for _, places in causes(model)] == [["0.down", "2.down"], ["4.down"]]


def _other_operands(self: Any, x: torch.Tensor, y: torch.Tensor) -> Any:
    return self.a(x) + self.b(y)


def test_two_layers_in_one_statement_with_other_inputs_are_two_findings() -> None:
    """The numbers are the same, but who gave them isn't."""
    model = Forward(_other_operands, a=nn.Linear(12, 4), b=nn.Linear(12, 4))
    assert [places for _, places in causes(model, X, X + 1)] == [["a"], ["b"]]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python tells no columns")
def test_two_products_in_one_statement_are_two_findings() -> None:
    """Each needs its own transpose."""

    def function(self: Any, q: torch.Tensor, k: torch.Tensor, u: torch.Tensor, v: torch.Tensor) -> Any:
        return (q @ k) + (u @ v)

    told = found(Forward(function), *(torch.ones(3, 8) for _ in range(4)))
    assert [(finding.kind, finding.caused_by) for finding in told] == [("matmul_dims", None), ("matmul_dims", None)]
    assert told[0].op_index != told[1].op_index


def test_a_helper_that_is_called_from_several_lines_is_one_finding() -> None:
    """What fails is the statement in the helper."""

    def product(a: torch.Tensor) -> torch.Tensor:
        return a @ a

    def function(self: Any, x: torch.Tensor) -> Any:
        first = product(x)
        second = product(x + 1)
        return first + second

    (finding,) = found(Forward(function), torch.ones(3, 8))
    assert len(finding.places) == 2


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(128)
        self.fc1 = nn.Linear(128, 256)
        self.fc2 = nn.Linear(256, 128)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.fc2(self.fc1(self.norm(x)))


def test_the_sum_behind_a_block_follows_from_the_producer_that_its_norm_refuses() -> None:
    """One number too small in one place: told at the norm, the residual sum is a consequence, the agreeing layers are the other reading."""
    first, second = found(nn.Sequential(nn.Linear(10, 64), Residual(), Residual(), nn.Linear(128, 5)))
    assert (first.kind, first.module, first.caused_by) == ("norm_features", "1.norm", None)
    assert (second.kind, second.module) == ("broadcast", "1")
    assert second.caused_by is first
    assert first.readings == ("1.norm and 1.fc1 are both 128 wide where 0 gives 64",)


def test_of_two_sides_the_one_that_gave_the_number_is_the_other_reading() -> None:
    """What fails is the layer that takes it."""
    (finding,) = found(nn.Sequential(nn.Conv2d(3, 16, 3), nn.ReLU(), nn.Conv2d(32, 4, 3)), torch.ones(1, 3, 9, 9))
    assert finding.module == "2"
    assert finding.readings == ("0 could give 32, which 2 takes, instead of 16",)


def test_a_producer_whose_number_others_take_is_no_other_reading() -> None:
    """The norm between takes 48 as it comes: only the last layer can be wrong."""
    (finding,) = found(nn.Sequential(nn.Linear(10, 48), nn.LayerNorm(48), nn.Linear(64, 4)))
    assert (finding.module, finding.readings) == ("2", ())


def test_equal_sides_name_both_makers() -> None:
    """Neither the input nor the layer is more at fault than the other."""

    def function(self: Any, x: torch.Tensor) -> Any:
        return x + self.narrow(x)

    (finding,) = found(Forward(function, narrow=nn.Linear(10, 6)))
    (reading,) = finding.readings
    assert "narrow could give 10" in reading or "narrow 10" in reading
    assert "6" in reading


def _encoder(**options: Any) -> nn.Module:
    return nn.TransformerEncoderLayer(32, 4, 48, batch_first=True, **options)


COMPOSED: dict[str, tuple[Callable[[], nn.Module], tuple[torch.Tensor, ...], str]] = {
    "a stack of _encoder layers": (
        lambda: nn.Sequential(nn.Linear(10, 24), nn.TransformerEncoder(_encoder(), 2)),
        (X,),
        "1.layers.0.self_attn",
    ),
    "a single _encoder layer": (lambda: nn.Sequential(_encoder(norm_first=True)), (torch.ones(2, 7, 24),), "0.norm1"),
    "the whole transformer": (lambda: nn.Transformer(32, 4, 1, 1, 48, batch_first=True), (torch.ones(2, 5, 32), torch.ones(3, 6, 32)), ""),
    "attention alone": (lambda: nn.MultiheadAttention(32, 4, batch_first=True), (torch.ones(2, 5, 24),) * 3, ""),
    "a layer with weight norm": (lambda: nn.Sequential(nn.Linear(10, 16), weight_norm(nn.Linear(24, 8)), nn.Linear(8, 3)), (X,), "1"),
    "a layer with spectral norm": (lambda: nn.Sequential(nn.Linear(10, 16), spectral_norm(nn.Linear(24, 8)), nn.Linear(8, 3)), (X,), "1"),
}


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("what", COMPOSED)
def test_one_fault_in_a_layer_that_is_made_of_others_is_one_finding(what: str, training: bool) -> None:
    """Whether or not its fast path would have run, and however its weight is computed."""
    build, args, module = COMPOSED[what]
    told = [finding for finding in found(build().train(training), *args) if finding.caused_by is None]
    assert [finding.module for finding in told] == [module]


def test_a_parametrisation_that_fails_is_told_at_itself() -> None:
    """Its own product is wrong, the layer around it isn't."""

    class Broken(nn.Module):
        def forward(self, weight: torch.Tensor) -> torch.Tensor:
            return weight + weight.T

    layer = nn.Linear(10, 8)
    parametrize.register_parametrization(layer, "weight", Broken(), unsafe=True)
    assert causes(nn.Sequential(layer, nn.Linear(8, 3))) == [("broadcast", ["0.parametrizations.weight.0"])]


def test_several_layers_that_refuse_one_dtype_follow_from_the_first() -> None:
    """One cast mends them all."""

    def function(self: Any, x: torch.Tensor) -> Any:
        left = self.left(x)
        return left + self.right(x).sum(-1, keepdim=True)

    first, *others = found(Forward(function, left=nn.Linear(10, 4), right=nn.Linear(10, 3)), X.double())
    assert (first.kind, first.caused_by) == ("dtype", None)
    assert [finding.caused_by is first for finding in others] == [True] * len(others)


def test_a_number_that_is_itself_a_guess_is_no_fault_of_who_meets_it() -> None:
    """A map narrower than the kernel: how wide its output is nobody knows. The channels behind it are known, and wrong."""
    model = nn.Sequential(nn.Conv2d(1, 4, 5), nn.MaxPool2d(2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(5, 3))
    kernel, pool, head = found(model, torch.ones(2, 1, 9, 2))
    assert [(finding.module, finding.kind) for finding in (kernel, pool, head)] == [
        ("0", "conv_kernel"),
        ("1", "conv_kernel"),
        ("4", "linear_in_features"),
    ]
    assert pool.caused_by is kernel
    assert (kernel.caused_by, head.caused_by) == (None, None)
