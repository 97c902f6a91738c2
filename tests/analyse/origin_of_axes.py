"""Models with a lost, swapped or swallowed axis, or a batch that works at one size only: what is said of where that happened."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from tests.analyse.origin_rows import Table

AXES = Table()
Net = Any  # each model has its own parts


@AXES.row(
    (1, 28, 28),
    why="144 = 12·12, 12 = 24/2, 24 = 28 − 5 + 1; args[0] has no batch axis: 1×1×28×28 runs",
    by="flatten",
    at="flatten(1)",
    conv=lambda: nn.Conv2d(1, 6, 5),
    fc=lambda: nn.Linear(864, 10),
)
def one_picture_dies_at_the_linear(self: Net, x: torch.Tensor) -> Any:
    """x[1,28,28] without a batch ─ conv ─ pool ─ flatten(1) makes rows of channels ─ fc ✕."""
    return self.fc(F.max_pool2d(self.conv(x), 2).flatten(1))


@AXES.row(
    (3, 32, 32),
    why="input args[0] has 3 axes; args[0] has no batch axis: 1×3×32×32 runs",
    by="input args[0]",
    conv=lambda: nn.Conv2d(3, 8, 3),
    norm=lambda: nn.BatchNorm2d(8),
)
def one_picture_dies_at_the_norm(self: Net, x: torch.Tensor) -> Any:
    """x[3,32,32] without a batch ─ conv takes it ─ BatchNorm2d ✕."""
    return self.norm(self.conv(x))


@AXES.row(
    (20,),
    why="input args[0] has 1 axis; args[0] has no batch axis: 1×20 runs",
    by="input args[0]",
    fc=lambda: nn.Linear(20, 8),
    norm=lambda: nn.BatchNorm1d(8),
)
def one_row_dies_at_the_norm(self: Net, x: torch.Tensor) -> Any:
    """x[20] without a batch ─ fc takes it ─ BatchNorm1d ✕."""
    return self.norm(self.fc(x))


@AXES.row(
    (2, 32, 30, 3),
    why="input args[0] has 32 at dim 1; args[0] has its channels last: 2×3×32×30 runs",
    by="input args[0]",
    conv=lambda: nn.Conv2d(3, 8, 3),
)
def channels_last(self: Net, x: torch.Tensor) -> Any:
    """x[2,32,30,3] ─ conv 3 ✕."""
    return self.conv(x)


@AXES.row(
    (4, 50, 16),
    why="input args[0] has 50 at dim 1; args[0] has its channels last: 4×16×50 runs",
    by="input args[0]",
    conv=lambda: nn.Conv1d(16, 8, 3),
)
def sequence_with_channels_last(self: Net, x: torch.Tensor) -> Any:
    """x[4,50,16] ─ conv1d 16 ✕."""
    return self.conv(x)


@AXES.row(
    (40, 3, 8, 8),
    why="input args[0] has 40 at dim 0; it works for a batch of 64, args[0] holds 40",
    by="input args[0]",
    conv=lambda: nn.Conv2d(3, 10, 8),
)
def last_batch(self: Net, x: torch.Tensor) -> Any:
    """x[40,…] ─ conv ─ view(64, 10) ✕."""
    return self.conv(x).view(64, 10)


@AXES.row(
    (40, 3, 8, 8),
    why="input args[0] has 40 at dim 0; 64 is self.batch",
    by="input args[0]",
    batch=lambda: 64,
    conv=lambda: nn.Conv2d(3, 10, 8),
)
def last_batch_by_attribute(self: Net, x: torch.Tensor) -> Any:
    """x[40,…] ─ conv ─ view(self.batch, 10) ✕."""
    return self.conv(x).view(self.batch, 10)


@AXES.row(
    (8, 2, 6), lambda: torch.zeros(8, dtype=torch.long), why="16 = batch 8 × 2", by="view", at="view(-1, 6)", fc=lambda: nn.Linear(6, 3)
)
def batch_swallowed(self: Net, x: torch.Tensor, labels: torch.Tensor) -> Any:
    """x[8,2,6] ─ view(-1, 6): 16 rows ─ beside the 8 labels ✕."""
    h = self.fc(x.view(-1, 6))
    return F.cross_entropy(h, labels)


@AXES.row(
    (10, 8),
    why="60 = 6 branches × batch 10; it works for a batch of 1, args[0] holds 10",
    by="view",
    at="view(-1, 5)",
    heads=lambda: nn.ModuleList(nn.Linear(8, 5) for _ in range(6)),
)
def branches_swallow_the_batch(self: Net, x: torch.Tensor) -> Any:
    """Six heads of a batch of 10 stacked ─ 60 rows beside 10 labels ✕."""
    h = torch.stack([head(x) for head in self.heads]).view(-1, 5)
    return h.sum(1) + x.sum(1)


@AXES.row(
    (10, 8),
    why="40 = 4 tensors × batch 10; it works for a batch of 1, args[0] holds 10",
    by="cat",
    at="torch.cat",
    fc=lambda: nn.Linear(8, 5),
)
def batches_joined(self: Net, x: torch.Tensor) -> Any:
    """Four views of a batch of 10 joined on the batch ─ 40 rows beside 10 ✕."""
    views = torch.cat([x, x + 1, x + 2, x + 3])
    return self.fc(views).sum(1) + x.sum(1)


@AXES.row(
    (5, 1, 6, 6),
    why="720 = batch 5 × 4·6·6; 1152 = 8 × 4·6·6 would put 8 samples into one row",
    by="conv2d",
    at="self.conv",
    conv=lambda: nn.Conv2d(1, 4, 3, padding=1),
)
def eight_samples_a_row(self: Net, x: torch.Tensor) -> Any:
    """x[5,…] ─ conv ─ view(-1, 8·4·6·6) ✕."""
    x = self.conv(x)
    return x.view(-1, 8 * 4 * 6 * 6)


@AXES.row((4, 32, 5, 5), why="sum drops dim 1; as f32[4,1,5,5] it would fit", by="sum", at="sum(1)")
def keepdim_forgotten(self: Net, x: torch.Tensor) -> Any:
    """x · its norm without keepdim ✕."""
    return x * x.pow(2).sum(1).rsqrt()


@AXES.row((4, 7, 24), why="mean drops dim 2; as f32[4,7,1] it would fit", by="mean", at="mean(-1)")
def mean_without_keepdim(self: Net, x: torch.Tensor) -> Any:
    """x less its mean ✕."""
    centre = x.mean(-1)
    return x - centre


@AXES.row(
    (1, 3, 8, 8),
    why="squeeze gives 1 axis, was given 4 (every axis of 1 goes, the batch of 1, too)",
    by="squeeze",
    at="squeeze()",
    conv=lambda: nn.Conv2d(3, 6, 8),
    norm=lambda: nn.BatchNorm1d(6),
)
def squeeze_takes_the_batch(self: Net, x: torch.Tensor) -> Any:
    """A batch of 1 ─ conv ─ [1,6,1,1].squeeze() ─ BatchNorm1d ✕."""
    return self.norm(self.conv(x).squeeze())


@AXES.row((4, 3, 8, 8), why="unsqueeze gives 5 axes, was given 4", by="unsqueeze", at="unsqueeze(0)", conv=lambda: nn.Conv2d(3, 6, 3))
def one_axis_too_many(self: Net, x: torch.Tensor) -> Any:
    """x ─ unsqueeze ─ relu ─ conv ✕."""
    return self.conv(x.unsqueeze(0).relu())


@AXES.row(
    (4, 3, 8, 8),
    why="indexing gives 3 axes, was given 4 (an index that is a number drops its axis)",
    by="__getitem__",
    at="x[:, 0]",
    conv=lambda: nn.Conv2d(1, 6, 3),
    norm=lambda: nn.BatchNorm2d(6),
)
def an_index_drops_the_channel(self: Net, x: torch.Tensor) -> Any:
    """The first channel of x, its axis gone ─ BatchNorm2d ✕."""
    return self.norm(x[:, 0])


@AXES.row(
    (8, 5, 16),
    why="parameter mask has 5 at dim 0; it runs without the transpose",
    by="parameter mask",
    mask=lambda: nn.Parameter(torch.zeros(5, 5)),
    attention=lambda: nn.MultiheadAttention(16, 2, batch_first=True),
)
def time_put_first_for_nothing(self: Net, x: torch.Tensor) -> Any:
    """x[8,5,16] ─ time first ─ attention that wants the batch first, with a mask of 5·5 ✕."""
    x = x.transpose(0, 1)
    return self.attention(x, x, x, attn_mask=self.mask)


@AXES.row(
    (8, 20, 10),
    why="buffer h0 has 8 at dim 1; args[0] seems to have batch and time swapped: 20×8×10 runs",
    by="buffer h0",
    rnn=lambda: nn.GRU(10, 6),
    h0=lambda: nn.Buffer(torch.zeros(1, 8, 6)),
)
def batch_first_forgotten(self: Net, x: torch.Tensor) -> Any:
    """x[8,20,10], batch first ─ GRU that wants time first, with a state for 8 ✕."""
    return self.rnn(x, self.h0)


@AXES.row((4, 12), why="4 is a side of 4×4, all pairs of f32[4,1] and f32[4]", by="add", at="pairs =", fc=lambda: nn.Linear(12, 12))
def matrix_of_all_pairs(self: Net, x: torch.Tensor) -> Any:
    """scores[4,1] + scores[4] are 4·4 ─ added to x ✕."""
    scores = self.fc(x).sum(1, keepdim=True)
    pairs = scores + scores.squeeze(1)
    return pairs + x


@AXES.row(
    (2, 10, 16),
    why="1 is the axis that unsqueeze adds; it works for a batch of 1, args[0] holds 2",
    by="unsqueeze",
    at="unsqueeze(1)",
    queries=lambda: nn.Parameter(torch.zeros(10, 16)),
    attention=lambda: nn.MultiheadAttention(16, 2),
)
def queries_for_one(self: Net, x: torch.Tensor) -> Any:
    """Queries for one picture beside a memory of two ✕."""
    memory = x.transpose(0, 1)
    return self.attention(self.queries.unsqueeze(1), memory, memory)


@AXES.row(
    (2, 10, 16),
    why="mean gives 2 axes, was given 3 (keepdim isn't set, dim 1 goes)",
    by="mean",
    at="mean(1)",
    conv=lambda: nn.Conv2d(16, 4, 1),
)
def pooled_before_a_convolution(self: Net, x: torch.Tensor) -> Any:
    """x ─ mean over time ─ conv2d ✕."""
    return self.conv(x.mean(1))


@AXES.row((6, 4), (6, 4), why="3 = 6/2", by="view", at="view(3, 2, 4)")
def expanded_against_another(self: Net, a: torch.Tensor, b: torch.Tensor) -> Any:
    """A row for each of 3 pairs against 6 rows ✕."""
    pairs = a.view(3, 2, 4).mean(1)
    return pairs.unsqueeze(1).expand(-1, 2, -1).reshape(-1, 8) + b.repeat(1, 2)


@AXES.row(
    (4, 5, 10),
    why="4 = 2 layers · 2 directions (a state has them first); 24 = 6·4 is all of a sample: a flatten is missing",
    by="lstm",
    at="self.rnn",
    rnn=lambda: nn.LSTM(10, 6, 2, bidirectional=True, batch_first=True),
    fc=lambda: nn.Linear(24, 3),
)
def layers_of_a_state(self: Net, x: torch.Tensor) -> Any:
    """The last states [4,4,6], layers behind ─ fc 24 ✕."""
    _, (h, _) = self.rnn(x)
    return self.fc(h.permute(1, 2, 0))


@AXES.row(
    (7, 2, 16),
    why="input args[0] has 7 at dim 0",
    by="input args[0]",
    attention=lambda: nn.MultiheadAttention(16, 2),
    fc=lambda: nn.Linear(16, 3),
)
def weights_of_an_attention(self: Net, x: torch.Tensor) -> Any:
    """The weights [2,7,7] of 7 steps to 7 ─ fc 16 ✕."""
    _, weights = self.attention(x, x, x)
    return self.fc(weights)


@AXES.row(
    (8, 5, 10),
    why="constant h0 has 32 at dim 1; it works for a batch of 32, args[0] holds 8",
    by="constant h0",
    rnn=lambda: nn.LSTM(10, 6, batch_first=True),
    h0=lambda: torch.zeros(1, 32, 6),
)
def state_made_for_another_batch(self: Net, x: torch.Tensor) -> Any:
    """A batch of 8 with a state for 32 ✕."""
    return self.rnn(x, (self.h0, self.h0))


VALUES = Table()


@VALUES.row(
    (4, 6, 5),
    why="no size is wrong: transpose only changes the order in which the same elements are read",
    by="transpose",
    at="x.transpose",
    fc=lambda: nn.Linear(30, 4),
)
def view_of_a_transpose(self: Net, x: torch.Tensor) -> Any:
    """x turned ─ relu ─ view ✕."""
    h = x.transpose(1, 2)
    return self.fc(h.relu().view(4, -1))


@VALUES.row(
    (4, 6, 8), why="no size is wrong: indexing only changes the order in which the same elements are read", by="__getitem__", at=":4"
)
def view_of_a_slice(self: Net, x: torch.Tensor) -> Any:
    """The first half of x's rows ─ view ✕."""
    return x[..., :4].view(4, -1)


