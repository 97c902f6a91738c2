"""A CNN whose first Linear has a guessed width: the forward fails, and the record tells where the wrong number came from."""

import argparse
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

import tb_shapeplugin as shapes


class GuessedNet(nn.Module):
    """LeNet for pictures of 32×32, as everybody has typed it once."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, kernel_size=5)
        self.conv2 = nn.Conv2d(6, 16, kernel_size=5)
        self.pool = nn.MaxPool2d(2)
        self.fc1 = nn.Linear(16 * 6 * 6, 120)  # a guess: 32 → 28 → 14 → 10 → 5, so 6 should be 5
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.pool(F.relu(self.conv1(x)))
        x = self.pool(F.relu(self.conv2(x)))
        x = torch.flatten(x, 1)
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.fc3(x)


def main() -> None:
    """Captures the failing model; a failure is a result, not an exception."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logdir", type=Path, default=Path("runs"))
    options = parser.parse_args()

    images = torch.randn(4, 1, 32, 32)
    with shapes.ShapeWriter(options.logdir / "wrong_width") as writer:
        captured = writer.add_shapes(GuessedNet(), images, name="GuessedNet")

    print(captured)
    finding = captured.findings[0]
    print(f"\nIn short: {finding.message} (line {finding.line}); {finding.why}.")


if __name__ == "__main__":
    main()
