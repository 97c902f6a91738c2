"""Unusual inputs and outputs: nested, empty, of odd dtypes, and values that forward reads."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import nn

from tests.zoo.entry import Built, Enclosure

DATA = Enclosure()


@dataclass
class Batch:
    """What a loader gives."""

    image: torch.Tensor
    mask: torch.Tensor | None = None


class Sizes(NamedTuple):
    height: torch.Tensor
    width: torch.Tensor


class Nested(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)
        self.head = nn.Linear(6, 2)

    def forward(self, batch: Batch, extra: dict[str, object], sizes: Sizes, flag: bool | None = None) -> dict[str, object]:
        features = self.conv(batch.image)
        if batch.mask is not None:
            features = features * batch.mask
        scale = extra["scales"][1]  # a mapping in a mapping
        pooled = torch.cat([features.mean((2, 3)) * scale, sizes.height, sizes.width], dim=-1)
        return {"logits": self.head(pooled), "aux": [features, None], "sizes": Sizes(sizes.width, sizes.height), "flag": flag}


@DATA.entry("nested_inputs")
def nested_inputs() -> Built:
    """A dataclass, a dict with a list, a named tuple and None go in; a dict of all of them comes out."""
    batch = Batch(torch.randn(2, 3, 5, 5), torch.ones(2, 1, 5, 5))
    extra = {"scales": [torch.ones(()), torch.full((2, 1), 2.0)], "name": "left"}
    return Nested(), (batch, extra), {"sizes": Sizes(torch.randn(2, 1), torch.randn(2, 1)), "flag": None}


class Shapeless(nn.Module):
    def forward(self, scalar: torch.Tensor, empty: torch.Tensor, hollow: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return scalar + 1, torch.cat([empty, empty]), hollow @ hollow.transpose(0, 1), hollow.sum()


@DATA.entry("sizes_of_zero")
def sizes_of_zero() -> Built:
    """A 0-d tensor, an empty one f32[0], and f32[0,3]: everything is legal and almost nothing is computed."""
    return Shapeless(), (torch.tensor(3.0), torch.empty(0), torch.empty(0, 3)), {}


class Dtypes(nn.Module):
    def forward(self, whole: torch.Tensor, flags: torch.Tensor, waves: torch.Tensor, half: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return whole.cumsum(0) // 2, flags & ~flags, torch.fft.fft(waves).abs(), half.double() * 2, torch.where(flags, whole, 0)


@DATA.entry("odd_dtypes")
def odd_dtypes() -> Built:
    """int64, bool, complex64 and bfloat16, each with ops of its own."""
    return (
        Dtypes(),
        (torch.arange(4), torch.tensor([True, False, True, False]), torch.randn(4, dtype=torch.complex64), torch.ones(2).bfloat16()),
        {},
    )


class Branching(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.positive = nn.Linear(4, 3)
        self.negative = nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            return self.positive(x)
        return self.negative(x)


@DATA.entry("branch_on_values", reads_values=True)
def branch_on_values() -> Built:
    """x ─ sum > 0 ? ─ yes: positive (this one) / no: negative, which has another width."""
    return Branching(), (torch.ones(2, 4),), {}


class Masked(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(4, 2)

    def forward(self, x: torch.Tensor, keep: torch.Tensor) -> torch.Tensor:
        return self.head(x[keep]) * keep.sum().item()


@DATA.entry("boolean_mask", reads_values=True)
def boolean_mask() -> Built:
    """x[keep]: how many rows there are depends on the mask's values; so does the factor."""
    return Masked(), (torch.randn(3, 4), torch.tensor([True, False, True])), {}
