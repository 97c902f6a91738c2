"""The architectures that the benches measure, with random weights and one input each."""

import itertools
import platform
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
import transformers
from torch import nn
from torch.nn import functional

Built: TypeAlias = tuple[nn.Module, tuple[Any, ...], dict[str, Any]]


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


def _two_convolutions(channels: int, width: int) -> nn.Module:
    first = (nn.Conv2d(channels, width, 3, 1, 1), nn.BatchNorm2d(width), nn.ReLU())
    return nn.Sequential(*first, nn.Conv2d(width, width, 3, 1, 1), nn.BatchNorm2d(width), nn.ReLU())


class UNet(nn.Module):
    """An encoder whose every level is joined to the decoder's."""

    def __init__(self, channels: int = 3, width: int = 32, depth: int = 4, classes: int = 2) -> None:
        super().__init__()
        widths = [width * 2**level for level in range(depth + 1)]
        self.first = _two_convolutions(channels, width)
        self.downs = nn.ModuleList(_two_convolutions(a, b) for a, b in itertools.pairwise(widths))
        self.ups = nn.ModuleList(nn.ConvTranspose2d(2 * a, a, 2, 2) for a in reversed(widths[:-1]))
        self.joins = nn.ModuleList(_two_convolutions(2 * a, a) for a in reversed(widths[:-1]))
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        skips = [self.first(x)]
        for down in self.downs:
            skips.append(down(functional.max_pool2d(skips[-1], 2)))
        y = skips.pop()
        for up, join in zip(self.ups, self.joins, strict=True):
            y = join(torch.cat([skips.pop(), up(y)], dim=1))
        return self.head(y)


class TextClassifier(nn.Module):
    """A bidirectional LSTM over embedded tokens."""

    def __init__(self, vocabulary: int = 5000, embedded: int = 128, hidden: int = 256, classes: int = 5) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, embedded)
        self.lstm = nn.LSTM(embedded, hidden, 2, batch_first=True, bidirectional=True, dropout=0.1)
        self.head = nn.Linear(2 * hidden, classes)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        _, (hidden, _) = self.lstm(self.embedding(tokens))
        return self.head(torch.cat([hidden[-2], hidden[-1]], dim=-1))


def dcgan_generator(latent: int = 100, width: int = 64) -> nn.Module:
    """From a latent vector to an image of 64 × 64."""
    layers: list[nn.Module] = []
    channels, stride, padding = latent, 1, 0
    for factor in (8, 4, 2, 1):
        layers += [nn.ConvTranspose2d(channels, width * factor, 4, stride, padding, bias=False), nn.BatchNorm2d(width * factor)]
        layers.append(nn.ReLU(inplace=True))
        channels, stride, padding = width * factor, 2, 1
    return nn.Sequential(*layers, nn.ConvTranspose2d(channels, 3, 4, 2, 1, bias=False), nn.Tanh())


