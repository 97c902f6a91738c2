"""Models whose own code combines tensors that do not fit: joins, products, sums, permutations."""

import torch
import torch.nn.functional as F
from torch import nn

from tests.analyse.broken.row import Fault, Row, noise


class Joined(nn.Module):
    """U-Net of one level on picture[n, 3, side, side]; ``pool`` floors an odd side."""

    def __init__(self, crop: bool = False) -> None:
        super().__init__()
        self.enter, self.middle = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 16, 3, padding=1)
        self.leave = nn.Conv2d(24, 2, 1)
        self.crop = crop

    def forward(self, picture: torch.Tensor) -> torch.Tensor:
        skip = self.enter(picture)
        up = F.interpolate(self.middle(F.max_pool2d(skip, 2)), scale_factor=2)
        if self.crop:
            skip = skip[..., : up.shape[-2], : up.shape[-1]]
        return self.leave(torch.cat((skip, up), dim=1))


class Fused(nn.Module):
    """Two towers, joined along the features; ``axis`` is the axis that they are joined along."""

    def __init__(self, axis: int) -> None:
        super().__init__()
        self.text, self.picture = nn.Linear(10, 16), nn.Linear(20, 24)
        self.head = nn.Linear(40, 2)
        self.axis = axis

    def forward(self, text: torch.Tensor, picture: torch.Tensor) -> torch.Tensor:
        return self.head(torch.cat([self.text(text), self.picture(picture)], self.axis))


class Prompted(nn.Module):
    """A class token before patches; ``tokens`` says for how many pictures it is repeated."""

    def __init__(self, copies: int, axes: int = 3) -> None:
        super().__init__()
        self.token = nn.Parameter(noise(*(1,) * (axes - 1), 12))
        self.copies = copies

    def forward(self, patches: torch.Tensor) -> torch.Tensor:
        token = self.token.expand(self.copies, -1, -1) if self.token.dim() == 3 else self.token
        return torch.cat([token, patches], dim=1)


class Residual(nn.Module):
    """A block of a ResNet whose shortcut is left out though the width changes."""

    def __init__(self, shortcut: bool) -> None:
        super().__init__()
        self.conv = nn.Conv2d(8, 16, 3, padding=1)
        self.short = nn.Conv2d(8, 16, 1) if shortcut else nn.Identity()

    def forward(self, found: torch.Tensor) -> torch.Tensor:
        return self.conv(found) + self.short(found)


class Positioned(nn.Module):
    """Patches plus a position table made for ``places`` of them."""

    def __init__(self, places: int) -> None:
        super().__init__()
        self.patch = nn.Conv2d(3, 12, 8, 8)
        self.table = nn.Parameter(noise(1, places, 12))

    def forward(self, picture: torch.Tensor) -> torch.Tensor:
        tokens = self.patch(picture).flatten(2).transpose(1, 2)
        return tokens + self.table


def centred(found: torch.Tensor, keep: bool) -> torch.Tensor:
    """Minus the mean over the features."""
    return found - found.mean(-1, keepdim=keep)


