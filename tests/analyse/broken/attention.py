"""Models with attention, recurrence or a loss whose inputs, states, masks or targets don't fit."""

import torch
import torch.nn.functional as F
from torch import nn

from tests.analyse.broken.row import Fault, Row, classes, noise


class Cross(nn.Module):
    """Cross attention of text over picture features of another width."""

    def __init__(self, key_width: int | None) -> None:
        super().__init__()
        self.attend = nn.MultiheadAttention(16, 4, batch_first=True, kdim=key_width, vdim=key_width)

    def forward(self, text: torch.Tensor, picture: torch.Tensor) -> torch.Tensor:
        return self.attend(text, picture, picture)[0]


class Seq2Seq(nn.Module):
    """A transformer whose target is in another layout than its source."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Transformer(16, 2, 1, 1, 32, batch_first=True)

    def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return self.body(source, target)


def attended(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """Scaled dot-product attention as it is."""
    return F.scaled_dot_product_attention(query, key, value)


class Encoded(nn.Module):
    """An encoder layer with a padding mask."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)

    def forward(self, tokens: torch.Tensor, padded: torch.Tensor) -> torch.Tensor:
        return self.layer(tokens, src_key_padding_mask=padded)


class Causal(nn.Module):
    """Attention by hand with a causal mask of a fixed length."""

    def __init__(self, longest: int) -> None:
        super().__init__()
        self.register_buffer("mask", torch.ones(longest, longest).tril().bool())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scores = x @ x.transpose(1, 2)
        return scores.masked_fill(~self.mask, float("-inf")).softmax(-1) @ x


class Tagger(nn.Module):
    """words -> embedding -> recurrent layer -> tags."""

    def __init__(self, kind: type[nn.RNNBase], width: int, both: bool = False, head: int = 12) -> None:
        super().__init__()
        self.words = nn.Embedding(40, 10)
        self.rnn = kind(width, 12, batch_first=True, bidirectional=both)
        self.tags = nn.Linear(head, 5)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        return self.tags(self.rnn(self.words(words))[0])


