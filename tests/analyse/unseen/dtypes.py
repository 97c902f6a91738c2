"""Models whose operands have dtypes that real kernels refuse; most shape-level kernels let them through."""

import torch
import torch.nn.functional as F
from torch import nn

from tests.analyse.unseen.row import Given, Row, ints, ones

F32, F64, I64, BOOL = {"float_bits": 32}, {"float_bits": 64}, {"int_bits": 64}, {"bool_bits": 8}
HALF, DOUBLE = torch.float16, torch.float64


class Classifier(nn.Module):
    """table[n, 4] -> norm -> 3 scores."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(4)
        self.scores = nn.Linear(4, 3)

    def forward(self, table: torch.Tensor) -> torch.Tensor:
        return self.scores(self.norm(table))


class Counting(nn.Module):
    """One-hot words go straight into a layer."""

    def __init__(self, convert: bool) -> None:
        super().__init__()
        self.layer, self.convert = nn.Linear(5, 2), convert

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        counted = F.one_hot(words, 5)
        return self.layer(counted.float() if self.convert else counted)


class Mixed(nn.Module):
    """A layer under autocast, its result handed to one outside."""

    def __init__(self, convert: bool) -> None:
        super().__init__()
        self.inside, self.outside, self.convert = nn.Linear(4, 3), nn.Linear(3, 2), convert

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            hidden = self.inside(x)
        return self.outside(hidden.float() if self.convert else hidden)


def inverted(mask: torch.Tensor) -> torch.Tensor:
    """What is not masked."""
    return 1 - mask


def attended(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Attention with a mask."""
    return F.scaled_dot_product_attention(x, x, x, attn_mask=mask)


