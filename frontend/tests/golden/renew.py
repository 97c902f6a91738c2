"""Writes the records that the tests read, and what the console says of them: run it after a change of the format."""

import sys
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[2]))

import tb_shapeplugin as shapes  # noqa: E402  (the checkout, not an installed one)
from tb_shapeplugin.record.record import Record  # noqa: E402
from tb_shapeplugin.report.four_lines import four_lines  # noqa: E402
from tb_shapeplugin.wire.encode import encode  # noqa: E402


class Net(nn.Module):
    """conv1 -> relu -> pool -> flatten -> drop -> fc1 (guessed width) -> relu -> fc2 -> relu -> fc3; aux never runs."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5)
        self.pool = nn.MaxPool2d(2)
        self.drop = nn.Dropout(0.5)
        self.fc1 = nn.Linear(width, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)
        self.aux = nn.Linear(84, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Fails at fc1 when its width is wrong."""
        x = self.conv1(x)
        x = self.pool(F.relu(x))
        x = torch.flatten(x, 1)
        x = self.drop(x)
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.fc3(x)


class Twice(nn.Module):
    """x -> block.lin -> act -> block.lin -> act -> cat with x: modules called twice, inside a container."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([nn.Sequential(nn.Linear(8, 8), nn.ReLU()) for _ in range(2)])
        self.shared = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        """Each block, then the shared layer."""
        for block in self.blocks:
            x = self.shared(block(x))
        return {"both": torch.cat([x, x], dim=1)}


class TwoPaths(nn.Module):
    """Text through an embedding, pictures through a convolution, both through one body; text without a zero is scaled."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(100, 16)
        self.conv = nn.Conv2d(3, 16, 3, 2)
        self.body = nn.Sequential(nn.Linear(16, 16), nn.ReLU())
        self.head = nn.Linear(16, 5)
        self.debug = False

    def forward(self, text: torch.Tensor | None = None, image: torch.Tensor | None = None) -> torch.Tensor:
        """Takes one of both."""
        if text is not None:
            x = self.embed(text)
            if (text > 0).all():
                x = x * 2
        else:
            x = self.conv(image).flatten(2).transpose(1, 2)
        if self.debug:
            print(x)
        return self.head(self.body(x).mean(1))


def main() -> None:
    """Captures each model and writes its record and its four lines beside this file."""
    images = torch.zeros(4, 1, 28, 28)
    healthy = Net(864)
    adam: dict[str, Any] = {"backward": True, "optimizer": torch.optim.Adam(healthy.parameters())}
    for name, model, args, options in (
        ("problem", Net(1176), images, dict[str, Any]()),
        ("healthy", healthy, images, adam),
        ("twice", Twice(), torch.zeros(2, 8), {}),
    ):
        write(name, shapes.capture(model, args, name=name, **options).record)
    both = {"text": {"text": torch.ones(2, 7, dtype=torch.long)}, "image": {"image": torch.zeros(4, 3, 9, 9)}}
    write("cases", shapes.capture(TwoPaths(), cases=both, name="cases").record)


def write(name: str, record: Record) -> None:
    """Its bytes, and what the console says of its findings."""
    (HERE / f"{name}.bin").write_bytes(encode(record))
    lines = "\n".join(four_lines(finding, record) for finding in record.findings)
    (HERE / f"{name}.txt").write_text(lines, encoding="utf-8")


if __name__ == "__main__":
    main()
