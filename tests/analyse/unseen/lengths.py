"""Batches whose items or lengths don't fit: packing, CTC, padding, collate."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, default_collate

from tests.analyse.unseen.row import Row, ints, ones


class Tagger(nn.Module):
    """sequences[n, t, 4] with their lengths -> a packed LSTM."""

    def __init__(self, sorted_lengths: bool = True) -> None:
        super().__init__()
        self.rnn, self.sorted_lengths = nn.LSTM(4, 5, batch_first=True), sorted_lengths

    def forward(self, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=self.sorted_lengths)
        return pad_packed_sequence(self.rnn(packed)[0], batch_first=True)[0]


def recognised(input_lengths: torch.Tensor, target_lengths: torch.Tensor) -> tuple[Any, tuple[Any, ...]]:
    """CTC over 6 steps of 3 sentences, 5 letters, 2 of which each is to say."""
    return nn.CTCLoss(), (ones(6, 3, 5).log_softmax(-1), torch.ones(3, 2, dtype=torch.int64), input_lengths, target_lengths)


def first_batch(samples: list[Any]) -> Any:
    """What a loader gives first."""
    return next(iter(DataLoader(samples, batch_size=2)))


def lists_of(*lengths: int) -> Callable[[], Any]:
    """The first batch of samples that are plain lists."""

    def batch() -> Any:
        return first_batch([list(range(length)) for length in lengths])

    return batch


def padded(sequences: list[torch.Tensor]) -> torch.Tensor:
    """Sequences of several lengths as one batch."""
    return pad_sequence(sequences, batch_first=True)


class Branches(nn.Module):
    """Three convolutions of one sequence, stacked."""

    def __init__(self, *kernels: int) -> None:
        super().__init__()
        self.branches = nn.ModuleList(nn.Conv1d(2, 3, kernel, padding="same" if kernel % 2 else 0) for kernel in kernels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.stack([branch(x) for branch in self.branches])


ROWS: dict[str, Row] = {
    "fewer lengths than sequences": Row(
        lambda: (Tagger(), (ones(3, 6, 4), ints(6, 5))),
        "seq_lengths",
        "torch.nn.utils.rnn.pack_padded_sequence",
        {"lengths": 2},
        {"batch": 3},
        lambda: (Tagger(), (ones(3, 6, 4), ints(6, 5, 4))),
        code="pack_padded_sequence(x, lengths",
    ),
    "lengths in no order": Row(
        lambda: (Tagger(), (ones(3, 6, 4), ints(4, 6, 5))),
        "seq_lengths",
        "torch.nn.utils.rnn.pack_padded_sequence",
        {},
        {},
        lambda: (Tagger(False), (ones(3, 6, 4), ints(4, 6, 5))),
        code="pack_padded_sequence(x, lengths",
        says="sorted",
    ),
    "an empty sequence": Row(
        lambda: (Tagger(), (ones(3, 6, 4), ints(6, 5, 0))),
        "seq_lengths",
        "torch.nn.utils.rnn.pack_padded_sequence",
        {},
        {},
        lambda: (Tagger(), (ones(3, 6, 4), ints(6, 5, 1))),
        code="pack_padded_sequence(x, lengths",
        says="greater than 0",
    ),
    "lengths with two axes": Row(
        lambda: (Tagger(), (ones(3, 6, 4), ints(6, 5, 4)[None])),
        "seq_lengths",
        "torch.nn.utils.rnn.pack_padded_sequence",
        {"ndim": 2},
        {"ndim": 1},
        lambda: (Tagger(), (ones(3, 6, 7), ints(6, 5, 4))),
        twin_kind="rnn_input",
        code="pack_padded_sequence(x, lengths",
    ),
    "speech longer than its frames": Row(
        lambda: recognised(ints(6, 7, 6), ints(2, 2, 2)),
        "seq_lengths",
        "torch.nn.functional.ctc_loss",
        {"length": 7},
        {"length": 6},
        lambda: recognised(ints(6, 5, 6), ints(2, 2, 2)),
    ),
    "words longer than their letters": Row(
        lambda: recognised(ints(6, 6, 6), ints(2, 3, 2)),
        "seq_lengths",
        "torch.nn.functional.ctc_loss",
        {"length": 3},
        {"length": 2},
        lambda: recognised(ints(6, 6, 6), ints(2, 1, 2)),
    ),
    "lengths of another batch": Row(
        lambda: recognised(ints(6, 6), ints(2, 2, 2)),
        "seq_lengths",
        "torch.nn.functional.ctc_loss",
        {"lengths": 2},
        {"batch": 3},
        lambda: recognised(ints(6, 6, 6), ints(2, 2, 2)),
    ),
    "pictures of two sizes": Row(
        lambda: (first_batch, ([ones(3, 8, 8), ones(3, 8, 9)],)),
        "stack_ragged",
        "torch.stack",
        {"size": 9},
        {"size": 8},
        lambda: (first_batch, ([ones(3, 8, 8), ones(3, 8, 8)],)),
        code="DataLoader(samples, batch_size=2)",
    ),
    "a grey picture among coloured ones": Row(
        lambda: (default_collate, ([{"picture": ones(3, 8, 8)}, {"picture": ones(1, 8, 8)}],)),
        "stack_ragged",
        "torch.stack",
        {"size": 1},
        {"size": 3},
        lambda: (default_collate, ([{"picture": ones(3, 8, 8)}, {"picture": ones(3, 8, 8)}],)),
    ),
    "lists of two lengths": Row(
        lambda: (lists_of(3, 2), ()),
        "stack_ragged",
        "torch.utils.data.default_collate",
        {"length": 2},
        {"length": 3},
        lambda: (lists_of(3, 3), ()),
        code="DataLoader(samples, batch_size=2)",
    ),
    "rows of two lengths": Row(
        lambda: (lambda: torch.tensor([[1, 2, 3], [1, 2]]), ()),
        "stack_ragged",
        "torch.tensor",
        {"length": 2},
        {"length": 3},
        lambda: (lambda: torch.tensor([[1, 2], [1, 2]]), ()),
        code="torch.tensor(",
    ),
    "sequences of two widths": Row(
        lambda: (padded, ([ones(3, 4), ones(2, 5)],)),
        "stack_ragged",
        "torch.nn.utils.rnn.pad_sequence",
        {"size": 5},
        {"size": 4},
        lambda: (padded, ([ones(3, 4), ones(2, 4)],)),
        code="pad_sequence(sequences",
    ),
    "branches of two lengths": Row(
        lambda: (Branches(1, 2), (ones(1, 2, 8),)),
        "stack_ragged",
        "torch.stack",
        {"size": 7},
        {"size": 8},
        lambda: (Branches(1, 3), (ones(1, 2, 8),)),
        code="torch.stack(",
    ),
}
