"""Models whose own code gives tensors another form: views, splits, unpacking, paddings, grids that don't divide."""

import torch
import torch.nn.functional as F
from torch import nn

from tests.analyse.broken.row import Fault, Row, classes, noise


class Heads(nn.Module):
    """Splits tokens[n, time, width] into heads by a view of the width that it was drawn for."""

    def __init__(self, heads: int, each: int) -> None:
        super().__init__()
        self.query = nn.Linear(48, 48)
        self.heads, self.each = heads, each

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        n, time, _ = tokens.shape
        return self.query(tokens).view(n, time, self.heads, self.each).transpose(1, 2)


class Decoder(nn.Module):
    """latent[n, 20] -> a map of 16 channels by a view -> a picture."""

    def __init__(self, side: int) -> None:
        super().__init__()
        self.fc = nn.Linear(20, 16 * 7 * 7)
        self.up = nn.ConvTranspose2d(16, 1, 4, 4)
        self.side = side

    def forward(self, latent: torch.Tensor) -> torch.Tensor:
        return self.up(self.fc(latent).reshape(-1, 16, self.side, self.side))


class FixedBatch(nn.Module):
    """Sentences whose states are reshaped with the batch that was configured."""

    def __init__(self, batch: int) -> None:
        super().__init__()
        self.words = nn.Embedding(30, 8)
        self.batch = batch

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        return self.words(words).view(self.batch, -1)


class Turned(nn.Module):
    """A view after a transpose."""

    def __init__(self, copied: bool) -> None:
        super().__init__()
        self.mix = nn.Linear(12, 12)
        self.copied = copied

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        n, heads, time, each = tokens.shape
        joined = tokens.transpose(1, 2)
        if self.copied:
            joined = joined.contiguous()
        return self.mix(joined.view(n, time, heads * each))


def flat_view(picture: torch.Tensor) -> torch.Tensor:
    """A view of a permuted picture."""
    return picture.permute(0, 2, 3, 1).view(picture.shape[0], -1)


def cropped_view(x: torch.Tensor) -> torch.Tensor:
    """A view of a slice."""
    return x[:, 1:].view(-1)


class Gated(nn.Module):
    """Packed projections, taken apart by their widths."""

    def __init__(self, *parts: int) -> None:
        super().__init__()
        self.packed = nn.Linear(8, 24)
        self.parts = list(parts)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        query, key, value = self.packed(x).split(self.parts, dim=-1)
        return query * key + value


class Coupled(nn.Module):
    """An affine coupling layer that halves the channels of a map."""

    def __init__(self, half: int) -> None:
        super().__init__()
        self.half = half

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        a, b = torch.split(x, [self.half, self.half], 1)
        return torch.cat([a, b * a.sigmoid()], 1)


def two_views(x: torch.Tensor) -> torch.Tensor:
    """Three pieces of a batch, unpacked as two."""
    first, second = x.chunk(3)
    return first - second


def two_rows(pairs: torch.Tensor) -> torch.Tensor:
    """Takes a batch of pairs for a pair of batches."""
    first, second = pairs
    return first * second