@VALUES.row((3, 20), why="double gives float64", by="double", at="x.double()", fc=lambda: nn.Linear(20, 4))
def made_double(self: Net, x: torch.Tensor) -> Any:
    """x as float64 ─ doubled ─ fc ✕."""
    h = x.double() * 2
    return self.fc(h)


@VALUES.row(
    lambda: torch.zeros(3, 20, dtype=torch.float64),
    why="input args[0] is float64, as numpy's arrays of floats are",
    by="input args[0]",
    fc=lambda: nn.Linear(20, 4),
)
def numpy_array(self: Net, x: torch.Tensor) -> Any:
    """x of float64 ─ fc ✕."""
    return self.fc(x.relu())


@VALUES.row((3, 20), why="argmax gives int64", by="argmax", at="argmax", fc=lambda: nn.Linear(3, 4))
def class_numbers_into_a_linear(self: Net, x: torch.Tensor) -> Any:
    """The largest of each row ─ fc ✕."""
    return self.fc(x.argmax(1))


@VALUES.row(
    (3, 20),
    why="constant scale is on meta, it is neither parameter nor buffer, so .to() leaves it there",
    by="constant scale",
    scale=lambda: torch.ones(20, device="meta"),
)
def table_left_behind(self: Net, x: torch.Tensor) -> Any:
    """x times a table elsewhere ✕."""
    return x * self.scale


@VALUES.row(lambda: torch.tensor([[1, 2]]), why="add computes it", by="add", at="ids + 9", table=lambda: nn.Embedding(10, 4))
def shifted_ids(self: Net, ids: torch.Tensor) -> Any:
    """ids + 9 ─ a table of 10 ✕."""
    moved = ids + 9
    return self.table(moved.flatten())
