"""Models whose forward raises, each with the places of its planted faults."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from tests.zoo.classics import CNN, UNet
from tests.zoo.entry import Built, Enclosure
from tests.zoo.sequences import LSTMClassifier

FAILING = Enclosure()


@FAILING.entry("wrong_linear_width", fails=("fc1",), kinds=("linear_in_features",))
def wrong_linear_width() -> Built:
    """cnn on x[2,1,32,32] instead of 28×28: fc1 gets 16·5·5 = 400, not 256."""
    return CNN(), (torch.randn(2, 1, 32, 32),), {}


@FAILING.entry("wrong_conv_channels", fails=("1",), kinds=("conv_channels",))
def wrong_conv_channels() -> Built:
    """x[2,3,9,9] ─ Conv 3→8 ─ Conv 16→4 ✗ gets 8."""
    return nn.Sequential(nn.Conv2d(3, 8, 3), nn.Conv2d(16, 4, 3)), (torch.randn(2, 3, 9, 9),), {}


class Forward(nn.Module):
    """A module whose forward is the function that it is given."""

    def __init__(self, function: Any, **children: nn.Module) -> None:
        super().__init__()
        self.function = function
        for name, child in children.items():
            self.add_module(name, child)

    def forward(self, *args: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.function(self, *args)
        return result


@FAILING.entry("wrong_matmul", fails=("",), kinds=("matmul_dims",))
def wrong_matmul() -> Built:
    """a[2,5,6] @ b[2,7,8] ✗."""
    return Forward(lambda self, a, b: a @ b), (torch.randn(2, 5, 6), torch.randn(2, 7, 8)), {}


@FAILING.entry("wrong_cat", fails=("",), kinds=("cat",))
def wrong_cat() -> Built:
    """cat of f32[2,3] and f32[4,3] along axis 1 ✗."""
    return Forward(lambda self, a, b: torch.cat([a, b], dim=1)), (torch.randn(2, 3), torch.randn(4, 3)), {}


@FAILING.entry("wrong_view", fails=("",), kinds=("view_numel",))
def wrong_view() -> Built:
    """f32[2,30].view(2, 4, 8) ✗."""
    return Forward(lambda self, x: x.view(2, 4, 8)), (torch.randn(2, 30),), {}


@FAILING.entry("wrong_broadcast", fails=("",), kinds=("broadcast",))
def wrong_broadcast() -> Built:
    """f32[2,3,8] + f32[2,4,8] ✗."""
    return Forward(lambda self, a, b: a + b), (torch.randn(2, 3, 8), torch.randn(2, 4, 8)), {}


@FAILING.entry("wrong_norm", fails=("norm",), kinds=("norm_features",))
def wrong_norm() -> Built:
    """x[4,10] ─ fc 10→12 ─ BatchNorm1d(16) ✗."""
    return Forward(lambda self, x: self.norm(self.fc(x)), fc=nn.Linear(10, 12), norm=nn.BatchNorm1d(16)), (torch.randn(4, 10),), {}


@FAILING.entry("wrong_rank", fails=("conv",), kinds=("rank",))
def wrong_rank() -> Built:
    """Conv2d on x[7,7] ✗: two axes where three or four are wanted."""
    return Forward(lambda self, x: self.conv(x), conv=nn.Conv2d(1, 2, 3)), (torch.randn(7, 7),), {}


@FAILING.entry("wrong_call", fails=("",), kinds=("call_signature",))
def wrong_call() -> Built:
    """cnn takes one argument and gets two and a keyword."""
    return CNN(), (torch.randn(2, 1, 28, 28), torch.randn(2)), {"training": True}


@FAILING.entry("wrong_inner_call", fails=("inner",), kinds=("call_signature",))
def wrong_inner_call() -> Built:
    """The root fits; it calls its child with one argument too many."""
    return Forward(lambda self, x: self.inner(x, x), inner=nn.ReLU()), (torch.randn(2),), {}


class Block(nn.Module):
    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.up = nn.Linear(width, 32)
        self.down = nn.Linear(inner, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.down(F.relu(self.up(x)))


@FAILING.entry("one_of_twelve_blocks", fails=("8.down",), kinds=("linear_in_features",))
def one_of_twelve_blocks() -> Built:
    """x ─ 12 × (up ─ down); block 8 alone has down 24→8 where 32 comes."""
    return nn.Sequential(*(Block(8, 24 if place == 8 else 32) for place in range(12))), (torch.randn(2, 8),), {}


@FAILING.entry("inside_a_shared_module", fails=("layer",), kinds=("linear_in_features",))
def inside_a_shared_module() -> Built:
    """layer(left[3,6]) runs, its second call on right[3,7] fails."""
    run = lambda self, a, b: self.layer(a) + self.layer(b)  # noqa: E731  one line is the drawing
    return Forward(run, layer=nn.Linear(6, 6)), (torch.randn(3, 6), torch.randn(3, 7)), {}


@FAILING.entry("lstm_own_check", fails=("lstm",), kinds=("rnn_input",))
def lstm_own_check() -> Built:
    """Embedding 20 ─ LSTM(12): the module checks its input in Python, before any op."""
    return LSTMClassifier(features=20), (torch.randint(0, 50, (4, 7)),), {}


class Refuses(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.fc(x)
        if y.shape[-1] != 8:
            raise ValueError(f"expected 8 features, got {y.shape[-1]}")
        return y


@FAILING.entry("refuses", fails=("1",), kinds=("user_error",))
def refuses() -> Built:
    """Tanh ─ a module of the user that raises its own ValueError after its first op."""
    return nn.Sequential(nn.Tanh(), Refuses()), (torch.randn(2, 4),), {}


class Boom(Exception):
    """Nothing that a diagnosis knows."""


def _explode(self: nn.Module, x: torch.Tensor) -> torch.Tensor:
    raise Boom("on purpose")


@FAILING.entry("explodes", fails=("inner",), kinds=("user_error",))
def explodes() -> Built:
    """relu ─ inner raises an exception class of the user."""
    return Forward(lambda self, x: self.inner(F.relu(x)), inner=Forward(_explode)), (torch.randn(2),), {}


# --- several independent faults in one model ---


class ThreeFaultsCNN(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, padding=1)
        self.conv2 = nn.Conv2d(4, 16, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.fc = nn.Linear(16 * 7 * 7, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.norm(self.conv2(x))), 2)
        return self.fc(x.flatten(1))


@FAILING.entry("three_faults_cnn", fails=("conv2", "norm", "fc"), kinds=("conv_channels", "norm_features", "linear_in_features"))
def three_faults_cnn() -> Built:
    """conv1 8 ─ conv2(4) ✗ ─ norm(8) ✗ gets 16 ─ fc(784) ✗ gets 16·8·8."""
    return ThreeFaultsCNN(), (torch.randn(2, 3, 32, 32),), {}


class TwoTowers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.left = nn.Linear(20, 48)
        self.right = nn.Linear(30, 64)
        self.third = nn.Linear(40, 16)
        self.out = nn.Linear(99, 3)

    def forward(self, x: torch.Tensor, y: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
        similar = self.left(x) @ self.right(y).transpose(-1, -2)
        grid = self.third(z).view(8, 4, 5)
        return self.out(torch.cat([similar.mean(-1), grid.sum(-1)], 1))


@FAILING.entry("two_towers", fails=("", "", "out"), kinds=("matmul_dims", "view_numel", "linear_in_features"))
def two_towers() -> Built:
    """Three faults.

    x ─ left 48 ──┐
                  @ ✗ ─ mean ─┐
    y ─ right 64 ─┘           cat ─ out(99) ✗ gets 10
    z ─ third 16 ─ view(8,4,5) ✗ ─ sum ─┘
    """
    return TwoTowers(), (torch.randn(8, 6, 20), torch.randn(8, 7, 30), torch.randn(8, 40)), {}


@FAILING.entry("odd_unet", fails=("",), kinds=("cat",))
def odd_unet() -> Built:
    """unet on 50×50 with depth 3: 50 → 25 → 12 → 6; on the way up 24 meets 25, and were it 25, all else would fit."""
    return UNet(4, 3), (torch.randn(1, 1, 50, 50),), {}


class HandlesOne(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(10, 20)
        self.second = nn.Linear(30, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        try:
            y = x @ torch.ones(7, 20)
        except RuntimeError:
            y = self.first(x)
        return self.second(y)


@FAILING.entry("handles_one_of_two", fails=("second",), kinds=("linear_in_features",))
def handles_one_of_two() -> Built:
    """The first mismatch is the user's own business (try/except), the second one is the fault."""
    return HandlesOne(), (torch.randn(2, 10),), {}


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(16, 24)
        self.attention = nn.MultiheadAttention(32, 4, batch_first=True)
        self.feed = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(128, 32))
        self.norm = nn.LayerNorm(32)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = self.inner(x)
        mixed, _ = self.attention(hidden, hidden, hidden)
        return self.norm(mixed + self.feed(mixed))


@FAILING.entry("attention_and_feed", fails=("attention", "feed.2"), kinds=("attn_layout", "linear_in_features"))
def attention_and_feed() -> Built:
    """inner 24 ─ attention(32) ✗ ─ feed: 32→64, then Linear(128) ✗ ─ norm."""
    return Attention(), (torch.randn(2, 5, 16),), {}
