"""Models with a wrong width, a wrong side or a wrong number of channels: where the number was made."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from tests.analyse.origin_rows import Table

SIZES = Table()
Net = Any  # each model has its own parts


@SIZES.row(
    (4, 1, 28, 28),
    why="864 = 6·12·12; 1176 = 6·14·14 is what 32×32 for args[0] gives",
    by="flatten",
    at="h.flatten(1)",
    conv=lambda: nn.Conv2d(1, 6, 5),
    fc=lambda: nn.Linear(1176, 10),
)
def another_picture(self: Net, x: torch.Tensor) -> Any:
    """x[28×28] ─ conv 5 ─ pool 2 ─ flatten 864 ─ fc 1176 ✕."""
    h = F.max_pool2d(self.conv(x), 2)
    return self.fc(h.flatten(1))


@SIZES.row(
    (2, 3, 40, 40),
    why="20 = 40/2; 3200 = 8·20·20 is all of a sample: a flatten is missing",
    by="max_pool2d",
    at="F.max_pool2d",
    conv=lambda: nn.Conv2d(3, 8, 3, padding=1),
    fc=lambda: nn.Linear(3200, 10),
)
def flatten_forgotten(self: Net, x: torch.Tensor) -> Any:
    """x ─ conv ─ pool ─ [2,8,20,20] ─ fc 3200 ✕."""
    return self.fc(F.max_pool2d(self.conv(x), 2))


@SIZES.row(
    (2, 3, 64, 64),
    why="7 is pool's output_size; 1568 = 32·7·7 is all of a sample: a flatten is missing",
    by="adaptive_avg_pool2d",
    conv=lambda: nn.Conv2d(3, 32, 3),
    pool=lambda: nn.AdaptiveAvgPool2d(7),
    fc=lambda: nn.Linear(1568, 10),
)
def adaptive_pool(self: Net, x: torch.Tensor) -> Any:
    """x ─ conv ─ adaptive pool 7 ─ fc 1568 ✕."""
    return self.fc(self.pool(self.conv(x)))


@SIZES.row((2, 32), (2, 16), why="48 = 32 + 16", by="cat", at="torch.cat", fc=lambda: nn.Linear(32, 4))
def cat_of_two(self: Net, a: torch.Tensor, b: torch.Tensor) -> Any:
    """cat of 32 and 16 ─ fc 32 ✕."""
    return self.fc(torch.cat([a, b], dim=-1))


@SIZES.row((2, 12), why="60 = 5·12 (5 tensors are joined)", by="cat", at="torch.cat", fc=lambda: nn.Linear(12, 4))
def cat_of_five(self: Net, x: torch.Tensor) -> Any:
    """Five times the same side by side ─ fc 12 ✕."""
    return self.fc(torch.cat([x] * 5, 1))


@SIZES.row(
    (3, 7, 10),
    why="48 = 2 directions · 24 (rnn's hidden_size)",
    by="lstm",
    at="self.rnn",
    rnn=lambda: nn.LSTM(10, 24, batch_first=True, bidirectional=True),
    fc=lambda: nn.Linear(24, 5),
)
def both_directions(self: Net, x: torch.Tensor) -> Any:
    """x ─ LSTM both ways, 24 each ─ fc 24 ✕."""
    out, _ = self.rnn(x)
    return self.fc(out[:, -1])


@SIZES.row((3, 7, 10), why="24 is rnn's hidden_size", by="gru", at="self.rnn", rnn=lambda: nn.GRU(10, 24), fc=lambda: nn.Linear(10, 5))
def hidden_size(self: Net, x: torch.Tensor) -> Any:
    """x ─ GRU 24 ─ fc 10 ✕."""
    return self.fc(self.rnn(x)[0])


@SIZES.row(
    (3, 7, 10), why="6 is rnn's proj_size", by="lstm", at="self.rnn", rnn=lambda: nn.LSTM(10, 24, proj_size=6), fc=lambda: nn.Linear(24, 5)
)
def projected_state(self: Net, x: torch.Tensor) -> Any:
    """x ─ LSTM 24, projected to 6 ─ its state ─ fc 24 ✕."""
    _, (h, _) = self.rnn(x)
    return self.fc(h[-1])


@SIZES.row(
    (4, 10), why="24 is cell's hidden_size", by="gru_cell", at="self.cell", cell=lambda: nn.GRUCell(10, 24), fc=lambda: nn.Linear(20, 5)
)
def recurrent_cell(self: Net, x: torch.Tensor) -> Any:
    """x ─ GRUCell 24 ─ fc 20 ✕."""
    return self.fc(self.cell(x))


@SIZES.row(
    (4, 5, 48),
    why="36 = 4·9",
    by="flatten",
    at="flatten(-2)",
    heads=lambda: 4,
    qkv=lambda: nn.Linear(48, 36),
    out=lambda: nn.Linear(48, 48),
)
def heads_joined(self: Net, x: torch.Tensor) -> Any:
    """x ─ qkv 36 ─ 4 heads of 9 ─ joined 36 ─ out 48 ✕."""
    h = self.qkv(x).view(4, 5, self.heads, -1).transpose(1, 2)
    return self.out(h.transpose(1, 2).flatten(-2))


@SIZES.row((4, 5, 48), why="8 = 48/6", by="view", at="self.heads, -1", heads=lambda: 6, norm=lambda: nn.LayerNorm(16))
def width_of_a_head(self: Net, x: torch.Tensor) -> Any:
    """x 48 ─ 6 heads of 8 ─ LayerNorm 16 ✕."""
    b, t, _ = x.shape
    return self.norm(x.view(b, t, self.heads, -1))


@SIZES.row(
    (4, 5, 48),
    why="6 is self.heads; dim 3 of what it is given is 8",
    by="view",
    at="self.heads, -1",
    heads=lambda: 6,
    norm=lambda: nn.GroupNorm(2, 8),
)
def heads_from_an_attribute(self: Net, x: torch.Tensor) -> Any:
    """x 48 ─ 6 heads ─ heads first ─ GroupNorm 8 ✕."""
    h = x.view(4, 5, self.heads, -1).transpose(1, 2)
    return self.norm(h)


@SIZES.row((4, 10), why="60 = 6·10", by="repeat", at="x.repeat", fc=lambda: nn.Linear(10, 5))
def repeated(self: Net, x: torch.Tensor) -> Any:
    """x 10, six times ─ fc 10 ✕."""
    return self.fc(x.repeat(1, 6))


@SIZES.row((4, 48), why="24 = 48/2", by="chunk", at="x.chunk", fc=lambda: nn.Linear(48, 5))
def half_of_a_chunk(self: Net, x: torch.Tensor) -> Any:
    """Half of x 48 ─ fc 48 ✕."""
    gate, value = x.chunk(2, dim=-1)
    return self.fc(gate.sigmoid() * value)


@SIZES.row((4, 48), why="20 is stated in split", by="split", at="torch.split", fc=lambda: nn.Linear(24, 5))
def piece_of_a_split(self: Net, x: torch.Tensor) -> Any:
    """20 of x 48 ─ fc 24 ✕."""
    first, _ = torch.split(x, [20, 28], 1)
    return self.fc(first)


@SIZES.row(
    (2, 16, 5, 5), why="4 = 16/2²", by="pixel_shuffle", at="self.up", up=lambda: nn.PixelShuffle(2), conv=lambda: nn.Conv2d(16, 3, 3)
)
def pixel_shuffle(self: Net, x: torch.Tensor) -> Any:
    """x 16 channels ─ shuffled to 4 ─ conv 16 ✕."""
    return self.conv(self.up(x))


@SIZES.row((2, 3, 8, 8), why="27 = 3·9 (channels · the window's 9 places)", by="unfold", at="F.unfold", fc=lambda: nn.Linear(9, 4))
def unfolded(self: Net, x: torch.Tensor) -> Any:
    """x 3 channels ─ windows of 3×3 ─ fc 9 ✕."""
    return self.fc(F.unfold(x, 3).transpose(1, 2))


@SIZES.row(
    lambda: torch.zeros(2, 7, dtype=torch.long),
    why="48 is table's embedding_dim",
    by="embedding",
    at="self.table",
    table=lambda: nn.Embedding(10, 48),
    rnn=lambda: nn.LSTM(64, 8),
)
def embedding_width(self: Net, ids: torch.Tensor) -> Any:
    """ids ─ table of 48 ─ LSTM 64 ✕."""
    return self.rnn(self.table(ids))


@SIZES.row(
    (2, 3, 16, 16),
    why="32 is first.conv's out_channels",
    by="conv2d",
    at="self.first",
    first=lambda: nn.Sequential(*named(conv=nn.Conv2d(3, 32, 3), act=nn.ReLU())),
    norm=lambda: nn.BatchNorm2d(64),
)
def channels_of_a_block(self: Net, x: torch.Tensor) -> Any:
    """x ─ block of 32 channels ─ BatchNorm 64 ✕."""
    return self.norm(self.first(x))


def named(**parts: nn.Module) -> Any:
    """A Sequential's parts by name."""
    from collections import OrderedDict

    return (OrderedDict(parts),)