class Recurrent(nn.Module):
    """Takes the state of an LSTM apart."""

    def __init__(self, kind: type[nn.RNNBase]) -> None:
        super().__init__()
        self.rnn = kind(6, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        _, (state, _) = self.rnn(x)
        return state


def heads_of_its_own(x: torch.Tensor, heads: int) -> torch.Tensor:
    """Builds a layer while it runs."""
    return nn.MultiheadAttention(x.shape[-1], heads)(x, x, x)[0]


def mirrored(picture: torch.Tensor, by: int) -> torch.Tensor:
    """Reflection padding on all four sides."""
    return F.pad(picture, (by, by, by, by), mode="reflect").mean()


def wrapped_signal(signal: torch.Tensor, by: int) -> torch.Tensor:
    """Circular padding."""
    return F.pad(signal, (by, 0), mode="circular").mean()


class Groups(nn.Module):
    """A convolution by groups whose weight was drawn for another number of them."""

    def __init__(self, factor: int, channels: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, channels, 3, padding=1)
        self.shuffle = nn.PixelShuffle(factor)

    def forward(self, picture: torch.Tensor) -> torch.Tensor:
        return self.shuffle(self.conv(picture))


class Windows(nn.Module):
    """Swin's partition of a map into windows of 4."""

    def forward(self, found: torch.Tensor) -> torch.Tensor:
        n, h, w, c = found.shape
        return found.view(n, h // 4, 4, w // 4, 4, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, c)


class Normed(nn.Module):
    """GroupNorm without weights over the channels of a convolution."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, channels, 1)

    def forward(self, picture: torch.Tensor) -> torch.Tensor:
        return F.group_norm(self.conv(picture), 8)


class Sized(nn.Module):
    """A transposed convolution that is told what size to give."""

    def __init__(self, side: int) -> None:
        super().__init__()
        self.up = nn.ConvTranspose2d(3, 4, 2, 2)
        self.side = side

    def forward(self, found: torch.Tensor) -> torch.Tensor:
        return self.up(found, output_size=(self.side, self.side))


T, FN = "torch.Tensor.", f"{F.__name__}."

ROWS: dict[str, Row] = {
    "view_of_other_heads": Row(
        lambda: (Heads(5, 10), (noise(2, 6, 48),)),
        (Fault("view_numel", "", T + "view", ".view(n, time, self.heads", {"numel": 576}, {"numel": 600}),),
        lambda: (Heads(6, 8), (noise(2, 6, 48),)),
    ),
    "view_of_another_side": Row(
        lambda: (Decoder(8), (noise(3, 20),)),
        (Fault("view_numel", "", T + "reshape", "reshape(-1, 16, self.side", {"numel": 2352}, {"multiple_of": 1024}),),
        lambda: (Decoder(7), (noise(3, 20),)),
    ),
    "view_of_another_batch": Row(
        lambda: (FixedBatch(16), (classes(7, 5),)),
        (Fault("view_numel", "", T + "view", "view(self.batch, -1)", {"numel": 280}, {"multiple_of": 16}, True),),
        lambda: (FixedBatch(7), (classes(7, 5),)),
    ),
    "view_after_transpose": Row(
        lambda: (Turned(False), (noise(2, 3, 5, 4),)),
        (Fault("view_stride", "", T + "view", "joined.view(n, time", {"rows": 2}, {"rows": 2}),),
        lambda: (Turned(True), (noise(2, 3, 5, 4),)),
    ),
    "view_after_permute": Row(
        lambda: (flat_view, (noise(2, 3, 4, 5),)),
        (Fault("view_stride", "", T + "view", "view(picture.shape[0], -1)", {"rows": 2}, {"rows": 2}),),
        lambda: (flat_view, (noise(2, 3, 1, 1),)),
    ),
    "view_of_a_slice": Row(
        lambda: (cropped_view, (noise(4, 6),)),
        (Fault("view_stride", "", T + "view", "x[:, 1:].view(-1)", {"rows": 4}, {"rows": 4}),),
        lambda: (cropped_view, (noise(1, 6),)),
    ),
    "split_of_packed_projections": Row(
        lambda: (Gated(8, 8, 10), (noise(2, 8),)),
        (Fault("split_sizes", "", T + "split", "split(self.parts, dim=-1)", {"size": 24}, {"sum": 26}),),
        lambda: (Gated(8, 8, 8), (noise(2, 8),)),
    ),
    "split_of_odd_channels": Row(
        lambda: (Coupled(4), (noise(2, 9, 3, 3),)),
        (Fault("split_sizes", "", "torch.functional.split", "torch.split(x, [self.half", {"size": 9}, {"sum": 8}),),
        lambda: (Coupled(4), (noise(2, 8, 3, 3),)),
    ),
    "unpacked_chunks": Row(
        lambda: (two_views, (noise(6, 4),)),
        (Fault("rank", "", "python.unpack", "first, second = x.chunk(3)", {"values": 3}, {"values": 2}),),
        lambda: (two_views, (noise(4, 4),)),
    ),
    "unpacked_rows": Row(
        lambda: (two_rows, (noise(5, 2, 4),)),
        (Fault("rank", "", "python.unpack", "first, second = pairs", {"values": 5}, {"values": 2}),),
        lambda: (two_rows, (noise(2, 5, 4),)),
    ),
    "unpacked_state": Row(
        lambda: (Recurrent(nn.GRU), (noise(3, 2, 6),)),
        (Fault("rank", "", "python.unpack", "_, (state, _) = self.rnn(x)", {"values": 1}, {"values": 2}),),
        lambda: (Recurrent(nn.LSTM), (noise(3, 2, 6),)),
    ),
    "divisible_heads_of_a_new_layer": Row(
        lambda: (heads_of_its_own, (noise(4, 2, 10), 3)),
        (
            Fault(
                "divisible",
                "",
                "torch.nn.MultiheadAttention.__init__",
                "nn.MultiheadAttention(x.shape[-1], heads)",
                {"embed_dim": 10},
                {"multiple_of": 3},
            ),
        ),
        lambda: (heads_of_its_own, (noise(4, 2, 10), 5)),
    ),
    "pad_by_more_than_there_is": Row(
        lambda: (mirrored, (noise(1, 3, 4, 8), 5)),
        (Fault("pad_size", "", FN + "pad", "F.pad(picture", {"pad": 5}, {"below": 4}),),
        lambda: (mirrored, (noise(1, 3, 8, 8), 5)),
    ),
    "pad_around": Row(
        lambda: (wrapped_signal, (noise(2, 3, 4), 6)),
        (Fault("pad_size", "", FN + "pad", "F.pad(signal", {"pad": 6}, {"below": 4}),),
        lambda: (wrapped_signal, (noise(2, 3, 4), 4)),
    ),
    "pad_of_a_layer": Row(
        lambda: (nn.Sequential(nn.MaxPool2d(4), nn.ReflectionPad2d(3)), (noise(1, 3, 8, 32),)),
        (Fault("pad_size", "1", FN + "pad", "", {"pad": 3}, {"below": 2}),),
        lambda: (nn.Sequential(nn.MaxPool2d(4), nn.ReflectionPad2d(3)), (noise(1, 3, 16, 32),)),
    ),
    "divisible_shuffle": Row(
        lambda: (Groups(2, 10), (noise(1, 3, 4, 4),)),
        (Fault("divisible", "shuffle", FN + "pixel_shuffle", "self.shuffle(self.conv", {"channels": 10}, {"multiple_of": 4}, True),),
        lambda: (Groups(2, 12), (noise(1, 3, 4, 4),)),
    ),
    "divisible_windows": Row(
        lambda: (Windows(), (noise(2, 10, 8, 6),)),
        (Fault("divisible", "", T + "view", "found.view(n, h // 4, 4", {"size": 10}, {"multiple_of": 4}),),
        lambda: (Windows(), (noise(2, 12, 8, 6),)),
    ),
    "divisible_groups": Row(
        lambda: (Normed(12), (noise(2, 3, 4, 4),)),
        (Fault("divisible", "", FN + "group_norm", "F.group_norm(self.conv", {"channels": 12}, {"multiple_of": 8}),),
        lambda: (Normed(16), (noise(2, 3, 4, 4),)),
    ),
    "size_that_no_padding_leads_to": Row(
        lambda: (Sized(20), (noise(1, 3, 8, 8),)),
        (Fault("pad_size", "up", "torch.nn.ConvTranspose2d", "self.up(found, output_size", {"size": 20}, {"below": 18}),),
        lambda: (Sized(17), (noise(1, 3, 8, 8),)),
    ),
}