def recurrent(layer: nn.GRU, x: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
    """A recurrent layer that goes on from a state."""
    return layer(x, state)[0]


def spectrum_layer(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """A real layer on a complex spectrum."""
    return F.linear(torch.fft.fft(x), weight)


def smoothed(x: torch.Tensor) -> torch.Tensor:
    """A mean of whatever comes."""
    return x.mean(0)


def counted(total: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """A running total, kept in place."""
    total += x
    return total


def made(model: nn.Module, *args: torch.Tensor) -> Given:
    """A module and its arguments."""
    return model, args


ROWS: dict[str, Row] = {
    "float64 table into a norm": Row(
        lambda: made(Classifier(), ones(2, 4, dtype=DOUBLE)),
        "dtype",
        "torch.nn.functional.batch_norm",
        F64,
        F32,
        lambda: made(Classifier().double(), ones(2, 4, dtype=DOUBLE)),
        code="self.scores(self.norm(table))",
        module="norm",
    ),
    "bytes of a picture into a convolution": Row(
        lambda: made(nn.Sequential(nn.Conv2d(3, 4, 3)), ones(1, 3, 8, 8, dtype=torch.uint8)),
        "dtype",
        "torch.nn.functional.conv2d",
        {"int_bits": 8},
        F32,
        lambda: made(nn.Sequential(nn.Conv2d(3, 4, 3)), ones(1, 3, 8, 8)),
        module="0",
    ),
    "one-hot words into a layer": Row(
        lambda: made(Counting(False), ints(0, 4)),
        "dtype",
        "torch.nn.functional.linear",
        I64,
        F32,
        lambda: made(Counting(True), ints(0, 4)),
        code="self.layer(counted",
        module="layer",
    ),
    "half model, float input": Row(
        lambda: made(nn.Sequential(nn.Linear(4, 3)).half(), ones(2, 4)),
        "dtype",
        "torch.nn.functional.linear",
        F32,
        {"float_bits": 16},
        lambda: made(nn.Sequential(nn.Linear(4, 3)).half(), ones(2, 4, dtype=HALF)),
        module="0",
    ),
    "half layer norm, float input": Row(
        lambda: made(nn.LayerNorm(4).half(), ones(2, 4)),
        "dtype",
        "torch.nn.functional.layer_norm",
        F32,
        {"float_bits": 16},
        lambda: made(nn.LayerNorm(4), ones(2, 4, dtype=torch.bfloat16)),  # a norm takes float32 weights for narrow inputs
    ),
    "autocast left too early": Row(
        lambda: made(Mixed(False), ones(2, 4)),
        "dtype",
        "torch.nn.functional.linear",
        {"float_bits": 16},
        F32,
        lambda: made(Mixed(True), ones(2, 4)),
        code="self.outside(hidden",
        module="outside",
    ),
    "labels of 32 bits": Row(
        lambda: made(nn.CrossEntropyLoss(), ones(4, 3), ints(0, 1, 2, 0, dtype=torch.int32)),
        "dtype",
        "torch.nn.functional.cross_entropy",
        {"int_bits": 32},
        I64,
        lambda: made(nn.CrossEntropyLoss(), ones(4, 3), ints(0, 1, 2, 0)),
    ),
    "floating labels": Row(
        lambda: made(nn.CrossEntropyLoss(), ones(4, 3), ones(4)),
        "dtype",
        "torch.nn.functional.cross_entropy",
        F32,
        I64,
        lambda: made(nn.CrossEntropyLoss(), ones(4, 3), ones(4, 3)),  # probabilities
    ),
    "integer targets of a binary loss": Row(
        lambda: made(nn.BCELoss(), ones(4), ints(0, 1, 1, 0)),
        "dtype",
        "torch.nn.functional.binary_cross_entropy",
        I64,
        F32,
        lambda: made(nn.MSELoss(), ones(4), ints(0, 1, 1, 0)),  # promotes
    ),
    "float64 state of a recurrent layer": Row(
        lambda: (recurrent, (nn.GRU(4, 5), ones(3, 2, 4), ones(1, 2, 5, dtype=DOUBLE))),
        "dtype",
        "torch.gru",
        F64,
        F32,
        lambda: (recurrent, (nn.GRU(4, 5), ones(3, 2, 4), ones(1, 2, 5))),
        code="layer(x, state)",
    ),
    "float64 sequence into a recurrent layer": Row(
        lambda: made(nn.LSTM(4, 5), ones(3, 2, 4, dtype=DOUBLE)),
        "dtype",
        "torch.nn.LSTM",
        F64,
        F32,
        lambda: made(nn.LSTM(4, 5), ones(3, 2, 4)),
    ),
    "float64 into multi-head attention": Row(
        lambda: (lambda m, x: m(x, x, x), (nn.MultiheadAttention(4, 2), ones(3, 2, 4, dtype=DOUBLE))),
        "dtype",
        "torch.nn.functional.multi_head_attention_forward",
        F64,
        F32,
        lambda: (lambda m, x: m(x, x, x), (nn.MultiheadAttention(4, 2), ones(3, 2, 4))),
        code="m(x, x, x)",
    ),
    "mask of integers": Row(
        lambda: (attended, (ones(1, 2, 3, 4), ones(3, 3, dtype=torch.int64))),
        "dtype",
        "torch.nn.functional.scaled_dot_product_attention",
        I64,
        F32,
        lambda: (attended, (ones(1, 2, 3, 4), ones(3, 3, dtype=torch.bool))),
        code="attn_mask=mask",
    ),
    "float64 mask": Row(
        lambda: (attended, (ones(1, 2, 3, 4), ones(3, 3, dtype=DOUBLE))),
        "dtype",
        "torch.nn.functional.scaled_dot_product_attention",
        F64,
        F32,
        lambda: (attended, (ones(1, 2, 3, 4), ones(3, 3))),
        code="attn_mask=mask",
    ),
    "one minus a mask": Row(
        lambda: (inverted, (ones(3, dtype=torch.bool),)),
        "dtype",
        "torch.Tensor.__rsub__",
        BOOL,
        F32,
        lambda: (inverted, (ones(3),)),
        code="1 - mask",
        says="~",
    ),
    "complex spectrum into a real layer": Row(
        lambda: (spectrum_layer, (ones(2, 4), ones(3, 4))),
        "dtype",
        "torch.nn.functional.linear",
        {"complex_bits": 64},
        F32,
        lambda: (spectrum_layer, (ones(2, 4), ones(3, 4, dtype=torch.complex64))),
        code="F.linear(",
    ),
    "relu of a spectrum": Row(
        lambda: (lambda x: torch.fft.fft(x).relu(), (ones(2, 4),)),
        "dtype",
        "torch.Tensor.relu",
        {"complex_bits": 64},
        F32,
        lambda: (lambda x: torch.fft.fft(x).abs().relu(), (ones(2, 4),)),
        code="relu()",
    ),
    "mean of integers": Row(
        lambda: (smoothed, (ints(1, 2),)),
        "dtype",
        "torch.Tensor.mean",
        I64,
        F32,
        lambda: (smoothed, (ones(2),)),
        code="x.mean(0)",
    ),
    "softmax of integers": Row(
        lambda: (lambda x: x.softmax(0), (ints(1, 2),)),
        "dtype",
        "torch.Tensor.softmax",
        I64,
        F32,
        lambda: (lambda x: x.softmax(0), (ones(2),)),
        code="softmax(0)",
    ),
    "fractions into an integer total": Row(
        lambda: (counted, (ints(1, 2), ones(2))),
        "dtype",
        "torch.Tensor.add_",
        F32,
        I64,
        lambda: (counted, (ones(2), ints(1, 2))),
        code="total += x",
    ),
    "index that is a float": Row(
        lambda: (lambda x, i: x[i], (ones(5), ones(2))),
        "dtype",
        "torch.Tensor.__getitem__",
        F32,
        I64,
        lambda: (lambda x, i: x[i], (ones(5), ints(1, 2))),
        code="x[i]",
    ),
    "words that are floats": Row(
        lambda: made(nn.Embedding(5, 3), ones(2, 2)),
        "dtype",
        "torch.nn.functional.embedding",
        F32,
        I64,
        lambda: made(nn.Embedding(5, 3), ints(1, 2, dtype=torch.int32)),
    ),
    "fill mask that is a float": Row(
        lambda: (lambda x, m: x.masked_fill(m, 0.0), (ones(3), ones(3))),
        "dtype",
        "torch.Tensor.masked_fill",
        F32,
        BOOL,
        lambda: (lambda x, m: x.masked_fill(m == 0, 0.0), (ones(3), ones(3))),
        code="masked_fill(m",
    ),
    "bits of a float": Row(
        lambda: (lambda a, b: a & b, (ones(3), ones(3, dtype=torch.bool))),
        "dtype",
        "torch.Tensor.__and__",
        F32,
        BOOL,
        lambda: (lambda a, b: a & b, (ints(1, 2, 3), ones(3, dtype=torch.bool))),
        code="a & b",
    ),
    "one-hot of 32-bit labels": Row(
        lambda: (lambda labels: F.one_hot(labels, 4), (ints(1, 2, dtype=torch.int32),)),
        "dtype",
        "torch.nn.functional.one_hot",
        {"int_bits": 32},
        I64,
        lambda: (lambda labels: F.one_hot(labels, 4), (ints(1, 2),)),
        code="F.one_hot(",
    ),
    "weight of another device": Row(
        lambda: made(nn.Linear(4, 3, device="meta"), ones(2, 4)),
        "device",
        "torch.nn.functional.linear",
        {"devices": 2},
        {"devices": 1},
        lambda: made(nn.Linear(4, 3, device="meta"), torch.empty(2, 4, device="meta")),
    ),
    "new tensor on the default device": Row(
        lambda: (lambda x: x + torch.arange(4), (torch.empty(2, 4, device="meta"),)),
        "device",
        "torch.Tensor.add",
        {"devices": 2},
        {"devices": 1},
        lambda: (lambda x: x + torch.arange(4, device=x.device), (torch.empty(2, 4, device="meta"),)),
        code="torch.arange(4)",
    ),
    "pieces on two devices": Row(
        lambda: (lambda a, b: torch.cat([a, b]), (ones(2, 4), torch.empty(1, 4, device="meta"))),
        "device",
        "torch.cat",
        {"devices": 2},
        {"devices": 1},
        lambda: (lambda a, b: a @ b, (ones(2, 4), torch.empty(4, 4, device="meta"))),  # eager gives a meta tensor
        code="torch.cat(",
    ),
    "a device that isn't here": Row(
        lambda: (lambda x: x.to("xpu:7"), (ones(2),)),
        "device",
        "torch.Tensor.to",
        {"devices": 0},
        {"devices": 1},
        lambda: (lambda x: x.to("cpu"), (ones(2),)),
        code='x.to("xpu:7")',
        own_words=True,
    ),
}
