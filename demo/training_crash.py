"""A training that dies in its third step, in the loss: the guard around the loop says why, and the exception goes on as it was."""

import argparse
import traceback
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import nn
from torch.utils.tensorboard import SummaryWriter

import tb_shapeplugin as shapes


class Stamps(nn.Module):
    """A classifier of small pictures."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten())
        self.head = nn.Linear(8 * 4 * 4, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.features(x))


def batches() -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Pictures and labels; whoever labelled the third batch counted from 1."""
    for first in (0, 0, 1):
        labels = torch.arange(8) % 5 + first
        yield torch.randn(8, 1, 16, 16) + labels.view(-1, 1, 1, 1), labels


def train(model: nn.Module, writer: SummaryWriter) -> None:
    """An ordinary loop; the guard is the one line that is new."""
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters())
    with shapes.guard(writer, model, name="Stamps"):
        for step, (images, labels) in enumerate(batches()):
            scores = model(images)
            loss = criterion(scores, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            writer.add_scalar("loss", loss.item(), step)


def main() -> None:
    """Trains; prints the exception as Python would at the end of a script, with its note."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logdir", type=Path, default=Path("runs"))
    options = parser.parse_args()

    torch.manual_seed(0)
    with SummaryWriter(str(options.logdir / "training_crash")) as writer:
        try:
            train(Stamps(classes=5), writer)
        except IndexError as error:
            print("".join(traceback.format_exception(error)))


if __name__ == "__main__":
    main()