def blended(memory: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
    """A running average, in place."""
    memory.mul_(0.9).add_(new, alpha=0.1)
    return memory


def film(found: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """Scales a map[n, channels, h, w] by scale[n, channels]."""
    return found * scale.expand_as(found)


def gram(found: torch.Tensor, turned: bool) -> torch.Tensor:
    """Style: channels against channels of a map[n, c, h, w]."""
    rows = found.flatten(2)
    return torch.bmm(rows, rows.transpose(1, 2) if turned else rows)


class Perceptron(nn.Module):
    """Layers by hand: x @ w1 @ w2."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.w1, self.w2 = nn.Parameter(noise(20, 32)), nn.Parameter(noise(hidden, 5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x @ self.w1) @ self.w2


def similar(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """All pairs by einsum."""
    return torch.einsum("nd,md->nm", a, b)


def on_a_grid(found: torch.Tensor) -> torch.Tensor:
    """Takes a map for channels first, batched."""
    n, c, h, w = found.shape
    return found.view(n, c, h * w)


class ToImage(nn.Module):
    """tokens[n, time, width] to the front: permutes four axes."""

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return tokens.permute(0, 3, 1, 2).contiguous()


class Conv1(nn.Module):
    """Conv1d over a batch of feature vectors without a time axis."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv1d(1, 4, 3)
        self.head = nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.conv(x)[:, :, -1])


def upsampled(found: torch.Tensor) -> torch.Tensor:
    """Bilinear on whatever comes."""
    return F.interpolate(found, scale_factor=2, mode="bilinear")


def row_by_row(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Products of rows, mapped."""
    return torch.vmap(torch.dot)(a, b)


def with_labels(features: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Joins a vector a sample to labels without a feature axis."""
    return torch.cat([features, labels], 1)


T, FN = "torch.Tensor.", f"{F.__name__}."

ROWS: dict[str, Row] = {
    "cat_odd_picture": Row(
        lambda: (Joined(), (noise(1, 3, 33, 33),)),
        (Fault("cat", "", "torch.cat", "torch.cat((skip, up)", {"size": 32}, {"size": 33}),),
        lambda: (Joined(crop=True), (noise(1, 3, 33, 33),)),
    ),
    "cat_along_the_batch": Row(
        lambda: (Fused(0), (noise(4, 10), noise(4, 20))),
        (Fault("cat", "", "torch.cat", "torch.cat([self.text(text)", {"size": 24}, {"size": 16}),),
        lambda: (Fused(1), (noise(4, 10), noise(4, 20))),
    ),
    "cat_token_of_one_picture": Row(
        lambda: (Prompted(1), (noise(3, 9, 12),)),
        (Fault("cat", "", "torch.cat", "torch.cat([token, patches]", {"size": 3}, {"size": 1}),),
        lambda: (Prompted(1, axes=2), (noise(1, 9, 12),)),
        "rank",
    ),
    "broadcast_shortcut": Row(
        lambda: (Residual(False), (noise(2, 8, 9, 9),)),
        (Fault("broadcast", "", T + "add", "self.conv(found) + self.short(found)", {"size": 16}, {"size": 8}),),
        lambda: (Residual(True), (noise(2, 8, 9, 9),)),
    ),
    "broadcast_position_table": Row(
        lambda: (Positioned(16), (noise(2, 3, 48, 48),)),
        (Fault("broadcast", "", T + "add", "tokens + self.table", {"size": 36}, {"size": 16}, True),),
        lambda: (Positioned(16), (noise(2, 3, 32, 32),)),
    ),
    "broadcast_without_keepdim": Row(
        lambda: (centred, (noise(6, 10), False)),
        (Fault("broadcast", "", T + "sub", "found - found.mean", {"size": 10}, {"size": 6}),),
        lambda: (centred, (noise(6, 10), True)),
    ),
    "broadcast_into_memory": Row(
        lambda: (blended, (noise(4, 8), noise(4, 9))),
        (Fault("broadcast", "", T + "add_", ".add_(new", {"size": 8}, {"size": 9}),),
        lambda: (blended, (noise(4, 8), noise(8))),
    ),
    "broadcast_of_a_scale": Row(
        lambda: (film, (noise(2, 8, 5, 5), noise(2, 8))),
        (Fault("broadcast", "", T + "expand_as", "scale.expand_as(found)", {"size": 8}, {"size": 5}),),
        lambda: (film, (noise(2, 8, 5, 5), noise(2, 8, 1, 1))),
    ),
    "product_without_transpose": Row(
        lambda: (gram, (noise(2, 8, 5, 5), False)),
        (Fault("matmul_dims", "", "torch.bmm", "torch.bmm(rows", {"inner": 25}, {"inner": 8}),),
        lambda: (gram, (noise(2, 8, 5, 5), True)),
    ),
    "product_of_weights": Row(
        lambda: (Perceptron(30), (noise(4, 20),)),
        (Fault("matmul_dims", "", T + "matmul", "@ self.w2", {"inner": 32}, {"inner": 30}),),
        lambda: (Perceptron(32), (noise(4, 20),)),
    ),
    "product_of_embeddings": Row(
        lambda: (similar, (noise(4, 16), noise(6, 12))),
        (Fault("matmul_dims", "", "torch.functional.einsum", 'torch.einsum("nd,md->nm"', {"inner": 12}, {"inner": 16}),),
        lambda: (similar, (noise(4, 16), noise(6, 16))),
    ),
    "rank_unpacked": Row(
        lambda: (on_a_grid, (noise(3, 8, 8),)),
        (Fault("rank", "", "python.unpack", "n, c, h, w = found.shape", {"ndim": 3}, {"ndim": 4}, True),),
        lambda: (on_a_grid, (noise(2, 3, 8, 8),)),
    ),
    "rank_permuted": Row(
        lambda: (ToImage(), (noise(2, 9, 12),)),
        (Fault("rank", "", T + "permute", "tokens.permute(0, 3, 1, 2)", {"ndim": 3}, {"ndim": 4}),),
        lambda: (ToImage(), (noise(2, 3, 3, 12),)),
    ),
    "rank_joined": Row(
        lambda: (with_labels, (noise(4, 6), noise(4))),
        (Fault("rank", "", "torch.cat", "torch.cat([features, labels]", {"ndim": 1}, {"ndim": 2}, True),),
        lambda: (with_labels, (noise(4, 6), noise(4, 1))),
    ),
    "rank_resized": Row(
        lambda: (upsampled, (noise(3, 8, 8),)),
        (Fault("rank", "", FN + "interpolate", "F.interpolate(found", {"ndim": 3}, {"ndim": 4}, True),),
        lambda: (upsampled, (noise(1, 3, 8, 8),)),
    ),
    "mapped_over_different_counts": Row(
        lambda: (row_by_row, (noise(3, 4), noise(2, 4))),
        (Fault("broadcast", "", "torch.vmap", "torch.vmap(torch.dot)", {"size": 2}, {"size": 3}),),
        lambda: (row_by_row, (noise(3, 4), noise(3, 4))),
    ),
    "channels_of_a_table": Row(
        lambda: (Conv1(), (noise(4, 30),)),
        (Fault("conv_channels", "conv", FN + "conv1d", "self.conv(x)", {"channels": 4}, {"channels": 1}, True),),
        lambda: (Conv1(), (noise(4, 1, 30),)),
    ),
}