@SIZES.row(
    (1, 3, 50, 50),
    why="24 = 2·12, 12 = ⌊25/2⌋, 25 = 50/2; the sides of args[0] should be a multiple of 4, they are 50×50",
    by="max_pool2d",
    at="low = ",
    down=lambda: nn.Conv2d(3, 8, 3, padding=1),
    up=lambda: nn.ConvTranspose2d(8, 8, 2, stride=2),
)
def odd_skip(self: Net, x: torch.Tensor) -> Any:
    """x 50 ─ 25 ─ 12 ─ 24 beside 25 ✕."""
    skip = F.max_pool2d(self.down(x), 2)
    low = F.max_pool2d(skip, 2)
    return torch.cat([self.up(low), skip], 1)


@SIZES.row(
    (2, 1, 37),
    why="36 = 2·18, 18 = ⌊37/2⌋; dim 2 of args[0] should be a multiple of 2, it is 37",
    by="conv1d",
    at="self.down",
    down=lambda: nn.Conv1d(1, 4, 4, stride=2, padding=1),
    up=lambda: nn.ConvTranspose1d(4, 1, 4, stride=2, padding=1),
)
def odd_wave(self: Net, x: torch.Tensor) -> Any:
    """x 37 ─ 18 ─ 36, added to 37 ✕."""
    return x + self.up(self.down(x).relu())


