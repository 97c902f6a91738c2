"""The architectures that the benches measure, with random weights and one batch each."""

import platform
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import transformers
from torch import nn


class Bottleneck(nn.Module):
    """1×1, 3×3, 1×1 convolutions around a shortcut, as in ResNet-50 and deeper."""

    def __init__(self, channels: int, width: int, stride: int) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(channels, width, 1, bias=False), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width)
        self.conv3, self.bn3 = nn.Conv2d(width, 4 * width, 1, bias=False), nn.BatchNorm2d(4 * width)
        self.relu = nn.ReLU(inplace=True)
        same = stride == 1 and channels == 4 * width
        self.down = None if same else nn.Sequential(nn.Conv2d(channels, 4 * width, 1, stride, bias=False), nn.BatchNorm2d(4 * width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        return self.relu(y + (x if self.down is None else self.down(x)))


def resnet(blocks: tuple[int, ...]) -> nn.Module:
    """A ResNet of bottlenecks: (3, 8, 36, 3) is ResNet-152."""
    layers: list[nn.Module] = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    channels = 64
    for stage, count in enumerate(blocks):
        width = 64 * 2**stage
        for number in range(count):
            layers.append(Bottleneck(channels, width, 2 if stage and not number else 1))
            channels = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 1000))


class TupleOutput(nn.Module):
    """Gives the tensors of a ModelOutput as a tuple: add_graph accepts no dict."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(value for value in self.model(x).values() if isinstance(value, torch.Tensor))


@dataclass(frozen=True)
class Subject:
    """A model to measure with its one argument."""

    name: str
    model: nn.Module
    argument: torch.Tensor


def _image(size: int) -> torch.Tensor:
    return torch.randn(1, 3, size, size)


def _tokens(length: int) -> torch.Tensor:
    return torch.randint(0, 1000, (1, length))


def _from_config(model: str, config: str, **options: Any) -> nn.Module:
    built: nn.Module = getattr(transformers, model)(getattr(transformers, config)(**options))
    return built


MODELS: dict[str, Callable[[], tuple[nn.Module, torch.Tensor]]] = {
    "bert-base": lambda: (_from_config("BertModel", "BertConfig"), _tokens(128)),
    "resnet152": lambda: (resnet((3, 8, 36, 3)), _image(128)),
    "gpt2": lambda: (_from_config("GPT2Model", "GPT2Config"), _tokens(128)),
    "vit-base": lambda: (_from_config("ViTModel", "ViTConfig"), _image(224)),
    "swin-tiny": lambda: (_from_config("SwinModel", "SwinConfig"), _image(224)),
}
QUICK = ("bert-base",)


def subjects(quick: bool) -> list[Subject]:
    """The models in evaluation mode; of a quick bench the first one alone."""
    torch.manual_seed(0)
    names = QUICK if quick else tuple(MODELS)
    found = []
    for name in names:
        model, argument = MODELS[name]()
        found.append(Subject(name, model.eval(), argument))
    return found


def conditions(found: list[Subject]) -> dict[str, Any]:
    """What a figure depends on: versions, threads, models and their inputs."""
    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "threads": torch.get_num_threads(),
        "models": {s.name: {"input": list(s.argument.shape), "params": sum(p.numel() for p in s.model.parameters())} for s in found},
    }
