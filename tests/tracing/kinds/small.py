"""Small models that several of these tests run."""

import torch
from torch import nn


class TwoLayers(nn.Module):
    """x ─ first ─ ReLU ─ second"""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 8)
        self.second = nn.Linear(8, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(torch.relu(self.first(x)))


class Around(nn.Module):
    """x ─ before ─ inner, whatever it is ─ ×2"""

    def __init__(self, inner: nn.Module, features: int = 4) -> None:
        super().__init__()
        self.before = nn.Linear(features, features)
        self.inner = inner

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(self.before(x)) * 2


def batch() -> torch.Tensor:
    """Three rows for either."""
    return torch.randn(3, 4)
