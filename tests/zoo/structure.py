"""Unusual ways to hold, share, wrap and call modules."""

from collections.abc import Callable
from typing import TypeAlias

import torch
from torch import nn
from torch.nn.utils import parametrizations
from torch.utils.checkpoint import checkpoint

from tests.zoo.entry import Built, Enclosure

STRUCTURE = Enclosure()


class CalledTwice(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(6, 6)
        self.head = nn.Linear(12, 2)

    def forward(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        return self.head(torch.cat([self.layer(left), self.layer(right)], dim=-1))


@STRUCTURE.entry("called_twice")
def called_twice() -> Built:
    """One module, two calls.

    left ── layer (1) ─┐
                       cat ─ head
    right ─ layer (2) ─┘
    """
    return CalledTwice(), (torch.randn(3, 6), torch.randn(3, 6)), {}


class SeveralPaths(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.alias = self.encoder[0]
        self.table = nn.ModuleDict({"again": self.encoder, "other": nn.Linear(4, 2)})

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.table["other"](self.table["again"](self.alias(x)))


@STRUCTURE.entry("several_paths")
def several_paths() -> Built:
    """encoder is also table.again, and encoder.0 is also alias: one module each, by whichever path it is called."""
    return SeveralPaths(), (torch.randn(2, 4),), {}


class PlainList(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = [nn.Linear(4, 4) for _ in range(3)]
        self.head = nn.Linear(4, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


@STRUCTURE.entry("plain_list")
def plain_list() -> Built:
    """x ─ layers[0] ─ layers[1] ─ layers[2] ─ head; the layers are in a Python list: run, but not registered."""
    return PlainList(), (torch.randn(2, 4),), {}


@STRUCTURE.entry("lazy_fresh")
def lazy_fresh() -> Built:
    """x[2,3,8,8] ─ LazyConv2d ─ Flatten ─ LazyLinear; no width is known before the first call."""
    return nn.Sequential(nn.LazyConv2d(4, 3), nn.Flatten(), nn.LazyLinear(5)), (torch.randn(2, 3, 8, 8),), {}


@STRUCTURE.entry("lazy_materialised")
def lazy_materialised() -> Built:
    """The same after its first call."""
    model, args, kwargs = lazy_fresh()
    model(*args)
    return model, args, kwargs


@STRUCTURE.entry("normed_weights")
def normed_weights() -> Built:
    """Linear with spectral_norm (writes its buffers in training) ─ Linear with weight_norm, both as parametrizations."""
    return (
        nn.Sequential(parametrizations.spectral_norm(nn.Linear(5, 5)), parametrizations.weight_norm(nn.Linear(5, 2))),
        (torch.randn(3, 5),),
        {},
    )


@STRUCTURE.entry("normed_weights_by_hooks")
def normed_weights_by_hooks() -> Built:
    """The same by the old hooks, which set the plain attribute ``weight`` at each call."""
    return nn.Sequential(nn.utils.spectral_norm(nn.Linear(5, 5)), nn.Linear(5, 2)), (torch.randn(3, 5),), {}


class _Doubling(torch.autograd.Function):
    @staticmethod
    def forward(ctx: torch.autograd.function.FunctionCtx, x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: torch.autograd.function.FunctionCtx, *gradients: torch.Tensor) -> torch.Tensor:
        return gradients[0] * 2


class Checkpointed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.block = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.Tanh())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = checkpoint(self.block, x, use_reentrant=False)
        return _Doubling.apply(y)  # torch has no types there


@STRUCTURE.entry("checkpoint_and_custom_function")
def checkpoint_and_custom_function() -> Built:
    """x ─ checkpoint(block) ─ Doubling, an autograd.Function of the user."""
    return Checkpointed(), (torch.randn(2, 4, requires_grad=True),), {}


def _mixed(x: torch.Tensor, scale: float = 2.0) -> torch.Tensor:
    return torch.softmax(x @ x.transpose(-1, -2) / scale, dim=-1) @ x


@STRUCTURE.entry("plain_function")
def plain_function() -> Built:
    """softmax(x·xᵀ/scale)·x: no module at all."""
    return _mixed, (torch.randn(2, 3, 4),), {"scale": 1.5}


Loss: TypeAlias = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def _step(model: nn.Module, loss_of: Loss, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return loss_of(model(x), y)


@STRUCTURE.entry("function_with_modules")
def function_with_modules() -> Built:
    """A step of training as a plain function that gets the model and the loss as arguments."""
    return _step, (nn.Linear(4, 3), nn.CrossEntropyLoss(), torch.randn(5, 4), torch.tensor([0, 1, 2, 1, 0])), {}


class Remembers(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.cache = x
        return x


NET_OF_A_SCRIPT = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Dropout(0.5), Remembers())


def _features(x: torch.Tensor) -> torch.Tensor:
    return NET_OF_A_SCRIPT(x)  # modules give Any


@STRUCTURE.entry("function_over_a_global")
def function_over_a_global() -> Built:
    """A lambda that calls a function that calls a net among the script's globals; the net trains and remembers."""
    return lambda x: _features(x).softmax(-1), (torch.randn(4, 3),), {}


@STRUCTURE.entry("function_over_a_closure")
def function_over_a_closure() -> Built:
    """The same net, held by a closure, with a tensor that is added in place to what comes out."""
    net = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), Remembers())
    offset = torch.ones(3)
    return lambda x: net(x).add_(offset.add_(1)), (torch.randn(4, 3),), {}


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(3)
        self.calls = 0

    def encode(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return self.norm(x)  # modules give Any


@STRUCTURE.entry("bound_method")
def bound_method() -> Built:
    """model.encode: a part of a model, asked for by another method than forward."""
    return Encoder().encode, (torch.randn(4, 3),), {}


class Handler(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.narrow = nn.Linear(8, 4)
        self.wide = nn.Linear(16, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        try:
            return self.narrow(x)
        except RuntimeError:
            return self.wide(x)


@STRUCTURE.entry("handles_its_own_error")
def handles_its_own_error() -> Built:
    """try: narrow(x[2,16]) fails; except: wide(x) runs. The model completes."""
    return Handler(), (torch.randn(2, 16),), {}


@STRUCTURE.entry("deep_chain")
def deep_chain() -> Built:
    """x ─ 600 modules one after another."""
    return nn.Sequential(*(nn.Linear(2, 2) if place % 2 else nn.Tanh() for place in range(600))), (torch.randn(1, 2),), {}


class Shell(nn.Module):
    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x) + 1  # modules give Any


def nested(levels: int) -> nn.Module:
    """Shell(Shell(…Linear…)), so many levels deep."""
    model: nn.Module = nn.Linear(2, 2)
    for _ in range(levels):
        model = Shell(model)
    return model


@STRUCTURE.entry("deep_nest")
def deep_nest() -> Built:
    """(((… Linear …)+1)+1)+1, 100 modules in one another."""
    return nested(100), (torch.randn(1, 2),), {}


@STRUCTURE.entry("compiled")
def compiled() -> Built:
    """torch.compile(mlp): unwrapped, never compiled."""
    return torch.compile(nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))), (torch.randn(3, 4),), {}
