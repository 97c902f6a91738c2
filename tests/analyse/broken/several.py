"""Models with two to four independent faults, and such as die far from their only one."""

import torch
import torch.nn.functional as F
from torch import nn

from tests.analyse.broken.row import Fault, Row, classes, noise

FN, T = f"{F.__name__}.", "torch.Tensor."


class Classifier(nn.Module):
    """picture -> two convolutions -> flatten -> two layers, each of which may be drawn for another width."""

    def __init__(self, second: int, norm: int, flat: int, last: int) -> None:
        super().__init__()
        self.one, self.two = nn.Conv2d(3, 8, 3, 2, 1), nn.Conv2d(second, 16, 3, 2, 1)
        self.norm = nn.BatchNorm2d(norm)
        self.fc, self.out = nn.Linear(flat, 32), nn.Linear(last, 10)

    def forward(self, picture: torch.Tensor) -> torch.Tensor:
        found = self.norm(self.two(self.one(picture).relu()).relu())
        return self.out(self.fc(found.flatten(1)).relu())


class Autoencoder(nn.Module):
    """A VAE whose encoder and decoder have been changed apart."""

    def __init__(self, enter: int, latent: int, side: int) -> None:
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(1, 4, 3, 2, 1), nn.ReLU(), nn.Flatten())
        self.mean, self.spread = nn.Linear(enter, 6), nn.Linear(enter, 6)
        self.grow = nn.Linear(latent, 4 * side * side)
        self.up = nn.ConvTranspose2d(4, 1, 2, 2)
        self.side = side

    def forward(self, picture: torch.Tensor) -> torch.Tensor:
        found = self.down(picture)
        mean, spread = self.mean(found), self.spread(found)
        z = mean + (spread / 2).exp()
        drawn = self.up(self.grow(z).view(-1, 4, self.side, self.side))
        return F.mse_loss(drawn, picture)


class TwoTowers(nn.Module):
    """Words and pictures, compared."""

    def __init__(self, words: int, picture: int, shared: int) -> None:
        super().__init__()
        self.table = nn.Embedding(20, 8)
        self.words = nn.LSTM(words, 16, batch_first=True)
        self.picture = nn.Sequential(nn.Conv2d(picture, 4, 3), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(shared, 16))

    def forward(self, words: torch.Tensor, picture: torch.Tensor) -> torch.Tensor:
        _, (state, _) = self.words(self.table(words))
        return state[-1] @ self.picture(picture).t()


class Stack(nn.Module):
    """Equal blocks, all of them drawn for another width."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(nn.Sequential(nn.LayerNorm(12), nn.Linear(width, 12), nn.GELU()) for _ in range(4))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            tokens = tokens + block(tokens)
        return tokens


class Last(nn.Module):
    """Channels-last pictures through three convolutions, pooled and classified."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 4, 5), nn.ReLU(), nn.Conv2d(4, 8, 5), nn.ReLU(), nn.Flatten())
        self.head = nn.Linear(8 * 8 * 8, 2)

    def forward(self, picture: torch.Tensor) -> torch.Tensor:
        return self.head(self.body(picture))


