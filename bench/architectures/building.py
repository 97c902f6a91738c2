"""How the families are built: a model class of the package transformers by its name, small, and inputs of the usual kinds."""

from collections.abc import Callable
from typing import Any, TypeAlias

import torch
import transformers
from torch import nn

from architectures.shrinking import WORDS, shrink

Built: TypeAlias = tuple[nn.Module, tuple[Any, ...], dict[str, Any]]
Builder: TypeAlias = Callable[[], Built]


def from_config(model: str, /, given: dict[str, Any] | None = None, **sizes: Any) -> nn.Module:
    """A model of the package with random weights, in evaluation mode.

    Args:
        model: the name of its class.
        given: what its configuration is made with, where that decides on its parts.
        sizes: what is to be otherwise than small.
    """
    kind = getattr(transformers, model)
    built: nn.Module = kind(shrink(kind.config_class(**(given or {})), **sizes))
    return built.eval()


def tokens(rows: int = 2, length: int = 16, words: int = WORDS // 2) -> torch.Tensor:
    """Identifiers of words, none of them special."""
    return torch.randint(4, words, (rows, length))


def with_places(words: torch.Tensor, identifier: int, count: int) -> torch.Tensor:
    """The words with ``count`` places behind the first one for something else, an image or a sound."""
    places = torch.full((len(words), count), identifier)
    return torch.cat([words[:, :1], places, words[:, 1:]], dim=1)


def image(size: int = 64, rows: int = 1, channels: int = 3) -> torch.Tensor:
    """A picture of so many pixels squared."""
    return torch.randn(rows, channels, size, size)


def of_tokens(model: str, rows: int = 2, length: int = 16, **sizes: Any) -> Builder:
    """A builder of a model that takes words."""
    return lambda: (from_config(model, **sizes), (), {"input_ids": tokens(rows, length)})


def of_pairs(model: str, **sizes: Any) -> Builder:
    """A builder of a model that takes words to read and words to write."""
    return lambda: (from_config(model, **sizes), (), {"input_ids": tokens(), "decoder_input_ids": tokens(length=8)})


def of_image(model: str, size: int = 64, **sizes: Any) -> Builder:
    """A builder of a model that takes one picture."""
    return lambda: (from_config(model, image_size=size, **sizes), (), {"pixel_values": image(size)})


def of_any_image(model: str, size: int = 64, **sizes: Any) -> Builder:
    """The same for one whose configuration doesn't say how large its pictures are."""
    return lambda: (from_config(model, **sizes), (), {"pixel_values": image(size)})


def of_wave(model: str, samples: int = 4000, **sizes: Any) -> Builder:
    """A builder of a model that takes a raw wave."""
    return lambda: (from_config(model, **sizes), (), {"input_values": torch.randn(1, samples)})
