"""Models whose layers get another width, another number of channels or features, or another number of axes than declared."""

import torch
import torch.nn.functional as F
from torch import nn

from tests.analyse.broken.row import Fault, Given, Row, classes, noise


class Regressor(nn.Module):
    """table[n, columns] -> 3 layers -> one number."""

    def __init__(self, columns: int, hidden: int = 32, read: int = 32) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(columns, hidden), nn.ReLU(), nn.Linear(read, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, table: torch.Tensor) -> torch.Tensor:
        return self.net(table).squeeze(-1)


class ActorCritic(nn.Module):
    """state[n, 8] -> shared trunk -> 4 action scores and one value."""

    def __init__(self, critic: int) -> None:
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(8, 64), nn.Tanh())
        self.actor = nn.Linear(64, 4)
        self.critic = nn.Linear(critic, 1)

    def forward(self, state: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        hidden = self.trunk(state)
        return self.actor(hidden).softmax(-1), self.critic(hidden)


class Encoder(nn.Module):
    """picture[n, 1, 28, 28] -> two strided convolutions -> mean and log variance."""

    def __init__(self, flat: int, flatten: bool = True) -> None:
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(1, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.ReLU())
        self.mean, self.log_variance = nn.Linear(flat, 20), nn.Linear(flat, 20)
        self.flatten = flatten

    def forward(self, picture: torch.Tensor) -> torch.Tensor:
        found = self.down(picture)
        if self.flatten:
            found = found.flatten(1)
        return self.mean(found)


def weighted(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """A layer without a module."""
    return F.linear(x, weight).relu()


class Grey(nn.Module):
    """A residual stem for pictures[n, channels, 32, 32]."""

    def __init__(self, channels: int, norm: int = 16) -> None:
        super().__init__()
        self.stem = nn.Conv2d(channels, 16, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(norm)
        self.block = nn.Conv2d(16, 16, 3, padding=1)

    def forward(self, picture: torch.Tensor) -> torch.Tensor:
        found = self.norm(self.stem(picture)).relu()
        return found + self.block(found)


class Wave(nn.Module):
    """signal[n, time, sensors] -> Conv1d over time, its channels being the sensors."""

    def __init__(self, turned: bool) -> None:
        super().__init__()
        self.conv = nn.Conv1d(6, 12, 5)
        self.turned = turned

    def forward(self, signal: torch.Tensor) -> torch.Tensor:
        if self.turned:
            signal = signal.transpose(1, 2)
        return self.conv(signal)


class Generator(nn.Module):
    """noise[n, 100, 1, 1] -> transposed convolutions -> picture."""

    def __init__(self, second: int) -> None:
        super().__init__()
        self.up = nn.Sequential(nn.ConvTranspose2d(100, 64, 4), nn.ReLU(), nn.ConvTranspose2d(second, 3, 4, 2, 1))

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        return self.up(z).tanh()


def deep(side: int) -> Given:
    """Four poolings and a last 3x3 convolution without padding."""
    layers = [layer for _ in range(4) for layer in (nn.Conv2d(4, 4, 3, padding=1), nn.MaxPool2d(2))]
    return nn.Sequential(nn.Conv2d(3, 4, 1), *layers, nn.Conv2d(4, 8, 3)), (noise(2, 3, side, side),)


def pooled_text(length: int) -> Given:
    """TextCNN: windows of 3, 4 and 5 words over sentences[n, length]."""

    class TextCNN(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(50, 8)
            self.wide = nn.Conv1d(8, 4, 5)

        def forward(self, sentence: torch.Tensor) -> torch.Tensor:
            found = self.wide(self.words(sentence).transpose(1, 2))
            return found.amax(-1)

    return TextCNN(), (classes(2, length),)


def averaged(volume: torch.Tensor) -> torch.Tensor:
    """3-D pooling of a flat volume."""
    return F.avg_pool3d(volume, (4, 2, 2)).mean(1)


class Blocks(nn.Module):
    """A transformer block with its own LayerNorm width."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(48, 96), nn.GELU(), nn.Linear(96, 48))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return tokens + self.mlp(self.norm(tokens))


def batch_of_one(model: nn.Module, *shape: int) -> Given:
    """A model in training with one sample."""
    return model.train(), (noise(*shape),)


def head(training: bool) -> nn.Module:
    """Features -> BatchNorm1d -> scores."""
    return nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Linear(12, 2)).train(training)


class Pyramid(nn.Module):
    """The image-level branch of a DeepLab: global pooling, a 1x1 convolution and its norm."""

    def __init__(self) -> None:
        super().__init__()
        self.branch = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(8, 4, 1, bias=False), nn.BatchNorm2d(4))

    def forward(self, found: torch.Tensor) -> torch.Tensor:
        return F.interpolate(self.branch(found), size=found.shape[-2:])


def standardised(x: torch.Tensor) -> torch.Tensor:
    """Functional batch norm with the statistics of the batch."""
    return F.batch_norm(x, None, None, training=True)


class Volume(nn.Module):
    """A 3-D network on video[n, channels, time, height, width]."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv3d(3, 4, 3, padding=1)
        self.norm = nn.BatchNorm3d(4)

    def forward(self, video: torch.Tensor) -> torch.Tensor:
        return self.norm(self.conv(video))


class Scaled(nn.Module):
    """Squeeze and excitation: scores[n, channels] scale a map."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm2d(8)

    def forward(self, found: torch.Tensor) -> torch.Tensor:
        return self.norm(found.mean((2, 3)))


LINEAR = f"{F.__name__}.linear"
CONV = f"{F.__name__}.conv"

ROWS: dict[str, Row] = {
    "linear_in_a_sequential": Row(
        lambda: (Regressor(13, 32, 23), (noise(4, 13),)),
        (Fault("linear_in_features", "net.2", LINEAR, "self.net(table)", {"in_features": 32}, {"in_features": 23}, True),),
        lambda: (Regressor(13), (noise(4, 13),)),
    ),
    "linear_head_of_two": Row(
        lambda: (ActorCritic(128), (noise(5, 8),)),
        (Fault("linear_in_features", "critic", LINEAR, "self.critic(hidden)", {"in_features": 64}, {"in_features": 128}, True),),
        lambda: (ActorCritic(64), (noise(5, 8),)),
    ),
    "linear_after_other_picture": Row(
        lambda: (Encoder(32 * 7 * 7), (noise(2, 1, 32, 32),)),
        (Fault("linear_in_features", "mean", LINEAR, "self.mean(found)", {"in_features": 2048}, {"in_features": 1568}, True),),
        lambda: (Encoder(32 * 7 * 7), (noise(2, 1, 28, 28),)),
    ),
    "linear_without_flatten": Row(
        lambda: (Encoder(32 * 7 * 7, flatten=False), (noise(2, 1, 28, 28),)),
        (Fault("linear_in_features", "mean", LINEAR, "self.mean(found)", {"in_features": 7}, {"in_features": 1568}),),
        lambda: (Encoder(7, flatten=False), (noise(2, 1, 28, 28),)),
    ),
    "linear_without_a_module": Row(
        lambda: (weighted, (noise(4, 9), noise(3, 10))),
        (Fault("linear_in_features", "", LINEAR, "F.linear(x, weight)", {"in_features": 9}, {"in_features": 10}),),
        lambda: (weighted, (noise(4, 10), noise(3, 10))),
    ),
    "conv_grey_picture": Row(
        lambda: (Grey(3), (noise(2, 1, 32, 32),)),
        (Fault("conv_channels", "stem", CONV + "2d", "self.stem(picture)", {"channels": 1}, {"channels": 3}, True),),
        lambda: (Grey(3), (noise(3, 32, 32),)),
        "rank",
    ),
    "conv_time_for_channels": Row(
        lambda: (Wave(turned=False), (noise(4, 40, 6),)),
        (Fault("conv_channels", "conv", CONV + "1d", "self.conv(signal)", {"channels": 40}, {"channels": 6}, True),),
        lambda: (Wave(turned=True), (noise(4, 40, 6),)),
    ),
    "conv_wrong_chain_transposed": Row(
        lambda: (Generator(32), (noise(2, 100, 1, 1),)),
        (Fault("conv_channels", "up.2", CONV + "_transpose2d", "self.up(z)", {"channels": 64}, {"channels": 32}, True),),
        lambda: (Generator(64), (noise(2, 100, 1, 1),)),
    ),
    "conv_unbatched_channels_last": Row(
        lambda: (Grey(3), (noise(32, 32, 3),)),
        (
            Fault("conv_channels", "stem", CONV + "2d", "self.stem(picture)", {"channels": 32}, {"channels": 3}),
            Fault("rank", "norm", "torch.nn.BatchNorm2d", "self.norm(self.stem(picture))", {"ndim": 3}, {"ndim": 4}),
        ),
        lambda: (Wave(turned=True), (noise(1, 4, 40, 6),)),
        "rank",
    ),
    "kernel_after_four_poolings": Row(
        lambda: deep(32),
        (Fault("conv_kernel", "9", CONV + "2d", "", {"size": 2}, {"min_size": 3}, True),),
        lambda: deep(48),
    ),
    "kernel_wider_than_sentence": Row(
        lambda: pooled_text(3),
        (Fault("conv_kernel", "wide", CONV + "1d", "self.wide(self.words(", {"size": 3}, {"min_size": 5}, True),),
        lambda: pooled_text(5),
    ),
    "kernel_of_a_pool_in_three_dims": Row(
        lambda: (averaged, (noise(1, 2, 3, 8, 8),)),
        (Fault("conv_kernel", "", f"{F.__name__}.avg_pool3d", "F.avg_pool3d(volume", {"size": 3}, {"min_size": 4}),),
        lambda: (averaged, (noise(1, 2, 4, 8, 8),)),
    ),
    "norm_of_the_layer_before": Row(
        lambda: (Grey(3, norm=32), (noise(2, 3, 32, 32),)),
        (Fault("norm_features", "norm", f"{F.__name__}.batch_norm", "self.norm(self.stem", {"features": 16}, {"features": 32}, True),),
        lambda: (Grey(3, norm=16), (noise(2, 3, 32, 32),)),
    ),
    "norm_of_another_width": Row(
        lambda: (Blocks(64), (noise(2, 10, 48),)),
        (Fault("norm_features", "norm", f"{F.__name__}.layer_norm", "self.norm(tokens)", {"features": 48}, {"features": 64}, True),),
        lambda: (Blocks(48), (noise(2, 10, 48),)),
    ),
    "norm_by_groups_of_another_width": Row(
        lambda: (nn.Sequential(nn.Conv1d(3, 12, 3), nn.GroupNorm(3, 24)), (noise(2, 3, 20),)),
        (Fault("norm_features", "1", f"{F.__name__}.group_norm", "", {"features": 12}, {"features": 24}, True),),
        lambda: (nn.Sequential(nn.Conv1d(3, 24, 3), nn.GroupNorm(3, 24)), (noise(2, 3, 20),)),
    ),
    "one_sample_in_training": Row(
        lambda: batch_of_one(head(True), 1, 6),
        (Fault("norm_batch_one", "1", f"{F.__name__}.batch_norm", "", {"values": 1}, {"min_values": 2}),),
        lambda: (head(False), (noise(1, 6),)),
    ),
    "one_value_after_global_pooling": Row(
        lambda: batch_of_one(Pyramid(), 1, 8, 6, 6),
        (Fault("norm_batch_one", "branch.2", f"{F.__name__}.batch_norm", "self.branch(found)", {"values": 1}, {"min_values": 2}),),
        lambda: batch_of_one(Pyramid(), 2, 8, 6, 6),
    ),
    "one_value_in_a_function": Row(
        lambda: (standardised, (noise(1, 7),)),
        (Fault("norm_batch_one", "", f"{F.__name__}.batch_norm", "F.batch_norm(x", {"values": 1}, {"min_values": 2}),),
        lambda: (standardised, (noise(7),)),
        "rank",
    ),
    "rank_of_one_video": Row(
        lambda: (Volume(), (noise(3, 8, 16, 16),)),
        (Fault("rank", "norm", "torch.nn.BatchNorm3d", "self.norm(self.conv(video))", {"ndim": 4}, {"ndim": 5}, True),),
        lambda: (Volume(), (noise(1, 3, 8, 16, 16),)),
    ),
    "rank_of_pooled_map": Row(
        lambda: (Scaled(), (noise(2, 8, 5, 5),)),
        (Fault("rank", "norm", "torch.nn.BatchNorm2d", "self.norm(found.mean", {"ndim": 2}, {"ndim": 4}),),
        lambda: (nn.BatchNorm2d(8), (noise(2, 8, 5, 5),)),
    ),
}
