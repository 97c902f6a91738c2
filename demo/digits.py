"""Trains a classifier of handwritten digits and logs its loss and its shapes with the same SummaryWriter."""

import argparse
from pathlib import Path

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.tensorboard import SummaryWriter

import tb_shapeplugin as shapes


class DigitNet(nn.Module):
    """Two convolutions and two linear layers for pictures of 8×8 pixels."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, kernel_size=3, padding=1)
        self.norm1 = nn.BatchNorm2d(16)
        self.conv2 = nn.Conv2d(16, 32, kernel_size=3, padding=1)
        self.norm2 = nn.BatchNorm2d(32)
        self.pool = nn.MaxPool2d(2)
        self.drop = nn.Dropout(0.25)
        self.fc1 = nn.Linear(32 * 2 * 2, 64)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        x = self.pool(F.relu(self.norm1(self.conv1(pixels))))
        x = self.pool(F.relu(self.norm2(self.conv2(x))))
        x = torch.flatten(x, start_dim=1)
        x = self.drop(F.relu(self.fc1(x)))
        return self.fc2(x)


def digits() -> tuple[TensorDataset, TensorDataset]:
    """The 1,797 scanned digits that ship with scikit-learn, as training and test set."""
    pixels, labels = load_digits(return_X_y=True)
    images = torch.tensor(pixels, dtype=torch.float32).reshape(-1, 1, 8, 8) / 16
    targets = torch.tensor(labels)
    return TensorDataset(images[:1400], targets[:1400]), TensorDataset(images[1400:], targets[1400:])


def accuracy(model: nn.Module, data: TensorDataset) -> float:
    """Share of right answers."""
    model.eval()
    with torch.no_grad():
        images, targets = data.tensors
        right = model(images).argmax(dim=1) == targets
    model.train()
    return right.float().mean().item()


def main() -> None:
    """Trains for a few epochs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logdir", type=Path, default=Path("runs"))
    parser.add_argument("--epochs", type=int, default=3)
    options = parser.parse_args()

    torch.manual_seed(0)
    training, test = digits()
    loader = DataLoader(training, batch_size=32, shuffle=True)
    model = DigitNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

    writer = SummaryWriter(str(options.logdir / "digits"))
    images, _ = next(iter(loader))
    captured = shapes.add_shapes(writer, model, images, name="DigitNet")  # the one line that this plugin asks for
    print(captured)

    step = 0
    for epoch in range(options.epochs):
        for images, targets in loader:
            loss = F.cross_entropy(model(images), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            writer.add_scalar("loss", loss.item(), step)
            step += 1
        right = accuracy(model, test)
        writer.add_scalar("accuracy", right, step)
        print(f"epoch {epoch + 1}: {right:.1%} of the test digits are right")
    writer.close()


if __name__ == "__main__":
    main()
