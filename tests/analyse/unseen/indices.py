"""Models whose indices, labels or masks are wrong by value or by shape."""

import torch
import torch.nn.functional as F
from torch import nn

from tests.analyse.unseen.row import Row, ints, ones

BOOL = torch.bool


class Text(nn.Module):
    """words[n, t] + positions, at most 6 of them."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(10, 4), nn.Embedding(6, 4)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        return self.words(words) + self.places(torch.arange(words.shape[1]))


class Encoded(nn.Module):
    """An encoder layer with a padding mask."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)

    def forward(self, x: torch.Tensor, padded: torch.Tensor) -> torch.Tensor:
        return self.layer(x, src_key_padding_mask=padded)


def classified(scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Labels that are counted from 1, and those after the shift."""
    return F.cross_entropy(scores, labels - 1)


def written(x: torch.Tensor, rows: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
    """Ones at some places."""
    x[rows, columns] = 1.0
    return x


def masked(x: torch.Tensor, mask: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """Some entries replaced."""
    x[mask] = values
    return x


def attended(attend: nn.MultiheadAttention, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Self-attention with an attention mask."""
    return attend(x, x, x, attn_mask=mask)[0]


def chosen(values: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
    """The values of the actions taken."""
    return values.gather(1, actions)


ROWS: dict[str, Row] = {
    "word outside the vocabulary": Row(
        lambda: (Text(), (torch.tensor([[1, 2, 10]]),)),
        "index_range",
        "torch.nn.functional.embedding",
        {"max_index": 10},
        {"num_embeddings": 10},
        lambda: (Text(), (torch.tensor([[1, 2, 9]]),)),
        code="self.words(words)",
        module="words",
    ),
    "padding word of -1": Row(
        lambda: (Text(), (torch.tensor([[1, -1]]),)),
        "index_range",
        "torch.nn.functional.embedding",
        {"max_index": -1},
        {"num_embeddings": 10},
        lambda: (Text(), (torch.tensor([[1.0, 2.0]]),)),
        twin_kind="dtype",
        code="self.words(words)",
        module="words",
    ),
    "text longer than the table of places": Row(
        lambda: (Text(), (torch.zeros(2, 7, dtype=torch.int64),)),
        "index_range",
        "torch.nn.functional.embedding",
        {"max_index": 6},
        {"num_embeddings": 6},
        lambda: (Text(), (torch.zeros(2, 6, dtype=torch.int64),)),
        code="self.places(",
        module="places",
    ),
    "second index outside": Row(
        lambda: (lambda x, i, j: x[i, j], (ones(5, 2), ints(0, 1), ints(0, 2))),
        "index_range",
        "torch.Tensor.__getitem__",
        {"max_index": 2},
        {"below": 2},
        lambda: (lambda x, i, j: x[i, j], (ones(5, 2), ints(0, 1), ints(0, -2))),
        code="x[i, j]",
    ),
    "index behind an ellipsis": Row(
        lambda: (lambda x, i: x[..., i], (ones(5, 3, 2), ints(2))),
        "index_range",
        "torch.Tensor.__getitem__",
        {"max_index": 2},
        {"below": 2},
        lambda: (lambda x, i: x[:, i], (ones(5, 3, 2), ints(2))),
        code="x[..., i]",
    ),
    "written outside": Row(
        lambda: (written, (torch.zeros(2, 3), ints(0, 1), ints(0, 3))),
        "index_range",
        "torch.Tensor.__setitem__",
        {"max_index": 3},
        {"below": 3},
        lambda: (written, (torch.zeros(2, 4), ints(0, 1), ints(0, 3))),
        code="x[rows, columns] = 1.0",
    ),
    "probability above 1": Row(
        lambda: (lambda x, y: F.binary_cross_entropy(x.sigmoid(), y), (ones(3), torch.tensor([0.0, 1.5, 1.0]))),
        "loss_target_range",
        "torch.nn.functional.binary_cross_entropy",
        {},
        {},
        lambda: (lambda x, y: F.binary_cross_entropy(x.sigmoid(), y), (ones(3), torch.tensor([0.0, 0.5, 1.0]))),
        code="F.binary_cross_entropy(",
        says="the target holds values above 1 (up to 2), it takes those from 0 to 1",
    ),
    "probability below 0": Row(
        lambda: (lambda x, y: F.binary_cross_entropy(x.sigmoid(), y), (ones(2), torch.tensor([1.0, -1.0]))),
        "loss_target_range",
        "torch.nn.functional.binary_cross_entropy",
        {},
        {},
        lambda: (lambda x, y: F.binary_cross_entropy_with_logits(x, y), (ones(2), torch.tensor([1.0, -1.0]))),
        code="F.binary_cross_entropy(",
        says="below 0 (down to -1)",
    ),
    "index of 32 bits outside": Row(
        lambda: (lambda x, i: x.gather(1, i), (ones(2, 4), ints(4, 0, dtype=torch.int32)[:, None])),
        "index_range",
        "torch.Tensor.gather",
        {"max_index": 4},
        {"below": 4},
        lambda: (lambda x, i: x.gather(1, i), (ones(2, 4), ints(3, 0, dtype=torch.int32)[:, None])),
        code="x.gather(1, i)",
    ),
    "more drawn than there are": Row(
        lambda: (lambda x: torch.multinomial(x, 5), (ones(2, 4),)),
        "index_range",
        "torch.multinomial",
        {"samples": 5},
        {"categories": 4},
        lambda: (lambda x: torch.multinomial(x, 5, replacement=True), (ones(2, 4),)),
        code="torch.multinomial(x, 5)",
    ),
    "class outside a one-hot row": Row(
        lambda: (lambda labels: F.one_hot(labels, 3), (ints(0, 3),)),
        "index_range",
        "torch.nn.functional.one_hot",
        {"max_index": 3},
        {"below": 3},
        lambda: (lambda labels: F.one_hot(labels), (ints(0, 3),)),
        code="F.one_hot(labels, 3)",
    ),
    "negative one-hot without a count": Row(
        lambda: (lambda labels: F.one_hot(labels), (ints(0, -1),)),
        "index_range",
        "torch.nn.functional.one_hot",
        {"min_index": -1},
        {"min_index": 0},
        lambda: (lambda labels: F.one_hot(labels), (ints(0, 1),)),
        code="F.one_hot(labels)",
    ),
    "row added outside": Row(
        lambda: (lambda x, i, s: x.index_copy(0, i, s), (torch.zeros(3, 2), ints(3, 0), ones(2, 2))),
        "index_range",
        "torch.Tensor.index_copy",
        {"max_index": 3},
        {"below": 3},
        lambda: (lambda x, i, s: x.index_copy(0, i, s), (torch.zeros(3, 2), ints(2, 0), ones(3, 2))),
        twin_kind="index_shape",
        code="x.index_copy(",
    ),
    "labels counted from 2": Row(
        lambda: (classified, (ones(3, 4), ints(1, 2, 5))),
        "loss_target_range",
        "torch.nn.functional.cross_entropy",
        {"label": 4},
        {"below": 4},
        lambda: (classified, (ones(3, 4), ints(1, 2, -99))),  # becomes -100, which is ignored
        code="F.cross_entropy(scores, labels - 1)",
    ),
    "background of 255": Row(
        lambda: (nn.CrossEntropyLoss(), (ones(1, 3, 2, 2), torch.full((1, 2, 2), 255))),
        "loss_target_range",
        "torch.nn.functional.cross_entropy",
        {"label": 255},
        {"below": 3},
        lambda: (nn.CrossEntropyLoss(ignore_index=255), (ones(1, 3, 2, 2), torch.full((1, 2, 2), 255))),
    ),
    "margin over too few classes": Row(
        lambda: (nn.MultiMarginLoss(), (ones(3, 4), ints(0, 1, 4))),
        "loss_target_range",
        "torch.nn.functional.multi_margin_loss",
        {"label": 4},
        {"below": 4},
        lambda: (nn.MultiMarginLoss(), (ones(3, 4), ints(0, 1, 3))),
    ),
    "blank of CTC outside": Row(
        lambda: (nn.CTCLoss(blank=9), (ones(5, 2, 4).log_softmax(-1), torch.ones(2, 3).long(), ints(5, 5), ints(3, 3))),
        "loss_target_range",
        "torch.nn.functional.ctc_loss",
        {"label": 9},
        {"below": 4},
        lambda: (nn.CTCLoss(blank=3), (ones(5, 2, 4).log_softmax(-1), torch.ones(2, 3).long(), ints(5, 5), ints(3, 3))),
    ),
    "weights for other classes": Row(
        lambda: (nn.CrossEntropyLoss(weight=ones(3)), (ones(3, 4), ints(0, 1, 2))),
        "loss_target_shape",
        "torch.nn.functional.cross_entropy",
        {"classes": 3},
        {"classes": 4},
        lambda: (nn.CrossEntropyLoss(weight=ones(4)), (ones(3, 4), ints(0, 1, 2))),
    ),
    "padding mask of another batch": Row(
        lambda: (Encoded(), (ones(3, 5, 8), torch.zeros(5, 3, dtype=BOOL))),
        "mask_shape",
        "torch.nn.functional.multi_head_attention_forward",
        {"batch": 5},
        {"batch": 3},
        lambda: (Encoded(), (ones(3, 5, 8), torch.zeros(3, 5, dtype=BOOL))),
        module="layer.self_attn",
        code="src_key_padding_mask=padded",
    ),
    "attention mask for each picture": Row(
        lambda: (attended, (nn.MultiheadAttention(8, 2, batch_first=True), ones(3, 5, 8), torch.zeros(3, 5, 5, dtype=BOOL))),
        "mask_shape",
        "torch.nn.functional.multi_head_attention_forward",
        {"heads": 3},
        {"heads": 6},
        lambda: (attended, (nn.MultiheadAttention(8, 2, batch_first=True), ones(3, 5, 8), torch.zeros(6, 5, 5, dtype=BOOL))),
        code="attn_mask=mask",
    ),
    "attention mask with four axes": Row(
        lambda: (attended, (nn.MultiheadAttention(8, 2, batch_first=True), ones(3, 5, 8), torch.zeros(3, 2, 5, 5, dtype=BOOL))),
        "mask_shape",
        "torch.nn.functional.multi_head_attention_forward",
        {"ndim": 4},
        {"ndim": 2},
        lambda: (attended, (nn.MultiheadAttention(8, 2, batch_first=True), ones(3, 5, 8), torch.zeros(5, 5, dtype=BOOL))),
        code="attn_mask=mask",
    ),
    "fill mask of another axis": Row(
        lambda: (lambda x, m: x.masked_fill(m, 0.0), (ones(2, 4, 6), torch.ones(2, 4, dtype=BOOL))),
        "mask_shape",
        "torch.Tensor.masked_fill",
        {"size": 4},
        {"size": 6},
        lambda: (lambda x, m: x.masked_fill(m[..., None], 0.0), (ones(2, 4, 6), torch.ones(2, 4, dtype=BOOL))),
        code="x.masked_fill(m",
    ),
    "more values than the mask picks": Row(
        lambda: (masked, (ones(5), torch.tensor([True, True, False, False, False]), ones(4))),
        "mask_shape",
        "torch.Tensor.__setitem__",
        {"values": 4},
        {"values": 2},
        lambda: (masked, (ones(5), torch.tensor([True, True, False, False, False]), ones(2))),
        code="x[mask] = values",
    ),
    "mask of another length": Row(
        lambda: (lambda x, m: x[m].mean(), (ones(5, 3), torch.ones(4, dtype=BOOL))),
        "mask_shape",
        "torch.Tensor.__getitem__",
        {"size": 4},
        {"size": 5},
        lambda: (lambda x, m: x[m].mean(), (ones(5, 3), ints(0, 1, 2, 3))),
        code="x[m]",
    ),
    "condition of another length": Row(
        lambda: (lambda x, m: torch.where(m, x, 0.0), (ones(2, 4), torch.ones(3, 4, dtype=BOOL))),
        "mask_shape",
        "torch.where",
        {"size": 3},
        {"size": 2},
        lambda: (lambda x, m: torch.where(m, x, 0.0), (ones(2, 4), torch.ones(4, dtype=BOOL))),
        code="torch.where(m",
    ),
    "actions without their axis": Row(
        lambda: (chosen, (ones(8, 4), torch.zeros(8, dtype=torch.int64))),
        "index_shape",
        "torch.Tensor.gather",
        {"ndim": 1},
        {"ndim": 2},
        lambda: (chosen, (ones(8, 4), torch.zeros(8, 1, dtype=torch.int64))),
        code="values.gather(1, actions)",
    ),
    "two indices of other lengths": Row(
        lambda: (lambda x, i, j: x[i, j], (ones(5, 6), ints(0, 1, 2), ints(0, 1))),
        "index_shape",
        "torch.Tensor.__getitem__",
        {"size": 2},
        {"size": 3},
        lambda: (lambda x, i, j: x[i, j], (ones(5, 6), ints(0, 1, 2), ints(0))),
        code="x[i, j]",
    ),
}
