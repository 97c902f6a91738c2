"""Small models with one fault each: for every kind of fix one that it repairs, and one that it must leave alone."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from tb_shapeplugin.fixes.call_argument import call_argument
from tb_shapeplugin.fixes.checked_input import checked_input
from tb_shapeplugin.fixes.dtype_and_device import dtype_and_device
from tb_shapeplugin.fixes.input_shape import input_shape
from tb_shapeplugin.fixes.input_side import input_side
from tb_shapeplugin.fixes.inserted_step import inserted_step
from tb_shapeplugin.fixes.layer_argument import layer_argument
from tb_shapeplugin.fixes.levelled_operand import levelled_operand
from tb_shapeplugin.fixes.made_of_sizes import made_of_sizes
from tb_shapeplugin.fixes.parameter_shape import parameter_shape
from tb_shapeplugin.fixes.plain_attribute import plain_attribute
from tb_shapeplugin.fixes.producer_width import producer_width
from tb_shapeplugin.fixes.registered import Propose
from tb_shapeplugin.fixes.suggestion import suggestion
from tb_shapeplugin.fixes.surplus_size import surplus_size
from tb_shapeplugin.fixes.window import window
from tb_shapeplugin.fixes.written_index import written_index
from tb_shapeplugin.fixes.written_number import written_number

Built = tuple[Any, tuple[Any, ...]]


class Net(nn.Module):
    """A module whose forward is the function that it is given; tensors become buffers, numbers plain attributes."""

    def __init__(self, function: Callable[..., Any], **held: Any) -> None:
        super().__init__()
        self.function = function
        for name, value in held.items():
            if isinstance(value, torch.Tensor) and not isinstance(value, nn.Parameter):
                self.register_buffer(name, value)
            else:
                setattr(self, name, value)

    def forward(self, x: Any, y: Any = None) -> Any:
        return self.function(self, x) if y is None else self.function(self, x, y)


@dataclass(frozen=True)
class Case:
    """A kind of fix, a model that it repairs with the text that it then says, and a model of another fault."""

    kind: Propose
    broken: Callable[[], Built]
    text: str
    refused: Callable[[], Built]


def wide_head() -> Built:
    """x[2,1,28,28] ─ Conv 5 ─ pool ─ flatten 8·12·12 = 1152 ─ head 600 ✗."""
    layers = nn.Sequential(nn.Conv2d(1, 8, 5), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(600, 4))
    return layers, (torch.randn(2, 1, 28, 28),)


def chained() -> Built:
    """x[4,6] ─ first 6→12 ─ second 16 ✗."""
    return Net(lambda s, x: s.second(s.first(x)), first=nn.Linear(6, 12), second=nn.Linear(16, 3)), (torch.randn(4, 6),)


def channels_last() -> Built:
    """x[1,36,42,3] ─ Conv 3→4 ✗: a picture with its colours last."""
    return Net(lambda s, x: s.conv(x).mean((2, 3)), conv=nn.Conv2d(3, 4, 3)), (torch.randn(1, 36, 42, 3),)


def forgot_flatten() -> Built:
    """x[2,3,8,8] ─ Conv ─ pool 4 ─ head 64 ✗: 4·4·4 = 64 was meant."""
    run = lambda s, x: s.head(F.adaptive_avg_pool2d(s.conv(x), 4))  # noqa: E731  one line is the drawing
    return Net(run, conv=nn.Conv2d(3, 4, 3), head=nn.Linear(64, 2)), (torch.randn(2, 3, 8, 8),)


def odd_skip() -> Built:
    """x[1,2,37] ─ down /2 ─ up ·2 = 36, added to x ✗."""
    run = lambda s, x: x + s.up(s.down(x))  # noqa: E731
    up = nn.ConvTranspose1d(8, 2, 4, stride=2, padding=1)
    return Net(run, down=nn.Conv1d(2, 8, 4, stride=2, padding=1), up=up), (torch.randn(1, 2, 37),)


def two_clips() -> Built:
    """a[1,2,37] + b[1,2,36] ✗."""
    return Net(lambda s, a, b: a + b), (torch.randn(1, 2, 37), torch.randn(1, 2, 36))


def drawn_for_larger() -> Built:
    """x[1,3,48,48] ─ patches of 16, 9 of them, + table of 16 ✗: drawn for 64×64."""
    run = lambda s, x: s.patch(x).flatten(2).transpose(1, 2) + s.table  # noqa: E731
    return Net(run, patch=nn.Conv2d(3, 8, 16, 16), table=nn.Parameter(torch.zeros(1, 16, 8))), (torch.randn(1, 3, 48, 48),)


def lost_axis() -> Built:
    """x[4,3,5] / x.sum(1)[4,5] ✗: keepdim is missing."""
    return Net(lambda s, x: x.sum(1).expand_as(x)), (torch.rand(4, 3, 5),)


def state_with_swapped_axes() -> Built:
    """A GRU of two layers gets zeros[batch, layers, width] ✗."""
    run = lambda s, x: s.gru(x, torch.zeros(4, 2, 5))[0]  # noqa: E731
    return Net(run, gru=nn.GRU(6, 5, num_layers=2, batch_first=True)), (torch.randn(4, 7, 6),)


def configured_batch() -> Built:
    """x[16,10].view(self.batch_size = 64, 10) ✗."""
    return Net(lambda s, x: s.fc(x).view(s.batch_size, 10), fc=nn.Linear(6, 10), batch_size=64), (torch.randn(16, 6),)


def other_statistics() -> Built:
    """x[1,28,28].sub_(mean[3,1,1]) ✗: three means for a grey picture."""
    return Net(lambda s, x: x.clone().sub_(s.mean), mean=torch.zeros(3, 1, 1)), (torch.rand(1, 28, 28),)


def doubles() -> Built:
    """x in float64 ─ fc in float32 ✗."""
    return Net(lambda s, x: s.fc(x), fc=nn.Linear(6, 2)), (torch.randn(3, 6, dtype=torch.float64),)


def labels_from_one() -> Built:
    """Labels 1 … 3 for three classes ✗."""
    return Net(lambda s, x, y: F.cross_entropy(s.fc(x), y), fc=nn.Linear(6, 3)), (torch.randn(3, 6), torch.tensor([1, 2, 3]))


def one_class_too_few() -> Built:
    """Labels 0 … 3 for three classes ✗."""
    return Net(lambda s, x, y: F.cross_entropy(s.fc(x), y), fc=nn.Linear(6, 3)), (torch.randn(3, 6), torch.tensor([0, 2, 3]))


def coincidence() -> Built:
    """x[2,3,16,16] ─ Conv 16→4 ✗: the picture happens to be as large as the layer is wide."""
    return Net(lambda s, x: s.conv(x).mean((2, 3)), conv=nn.Conv2d(16, 4, 3)), (torch.randn(2, 3, 16, 16),)


def axis_twice() -> Built:
    """x[2,5,3].permute(0, 2, 2) ✗ ─ conv 3→4: (0, 2, 1) was meant."""
    return Net(lambda s, x: s.conv(x.permute(0, 2, 2)), conv=nn.Conv1d(3, 4, 1)), (torch.randn(2, 5, 3),)


def size_too_many() -> Built:
    """x[2,12].view(2, 3, 4, 2) ✗: (2, 3, 4) was meant."""
    return Net(lambda s, x: s.fc(x.view(2, 3, 4, 2)), fc=nn.Linear(4, 5)), (torch.randn(2, 12),)


def entry_that_is_not_there() -> Built:
    """x[2,7,4][:, 40] ✗: of seven the last one was meant."""
    return Net(lambda s, x: s.fc(x[:, 40]), fc=nn.Linear(4, 3)), (torch.randn(2, 7, 4),)


def refused_channels() -> Built:
    """x[3,9,9] ✗: the code's own check wants a batch of three channels."""

    def run(s: Any, x: torch.Tensor) -> Any:
        if x.ndim != 4 or x.shape[1] != 3:
            raise ValueError("the channel dimension has to be 3")
        return s.conv(x)

    return Net(run, conv=nn.Conv2d(3, 4, 3)), (torch.randn(3, 9, 9),)