@SIZES.row((1, 3, 20, 20), why="40 = 2·20", by="interpolate", at="F.interpolate", conv=lambda: nn.Conv2d(3, 3, 1))
def enlarged_beside_its_like(self: Net, x: torch.Tensor) -> Any:
    """x 20 added to itself enlarged ✕."""
    return self.conv(x) + F.interpolate(x, scale_factor=2)


@SIZES.row(
    (2, 3, 17, 17),
    why="3 = ⌊17/5⌋; the sides of args[0] should be 20 at least, they are 17×17",
    by="avg_pool2d",
    at="avg_pool2d",
    conv=lambda: nn.Conv2d(3, 4, 4),
)
def map_too_small(self: Net, x: torch.Tensor) -> Any:
    """x 17 ─ pool 5 ─ 3 ─ conv 4 ✕."""
    return self.conv(F.avg_pool2d(x, 5))


@SIZES.row(
    (2, 3, 256, 256),
    why="256 = 16·16, 16 = 256/16; 196 = 14·14 is what 224×224 for args[0] gives",
    by="flatten",
    at="flatten(2)",
    patch=lambda: nn.Conv2d(3, 64, 16, stride=16),
    table=lambda: nn.Parameter(torch.zeros(1, 196, 64)),
)
def positions_of_another_picture(self: Net, x: torch.Tensor) -> Any:
    """x 256 ─ 256 tokens + 196 places ✕."""
    return self.patch(x).flatten(2).transpose(1, 2) + self.table


@SIZES.row(
    lambda: torch.zeros(2, 600, dtype=torch.long),
    why="input args[0] has 600 at dim 1; dim 1 of args[0] should be 512 at most, it is 600",
    by="input args[0]",
    table=lambda: nn.Embedding(10, 16),
    places=lambda: nn.Parameter(torch.zeros(512, 16)),
)
def text_longer_than_its_places(self: Net, ids: torch.Tensor) -> Any:
    """ids 600 + the first 600 of 512 places ✕."""
    h = self.table(ids)
    return h + self.places[: ids.shape[1]]


@SIZES.row(
    (4, 9, 30),
    why="30 = 36 − 6, 36 is wide's out_features",
    by="__getitem__",
    at="[..., 6:]",
    wide=lambda: nn.Linear(30, 36),
    fc=lambda: nn.Linear(36, 4),
)
def sliced(self: Net, x: torch.Tensor) -> Any:
    """x ─ 36 without its first 6 ─ fc 36 ✕."""
    h = self.wide(x)[..., 6:]
    return self.fc(h)


@SIZES.row((4, 9, 21), why="11 = ⌈21/2⌉", by="__getitem__", at="::2", fc=lambda: nn.Linear(10, 4))
def every_second(self: Net, x: torch.Tensor) -> Any:
    """Every second of x 21 ─ fc 10 ✕."""
    return self.fc(x[..., ::2])


@SIZES.row((4, 5, 20), why="5 is stated in indexing", by="__getitem__", at=":5", fc=lambda: nn.Linear(4, 4))
def the_first_five(self: Net, x: torch.Tensor) -> Any:
    """The first 5 of x 20, where dim 1 is 5 as well ─ fc 4 ✕."""
    return self.fc(x[..., :5])


@SIZES.row((2, 6, 4), (2, 4, 9), why="input args[1] has 9 at dim 2", by="input args[1]", fc=lambda: nn.Linear(4, 4))
def product_of_matrices(self: Net, a: torch.Tensor, b: torch.Tensor) -> Any:
    """a·b ends in b's 9 ─ fc 4 ✕."""
    return self.fc(a @ b)