class Positional(nn.Module):
    """Takes tensors by position and gives a tuple of tensors: add_graph accepts neither keywords nor a ModelOutput."""

    def __init__(self, model: nn.Module, keywords: tuple[str, ...], constants: dict[str, Any]) -> None:
        super().__init__()
        self.model, self.keywords, self.constants = model, keywords, constants

    def forward(self, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        positional = tensors[: len(tensors) - len(self.keywords)]
        named = dict(zip(self.keywords, tensors[len(positional) :], strict=True))
        output = self.model(*positional, **named, **self.constants)
        values = output.values() if isinstance(output, Mapping) else output if isinstance(output, tuple) else (output,)
        return tuple(value for value in values if isinstance(value, torch.Tensor))


@dataclass(frozen=True)
class Subject:
    """A model to measure with what it is called with."""

    name: str
    model: nn.Module
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def forward(self) -> Any:
        """What all is measured against."""
        return self.model(*self.args, **self.kwargs)

    def for_add_graph(self) -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
        """A wrapper that add_graph takes, and its arguments."""
        named = {name: value for name, value in self.kwargs.items() if isinstance(value, torch.Tensor)}
        constants = {name: value for name, value in self.kwargs.items() if name not in named}
        return Positional(self.model, tuple(named), constants).eval(), (*self.args, *named.values())


def _image(size: int) -> torch.Tensor:
    return torch.randn(1, 3, size, size)


def _tokens(*shape: int) -> torch.Tensor:
    return torch.randint(1, 1000, shape)


def _from_config(model: str, config: str, **options: Any) -> nn.Module:
    built: nn.Module = getattr(transformers, model)(getattr(transformers, config)(**options))
    return built


LLAMA_88M = {"hidden_size": 768, "intermediate_size": 2048, "num_hidden_layers": 12, "num_attention_heads": 12} | {
    "num_key_value_heads": 4,
    "vocab_size": 8000,
}
LLAMA_7B = {"hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32, "num_attention_heads": 32, "vocab_size": 32000}
LLAMA_70B = {"hidden_size": 8192, "intermediate_size": 28672, "num_hidden_layers": 80, "num_attention_heads": 64} | {
    "num_key_value_heads": 8,
    "vocab_size": 32000,
}
WHISPER_TINY = {"d_model": 384, "encoder_layers": 4, "decoder_layers": 4, "encoder_attention_heads": 6} | {
    "decoder_attention_heads": 6,
    "encoder_ffn_dim": 1536,
    "decoder_ffn_dim": 1536,
}


def _gpt2() -> Built:
    return _from_config("GPT2LMHeadModel", "GPT2Config"), (), {"input_ids": _tokens(1, 128), "use_cache": False}


def _llama() -> Built:
    return _from_config("LlamaForCausalLM", "LlamaConfig", **LLAMA_88M), (), {"input_ids": _tokens(1, 128), "use_cache": False}


def _vit() -> Built:
    return _from_config("ViTForImageClassification", "ViTConfig"), (), {"pixel_values": _image(224)}


def _bert() -> Built:
    given = {"input_ids": _tokens(1, 128), "attention_mask": torch.ones(1, 128, dtype=torch.long)}
    return _from_config("BertForSequenceClassification", "BertConfig"), (), given


def _t5() -> Built:
    given = {"input_ids": _tokens(1, 64), "decoder_input_ids": _tokens(1, 64), "use_cache": False}
    return _from_config("T5ForConditionalGeneration", "T5Config", d_model=512, num_layers=6, vocab_size=8000), (), given


def _whisper() -> Built:
    given = {"input_features": torch.randn(1, 80, 3000), "decoder_input_ids": _tokens(1, 16), "use_cache": False}
    return _from_config("WhisperForConditionalGeneration", "WhisperConfig", **WHISPER_TINY), (), given


def _swin() -> Built:
    return _from_config("SwinForImageClassification", "SwinConfig"), (), {"pixel_values": _image(224)}


def _mamba() -> Built:
    model = _from_config("MambaForCausalLM", "MambaConfig", hidden_size=256, num_hidden_layers=4, vocab_size=2000)
    return model, (), {"input_ids": _tokens(1, 32), "use_cache": False}


MODELS: dict[str, Callable[[], Built]] = {
    "gpt2": _gpt2,
    "llama-88m": _llama,
    "vit-base": _vit,
    "bert-base": _bert,
    "t5": _t5,
    "whisper-tiny": _whisper,
    "resnet152": lambda: (resnet((3, 8, 36, 3)), (_image(224),), {}),
    "unet": lambda: (UNet(), (_image(128),), {}),
    "swin-tiny": _swin,
    "mamba": _mamba,
    "lstm": lambda: (TextClassifier(), (_tokens(4, 64),), {}),
    "dcgan": lambda: (dcgan_generator(), (torch.randn(2, 100, 1, 1),), {}),
}
QUICK = ("bert-base",)


def subjects(names: tuple[str, ...]) -> Iterator[Subject]:
    """The models in evaluation mode, one after the other: together they fill gigabytes."""
    for name in names:
        torch.manual_seed(0)
        model, args, kwargs = MODELS[name]()
        yield Subject(name, model.eval(), args, kwargs)


def conditions() -> dict[str, Any]:
    """What every figure depends on."""
    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "threads": torch.get_num_threads(),
    }


def of_subject(subject: Subject) -> dict[str, Any]:
    """What a figure of one model depends on: its size and its inputs."""
    given = {**dict(enumerate(subject.args)), **subject.kwargs}
    return {
        "params": sum(p.numel() for p in subject.model.parameters()),
        "inputs": {str(name): list(value.shape) for name, value in given.items() if isinstance(value, torch.Tensor)},
    }