CASES = (
    Case(layer_argument, wide_head, "nn.Linear(1152, 4)", lost_axis),
    Case(producer_width, chained, "first = nn.Linear(6, 16)", channels_last),
    Case(input_shape, channels_last, "x.permute(0, 3, 1, 2)", chained),
    Case(inserted_step, forgot_flatten, "head(x.flatten(1))", doubles),
    Case(window, odd_skip, "up = nn.ConvTranspose1d(8, 2, 4, stride=2, padding=1, output_padding=1)", chained),
    Case(input_side, drawn_for_larger, "input 64×64", chained),
    Case(call_argument, lost_axis, "sum(1, keepdim=True)", wide_head),
    Case(written_number, axis_twice, "permute(0, 2, 1)", two_clips),
    Case(written_index, entry_that_is_not_there, "x[:, -1]", lost_axis),
    Case(surplus_size, size_too_many, "view(2, 3, 4)", configured_batch),
    Case(levelled_operand, two_clips, "F.pad(b, [0, 1]) in add", chained),
    Case(made_of_sizes, state_with_swapped_axes, "torch.zeros(2, 4, 5)", configured_batch),
    Case(plain_attribute, configured_batch, "model.batch_size = 16", doubles),
    Case(parameter_shape, other_statistics, "mean = torch.zeros(1, 1, 1)", chained),
    Case(dtype_and_device, doubles, "x.float()", chained),
    Case(checked_input, refused_channels, "x.unsqueeze(0)", channels_last),
    Case(suggestion, labels_from_one, "labels that count from 0: y - 1", chained),
)