class Forgotten(nn.Module):
    """A map goes into a layer as it is; the loss takes a vector a sample."""

    def __init__(self, flatten: bool) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.flatten = nn.Flatten() if flatten else nn.Identity()
        self.head = nn.Linear(4 * 6 * 6, 3)

    def forward(self, picture: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(self.head(self.flatten(self.conv(picture))), label)


class Gate(nn.Module):
    """Packed projections, whose stated widths are of another layer."""

    def __init__(self, last: int) -> None:
        super().__init__()
        self.packed, self.out = nn.Linear(8, 24), nn.Linear(8, 2)
        self.last = last

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        a, b, c = self.packed(x).split([8, 8, self.last], -1)
        return self.out(a * b + c)


class Joined(nn.Module):
    """Two vectors, joined along the batch by mistake."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.head = nn.Linear(26, 2)
        self.dim = dim

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return self.head(torch.cat([a, b], self.dim))


class Scored(nn.Module):
    """Attention by hand whose keys aren't transposed."""

    def __init__(self, turned: bool) -> None:
        super().__init__()
        self.turned = turned
        self.out = nn.Linear(16, 4)

    def forward(self, query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
        scores = query @ (keys.transpose(-1, -2) if self.turned else keys)
        return self.out(scores.softmax(-1) @ keys)


class Sentences(nn.Module):
    """Words through an encoder whose layers add their results to what they get."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.words = nn.Embedding(20, width)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32), 2)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        return self.encoder(self.words(words))


def flat_reader() -> nn.Module:
    """Two convolutions and a head for pictures of 16 by 16."""
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Conv2d(4, 8, 3), nn.Flatten(), nn.Linear(8 * 12 * 12, 2))


def width(module: str, line: str, got: int, want: int) -> Fault:
    """A Linear that gets another width."""
    return Fault("linear_in_features", module, FN + "linear", line, {"in_features": got}, {"in_features": want}, True)


ROWS: dict[str, Row] = {
    "two_layers_of_a_classifier": Row(
        lambda: (Classifier(8, 16, 900, 64), (noise(2, 3, 32, 32),)),
        (width("fc", "self.fc(found", 1024, 900), width("out", "self.out(self.fc", 32, 64)),
        lambda: (Classifier(8, 16, 1024, 32), (noise(2, 3, 32, 32),)),
    ),
    "four_layers_of_a_classifier": Row(
        lambda: (Classifier(12, 32, 900, 64), (noise(2, 3, 32, 32),)),
        (
            Fault("conv_channels", "two", FN + "conv2d", "self.two(", {"channels": 8}, {"channels": 12}, True),
            Fault("norm_features", "norm", FN + "batch_norm", "self.norm(", {"features": 16}, {"features": 32}, True),
            width("fc", "self.fc(found", 1024, 900),
            width("out", "self.out(self.fc", 32, 64),
        ),
        lambda: (Classifier(8, 16, 1024, 32), (noise(2, 3, 32, 32),)),
    ),
    "both_halves_of_an_autoencoder": Row(
        lambda: (Autoencoder(196, 8, 7), (noise(2, 1, 14, 14),)),
        (width("grow", "self.grow(z)", 6, 8),),
        lambda: (Autoencoder(196, 6, 7), (noise(2, 1, 14, 14),)),
    ),
    "both_towers": Row(
        lambda: (TwoTowers(10, 1, 12), (classes(3, 5), noise(3, 3, 9, 9))),
        (
            Fault("rnn_input", "words", "torch.nn.LSTM", "self.words(self.table", {"input_size": 8}, {"input_size": 10}, True),
            Fault("conv_channels", "picture.0", FN + "conv2d", "self.picture(picture)", {"channels": 3}, {"channels": 1}, True),
            width("picture.3", "self.picture(picture)", 16, 12),
        ),
        lambda: (TwoTowers(8, 3, 16), (classes(3, 5), noise(3, 3, 9, 9))),
    ),
    "channels_last_through_three_layers": Row(
        lambda: (Last(), (noise(2, 16, 16, 3),)),
        (Fault("conv_channels", "body.0", FN + "conv2d", "self.body(picture)", {"channels": 16}, {"channels": 3}, True),),
        lambda: (Last(), (noise(2, 3, 16, 16),)),
    ),
    "a_forgotten_flatten_before_a_loss": Row(
        lambda: (Forgotten(False), (noise(5, 1, 6, 6), classes(5))),
        (Fault("linear_in_features", "head", FN + "linear", "self.head(self.flatten", {"in_features": 6}, {"in_features": 144}, True),),
        lambda: (Forgotten(True), (noise(5, 1, 6, 6), classes(5))),
    ),
    "a_split_before_a_product": Row(
        lambda: (Gate(10), (noise(4, 8),)),
        (Fault("split_sizes", "", T + "split", "split([8, 8, self.last]", {"size": 24}, {"sum": 26}, True),),
        lambda: (Gate(8), (noise(4, 8),)),
    ),
    "joined_along_the_wrong_axis": Row(
        lambda: (Joined(0), (noise(4, 10), noise(4, 16))),
        (Fault("cat", "", "torch.cat", "torch.cat([a, b], self.dim)", {"size": 16}, {"size": 10}),),
        lambda: (Joined(1), (noise(4, 10), noise(4, 16))),
    ),
    "keys_not_transposed": Row(
        lambda: (Scored(False), (noise(2, 5, 16), noise(2, 7, 16))),
        (Fault("matmul_dims", "", T + "matmul", "scores = query @", {"inner": 16}, {"inner": 7}),),
        lambda: (Scored(True), (noise(2, 5, 16), noise(2, 7, 16))),
    ),
    "encoder_of_another_width": Row(
        lambda: (Sentences(12), (classes(2, 5),)),
        (
            Fault(
                "attn_layout",
                "encoder.layers.0.self_attn",
                FN + "multi_head_attention_forward",
                "self.encoder(self.words(",
                {"width": 12},
                {"width": 16},
            ),
        ),
        lambda: (Sentences(16), (classes(2, 5),)),
    ),
    "flat_pictures_through_convolutions": Row(
        lambda: (flat_reader(), (noise(5, 3 * 16 * 16),)),
        (Fault("rank", "0", FN + "conv2d", "", {"ndim": 2}, {"ndim": 4}),),
        lambda: (flat_reader(), (noise(5, 3, 16, 16),)),
    ),
    "equal_blocks_of_another_width": Row(
        lambda: (Stack(16), (noise(2, 5, 12),)),
        (width("blocks.0.1", "block(tokens)", 12, 16),),
        lambda: (Stack(12), (noise(2, 5, 12),)),
    ),
}
