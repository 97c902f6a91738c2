"""Architectures that everybody knows, tiny."""

import itertools

import torch
import torch.nn.functional as F
from torch import nn

from tests.zoo.entry import Built, Enclosure

CLASSICS = Enclosure()


@CLASSICS.entry("mlp")
def mlp() -> Built:
    """x[4,8] → Linear 16 → ReLU → Linear 3."""
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3)), (torch.randn(4, 8),), {}


class CNN(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.pool = nn.MaxPool2d(2)
        self.fc1 = nn.Linear(16 * 4 * 4, 32)
        self.fc2 = nn.Linear(32, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.pool(F.relu(self.conv1(x)))
        x = self.pool(F.relu(self.conv2(x)))
        x = torch.flatten(x, 1)
        return self.fc2(F.relu(self.fc1(x)))


@CLASSICS.entry("cnn")
def cnn() -> Built:
    """x[2,1,28,28] → conv1 → pool → conv2 → pool (called twice) → flatten → fc1 → fc2."""
    return CNN(), (torch.randn(2, 1, 28, 28),), {}


class Bottleneck(nn.Module):
    def __init__(self, channels: int, width: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, 2 * width, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(2 * width)
        self.relu = nn.ReLU(inplace=True)
        self.down = nn.Conv2d(channels, 2 * width, 1, stride, bias=False) if stride != 1 or channels != 2 * width else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        y += x if self.down is None else self.down(x)
        return self.relu(y)


@CLASSICS.entry("resnet_training")
def resnet_training() -> Built:
    """Residual blocks in training mode: BatchNorm writes its statistics, ReLU writes in place, ``+=`` writes.

    x ─┬─ conv·bn·relu ─ conv·bn·relu ─ conv·bn ─ += ─ relu
       └───────────────── (down) ─────────────────┘        three times, then mean and a head
    """
    blocks = nn.Sequential(Bottleneck(3, 4, 1), Bottleneck(8, 4, 1), Bottleneck(8, 8, 2))
    model = nn.Sequential(blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 5))
    return model.train(), (torch.randn(2, 3, 12, 12),), {}


@CLASSICS.entry("resnet_evaluation")
def resnet_evaluation() -> Built:
    """The same in evaluation mode, with one block left in training: flags differ per module."""
    model, args, kwargs = resnet_training()
    model.eval()
    model[0][1].train()
    return model, args, kwargs


class UNet(nn.Module):
    def __init__(self, width: int = 4, depth: int = 2) -> None:
        super().__init__()
        widths = [width * 2**level for level in range(depth + 1)]
        self.down = nn.ModuleList(nn.Conv2d(a, b, 3, padding=1) for a, b in zip([1, *widths], widths, strict=False))
        self.up = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, 2) for a, b in itertools.pairwise(widths))
        self.merge = nn.ModuleList(nn.Conv2d(2 * a, a, 3, padding=1) for a in widths[:-1])
        self.head = nn.Conv2d(width, 2, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        skips = []
        for level, conv in enumerate(self.down):
            x = F.relu(conv(x if level == 0 else F.max_pool2d(x, 2)))
            skips.append(x)
        for level in reversed(range(len(self.up))):
            x = torch.cat([self.up[level](x), skips[level]], dim=1)
            x = F.relu(self.merge[level](x))
        return self.head(x)


@CLASSICS.entry("unet")
def unet() -> Built:
    """Skips joined by cat.

    x ─ down0 ───────────────────── cat ─ merge0 ─ head
          └ pool ─ down1 ─── cat ─ merge1 ─ up0 ┘
                     └ pool ─ down2 ─ up1 ┘
    """
    return UNet(), (torch.randn(1, 1, 16, 16),), {}


class VAE(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Linear(12, 8)
        self.mean = nn.Linear(8, 3)
        self.log_variance = nn.Linear(8, 3)
        self.decoder = nn.Sequential(nn.Linear(3, 8), nn.Dropout(0.2), nn.Linear(8, 12))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        hidden = torch.tanh(self.encoder(x))
        mean, log_variance = self.mean(hidden), self.log_variance(hidden)
        sample = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
        return self.decoder(sample), mean, log_variance


@CLASSICS.entry("vae")
def vae() -> Built:
    """Draws random numbers, by randn_like and by dropout.

                 ┌ mean ─────────────┐
    x ─ encoder ─┤                   + ─ decoder
                 └ log_variance ─ × ─┘
                           randn ─┘
    """
    return VAE(), (torch.rand(4, 12),), {}


@CLASSICS.entry("dcgan_generator")
def dcgan_generator() -> Built:
    """z[2,8,1,1] → ConvTranspose ↑4 → ↑8 → ↑16, with BatchNorm in training."""
    model = nn.Sequential(
        nn.ConvTranspose2d(8, 8, 4, 1, 0, bias=False),
        nn.BatchNorm2d(8),
        nn.ReLU(True),
        nn.ConvTranspose2d(8, 4, 4, 2, 1, bias=False),
        nn.BatchNorm2d(4),
        nn.ReLU(True),
        nn.ConvTranspose2d(4, 3, 4, 2, 1, bias=False),
        nn.Tanh(),
    )
    return model, (torch.randn(2, 8, 1, 1),), {}


class GraphLayer(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.message = nn.Linear(width, width)
        self.update = nn.Linear(2 * width, width)

    def forward(self, nodes: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        messages = self.message(nodes[edges[0]])
        summed = torch.zeros_like(nodes).index_add(0, edges[1], messages)
        count = torch.zeros(len(nodes)).scatter_add_(0, edges[1], torch.ones(edges.shape[1]))
        return F.relu(self.update(torch.cat([nodes, summed / count.clamp(min=1)[:, None]], dim=-1)))


class GNN(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([GraphLayer(6), GraphLayer(6)])
        self.head = nn.Linear(6, 2)

    def forward(self, nodes: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            nodes = layer(nodes, edges)
        return self.head(nodes.mean(0))


@CLASSICS.entry("gnn")
def gnn() -> Built:
    """Messages along edges, gathered by indexing, summed by index_add and scatter_add.

    nodes ─┬─ [edges[0]] ─ message ─ index_add[edges[1]] ─ / count ─ cat ─ update
           └─────────────────────────────────────────────────────────┘            twice, then mean and a head
    """
    return GNN(), (torch.randn(5, 6), torch.tensor([[0, 1, 2, 3, 4, 0], [1, 2, 3, 4, 0, 2]])), {}