@SIZES.row((2, 6, 4), (9, 4), why="input args[1] has 9 at dim 0", by="input args[1]", fc=lambda: nn.Linear(4, 4))
def einsum(self: Net, a: torch.Tensor, b: torch.Tensor) -> Any:
    """einsum ends in b's 9 ─ fc 4 ✕."""
    return self.fc(torch.einsum("bij,kj->bik", a, b))


@SIZES.row(
    lambda: torch.zeros(4, dtype=torch.long), why="12 is stated in one_hot", by="one_hot", at="F.one_hot", fc=lambda: nn.Linear(10, 4)
)
def one_hot(self: Net, labels: torch.Tensor) -> Any:
    """labels ─ one of 12 ─ fc 10 ✕."""
    return self.fc(F.one_hot(labels, 12).float())


@SIZES.row((2, 3, 4), why="6 = 4 + 2", by="pad", at="F.pad", fc=lambda: nn.Linear(4, 4))
def padded(self: Net, x: torch.Tensor) -> Any:
    """x 4 ─ padded to 6 ─ fc 4 ✕."""
    return self.fc(F.pad(x, (1, 1)))


@SIZES.row((4, 20), why="5 is stated in topk", by="topk", at="topk", fc=lambda: nn.Linear(20, 4))
def best_five(self: Net, x: torch.Tensor) -> Any:
    """The best 5 of x ─ fc 20 ✕."""
    return self.fc(x.topk(5).values)


@SIZES.row(
    (4, 20),
    why="24 = 16 + 8",
    by="cat",
    at="torch.cat",
    fc=lambda: nn.Linear(16, 4),
    a=lambda: nn.Linear(20, 16),
    b=lambda: nn.Linear(20, 8),
)
def written_in_place_and_rolled(self: Net, x: torch.Tensor) -> Any:
    """Two branches joined, rolled, changed in place ─ fc 16 ✕."""
    h = torch.cat([self.a(x), self.b(x)], 1).roll(1, 0)
    h[:, 0] = 0
    h += 1
    return self.fc(h)


@SIZES.row(
    (5, 2, 24),
    why="24 is inner's out_features",
    by="linear",
    at="self.inner",
    inner=lambda: nn.Linear(24, 24),
    attention=lambda: nn.MultiheadAttention(24, 4),
    fc=lambda: nn.Linear(32, 4),
)
def through_attention(self: Net, x: torch.Tensor) -> Any:
    """x ─ inner 24 ─ attention ─ fc 32 ✕: attention hands its query's width on."""
    h = self.inner(x)
    mixed, _ = self.attention(h, h, h)
    return self.fc(mixed)


@SIZES.row(
    (2, 8, 10, 10), why="60 = 6·10", by="reshape", at="reshape(2, 10, -1)", conv=lambda: nn.Conv2d(8, 6, 1), fc=lambda: nn.Linear(80, 4)
)
def channels_joined_with_a_side(self: Net, x: torch.Tensor) -> Any:
    """x ─ 6 channels of rows of 10 ─ rows first, 6·10 each ─ fc 80 ✕."""
    return self.fc(self.conv(x).permute(0, 2, 1, 3).reshape(2, 10, -1))


@SIZES.row((2, 30), why="12 is low's out_features", by="linear", at="self.low", fc=lambda: nn.Linear(30, 4), low=lambda: nn.Linear(30, 12))
def gathered(self: Net, x: torch.Tensor) -> Any:
    """12 picked of 30 ─ fc 30 ✕."""
    index = self.low(x).argsort(1)
    return self.fc(x.gather(1, index))


@SIZES.row((4, 6, 6), why="input args[0] has 6 at dim 2", by="input args[0]", fc=lambda: nn.Linear(8, 3))
def largest_of_each_column(self: Net, x: torch.Tensor) -> Any:
    """The largest along dim 1 of x[4,6,6] ─ fc 8 ✕: what is left is dim 2."""
    return self.fc(x.max(1).values)


@SIZES.row((4, 10), why="30 = 3·10", by="repeat_interleave", at="repeat_interleave", fc=lambda: nn.Linear(10, 3))
def each_repeated(self: Net, x: torch.Tensor) -> Any:
    """Each of 10 three times ─ fc 10 ✕."""
    return self.fc(x.repeat_interleave(3, 1))


@SIZES.row((5, 9, 9), why="input args[0] has 9 at dim 1", by="input args[0]", fc=lambda: nn.Linear(8, 3))
def turned_square(self: Net, x: torch.Tensor) -> Any:
    """x[5,9,9] turned ─ fc 8 ✕: what stands last was dim 1."""
    return self.fc(x.permute(0, 2, 1))