class Stateful(nn.Module):
    """A recurrent layer that is given its state."""

    def __init__(self, layers: int = 1, both: bool = False, batch_first: bool = True) -> None:
        super().__init__()
        self.rnn = nn.GRU(6, 8, layers, batch_first=batch_first, bidirectional=both)

    def forward(self, x: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
        return self.rnn(x, state)[0]


class Stepped(nn.Module):
    """A cell, step by step."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(width, 8)

    def forward(self, x: torch.Tensor, h: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
        for step in x.unbind(1):
            h, c = self.cell(step, (h, c))
        return h


class Learner(nn.Module):
    """Features -> scores -> loss."""

    def __init__(self, out: int, loss: nn.Module) -> None:
        super().__init__()
        self.head = nn.Linear(6, out)
        self.loss = loss

    def forward(self, x: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return self.loss(self.head(x), target)


class Vocabulary(nn.Module):
    """Adaptive softmax over many words."""

    def __init__(self) -> None:
        super().__init__()
        self.loss = nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5])

    def forward(self, states: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        return self.loss(states, words).loss


class Remembering(nn.Module):
    """An LSTM of two layers that is given a state."""

    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.LSTM(6, 8, 2)

    def forward(self, x: torch.Tensor, *state: torch.Tensor) -> torch.Tensor:
        return self.rnn(x, state if len(state) > 1 else state[0])[0]


def language_loss(scores: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
    """Next-word loss without moving the classes to dim 1."""
    return F.cross_entropy(scores, words)


def triplet(anchor: torch.Tensor, good: torch.Tensor, bad: torch.Tensor) -> torch.Tensor:
    """Three batches of embeddings."""
    return F.triplet_margin_loss(anchor, good, bad)


def dice(scores: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Segmentation of two classes by binary cross entropy."""
    return F.binary_cross_entropy_with_logits(scores, mask)


FN, T = f"{F.__name__}.", "torch.Tensor."
ATTEND = FN + "multi_head_attention_forward"

ROWS: dict[str, Row] = {
    "attention_over_wider_keys": Row(
        lambda: (Cross(None), (noise(2, 5, 16), noise(2, 9, 24))),
        (Fault("attn_layout", "attend", ATTEND, "self.attend(text", {"width": 24}, {"width": 16}),),
        lambda: (Cross(24), (noise(2, 5, 16), noise(2, 9, 24))),
    ),
    "attention_over_another_batch": Row(
        lambda: (Cross(None), (noise(2, 5, 16), noise(3, 9, 16))),
        (Fault("attn_layout", "attend", ATTEND, "self.attend(text", {"batch": 3}, {"batch": 2}),),
        lambda: (Cross(None), (noise(2, 5, 16), noise(2, 7, 16))),
    ),
    "attention_of_target_in_other_layout": Row(
        lambda: (Seq2Seq(), (noise(2, 7, 16), noise(4, 2, 16))),
        (Fault("attn_layout", "body", "torch.nn.Transformer", "self.body(source", {"batch": 4}, {"batch": 2}),),
        lambda: (Seq2Seq(), (noise(2, 7, 16), noise(2, 4, 16))),
    ),
    "attention_of_values_of_other_length": Row(
        lambda: (attended, (noise(2, 5, 8), noise(2, 6, 8), noise(2, 7, 8))),
        (Fault("attn_layout", "", FN + "scaled_dot_product_attention", "F.scaled_dot", {"length": 7}, {"length": 6}),),
        lambda: (attended, (noise(2, 5, 8), noise(2, 6, 8), noise(2, 6, 9))),
    ),
    "mask_of_another_length": Row(
        lambda: (Causal(10), (noise(2, 12, 8),)),
        (Fault("mask_shape", "", T + "masked_fill", "scores.masked_fill", {"size": 10}, {"size": 12}),),
        lambda: (Causal(12), (noise(2, 12, 8),)),
    ),
    "mask_in_other_layout": Row(
        lambda: (Encoded(), (noise(2, 9, 16), torch.zeros(9, 2, dtype=torch.bool))),
        (
            Fault(
                "mask_shape",
                "layer.self_attn",
                ATTEND,
                "self.layer(tokens",
                {"batch": 9},
                {"batch": 2},
            ),
        ),
        lambda: (Encoded(), (noise(2, 9, 16), torch.zeros(2, 9, dtype=torch.bool))),
    ),
    "recurrent_input": Row(
        lambda: (Tagger(nn.GRU, 16), (classes(2, 7),)),
        (Fault("rnn_input", "rnn", "torch.nn.GRU", "self.rnn(self.words", {"input_size": 10}, {"input_size": 16}, True),),
        lambda: (Tagger(nn.GRU, 10), (classes(2, 7),)),
    ),
    "recurrent_input_of_a_plain_one": Row(
        lambda: (Tagger(nn.RNN, 8), (classes(2, 7),)),
        (Fault("rnn_input", "rnn", "torch.nn.RNN", "self.rnn(self.words", {"input_size": 10}, {"input_size": 8}, True),),
        lambda: (Tagger(nn.LSTM, 10, both=True), (classes(2, 7),)),
        "linear_in_features",
    ),
    "recurrent_input_of_a_cell": Row(
        lambda: (Stepped(7), (noise(2, 3, 6), noise(2, 8), noise(2, 8))),
        (Fault("rnn_input", "cell", "torch.lstm_cell", "self.cell(step", {"input_size": 6}, {"input_size": 7}, True),),
        lambda: (Stepped(6), (noise(2, 3, 6), noise(2, 8), noise(2, 8))),
    ),
    "state_of_another_batch": Row(
        lambda: (Stateful(), (noise(4, 5, 6), noise(1, 5, 8))),
        (Fault("rnn_state", "rnn", "torch.nn.GRU", "self.rnn(x, state)", {"batch": 5}, {"batch": 4}),),
        lambda: (Stateful(batch_first=False), (noise(4, 5, 6), noise(1, 5, 8))),
    ),
    "state_of_one_direction": Row(
        lambda: (Stateful(2, both=True), (noise(4, 5, 6), noise(2, 4, 8))),
        (Fault("rnn_state", "rnn", "torch.nn.GRU", "self.rnn(x, state)", {"layers": 2}, {"layers": 4}),),
        lambda: (Stateful(2), (noise(4, 5, 6), noise(2, 4, 8))),
    ),
    "state_of_a_cell": Row(
        lambda: (Stepped(6), (noise(2, 3, 6), noise(2, 9), noise(2, 8))),
        (Fault("rnn_state", "cell", "torch.lstm_cell", "self.cell(step", {"hidden": 9}, {"hidden": 8}),),
        lambda: (Stepped(6), (noise(2, 3, 6), noise(2, 8), noise(2, 8))),
    ),
    "state_without_layers": Row(
        lambda: (Stateful(), (noise(4, 5, 6), noise(4, 8))),
        (Fault("rnn_state", "rnn", "torch.nn.GRU", "self.rnn(x, state)", {"ndim": 2}, {"ndim": 3}),),
        lambda: (Stateful(), (noise(4, 5, 6), noise(1, 4, 8))),
    ),
    "state_without_its_cell": Row(
        lambda: (Remembering(), (noise(5, 4, 6), noise(2, 4, 8))),
        (Fault("rnn_state", "rnn", "torch.nn.LSTM", "self.rnn(x, state", {"states": 1}, {"states": 2}),),
        lambda: (Remembering(), (noise(5, 4, 6), noise(2, 4, 8), noise(2, 4, 8))),
    ),
    "target_of_an_adaptive_softmax": Row(
        lambda: (Vocabulary(), (noise(4, 8), classes(5))),
        (Fault("loss_target_shape", "loss", "torch.nn.AdaptiveLogSoftmaxWithLoss", "self.loss(states", {"rows": 5}, {"rows": 4}),),
        lambda: (Vocabulary(), (noise(4, 8), classes(4))),
    ),
    "targets_of_sentences_for_an_adaptive_softmax": Row(
        lambda: (Vocabulary(), (noise(4, 3, 8), classes(4, 3))),
        (Fault("loss_target_shape", "loss", "torch.nn.AdaptiveLogSoftmaxWithLoss", "self.loss(states", {"ndim": 2}, {"ndim": 1}),),
        lambda: (Vocabulary(), (noise(12, 8), classes(12))),
    ),
    "target_with_a_column": Row(
        lambda: (Learner(4, nn.CrossEntropyLoss()), (noise(8, 6), classes(8, 1))),
        (Fault("loss_target_shape", "loss", FN + "cross_entropy", "self.loss(self.head(x)", {"ndim": 2}, {"ndim": 1}, True),),
        lambda: (Learner(4, nn.CrossEntropyLoss()), (noise(8, 6), classes(8))),
    ),
    "target_without_a_column": Row(
        lambda: (Learner(1, nn.BCEWithLogitsLoss()), (noise(8, 6), noise(8))),
        (
            Fault(
                "loss_target_shape",
                "loss",
                FN + "binary_cross_entropy_with_logits",
                "self.loss(self.head(x)",
                {"ndim": 1},
                {"ndim": 2},
                True,
            ),
        ),
        lambda: (Learner(1, nn.BCEWithLogitsLoss()), (noise(8, 6), noise(8, 1))),
    ),
    "target_of_words": Row(
        lambda: (language_loss, (noise(2, 9, 40), classes(2, 9))),
        (Fault("loss_target_shape", "", FN + "cross_entropy", "F.cross_entropy(scores", {"size": 9}, {"size": 40}),),
        lambda: (language_loss, (noise(2, 40, 9), classes(2, 9))),
    ),
    "target_of_another_batch": Row(
        lambda: (Learner(3, nn.MSELoss()), (noise(8, 6), noise(6, 3))),
        (Fault("loss_target_shape", "loss", FN + "mse_loss", "self.loss(self.head(x)", {"size": 6}, {"size": 8}),),
        lambda: (Learner(3, nn.MSELoss()), (noise(8, 6), noise(8, 3))),
    ),
    "target_map_of_another_size": Row(
        lambda: (dice, (noise(2, 1, 30, 30), noise(2, 1, 32, 32))),
        (Fault("loss_target_shape", "", FN + "binary_cross_entropy_with_logits", "F.binary", {"size": 32}, {"size": 30}),),
        lambda: (dice, (noise(2, 1, 32, 32), noise(2, 1, 32, 32))),
    ),
    "target_of_a_triplet": Row(
        lambda: (triplet, (noise(4, 16), noise(4, 16), noise(4, 12))),
        (Fault("loss_target_shape", "", FN + "triplet_margin_loss", "F.triplet_margin_loss(", {"size": 12}, {"size": 16}),),
        lambda: (triplet, (noise(4, 16), noise(4, 16), noise(4, 16))),
    ),
}
