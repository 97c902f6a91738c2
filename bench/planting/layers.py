"""Wrong sides of layers: one layer of a model made anew with another size, in its place."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from transformers.pytorch_utils import Conv1D

Arguments = dict[str, Any]
_WINDOW = ("kernel_size", "stride", "padding", "dilation", "groups", "padding_mode")
_RECURRENT = ("num_layers", "batch_first", "dropout", "bidirectional")

# Of each class: what its constructor takes besides bias, and which of it is the size of its input and of its output.
_CLASSES: tuple[tuple[tuple[type[nn.Module], ...], tuple[str, ...], tuple[str, ...], tuple[str, ...]], ...] = (
    ((nn.Linear,), ("in_features", "out_features"), ("in_features",), ("out_features",)),
    ((nn.Bilinear,), ("in1_features", "in2_features", "out_features"), ("in1_features", "in2_features"), ("out_features",)),
    ((nn.Conv1d, nn.Conv2d, nn.Conv3d), ("in_channels", "out_channels", *_WINDOW), ("in_channels",), ("out_channels",)),
    (
        (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d),
        ("in_channels", "out_channels", *_WINDOW, "output_padding"),
        ("in_channels",),
        ("out_channels",),
    ),
    (
        (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d),
        ("num_features", "eps", "momentum", "affine", "track_running_stats"),
        ("num_features",),
        (),
    ),
    ((nn.LayerNorm,), ("normalized_shape", "eps", "elementwise_affine"), ("normalized_shape",), ()),
    ((nn.GroupNorm,), ("num_groups", "num_channels", "eps", "affine"), ("num_channels",), ()),
    ((nn.Embedding,), ("num_embeddings", "embedding_dim", "padding_idx"), (), ("embedding_dim",)),
    ((nn.LSTM, nn.GRU, nn.RNN), ("input_size", "hidden_size", *_RECURRENT), ("input_size",), ("hidden_size",)),
    ((nn.LSTMCell, nn.GRUCell, nn.RNNCell), ("input_size", "hidden_size"), ("input_size",), ("hidden_size",)),
    ((nn.MultiheadAttention,), ("embed_dim", "num_heads", "dropout", "batch_first"), ("embed_dim",), ()),
    ((Conv1D,), ("nf", "nx"), ("nx",), ("nf",)),
)
_WITH_BIAS = (nn.Linear, nn.Bilinear, nn.modules.conv._ConvNd, nn.RNNBase, nn.RNNCellBase, nn.MultiheadAttention)


@dataclass(frozen=True)
class Side:
    """One argument of one layer's constructor, and the wrong value that it is given."""

    module: str
    argument: str
    right: Any  # an int, or a tuple of them
    wrong: Any
    kind: str  # "input side" or "output side"

    def __str__(self) -> str:
        return f"{self.module}.{self.argument} {self.right} → {self.wrong}"


def sides(model: nn.Module) -> dict[str, list[tuple[str, str, Any]]]:
    """Every layer of torch's own whose sides can be wrong: path, argument and value, by kind of side."""
    found: dict[str, list[tuple[str, str, Any]]] = {"input side": [], "output side": []}
    for path, layer in model.named_modules():
        for classes, _, inputs, outputs in _CLASSES:
            if type(layer) in classes and path:
                found["input side"] += [(path, name, getattr(layer, name)) for name in inputs]
                found["output side"] += [(path, name, getattr(layer, name)) for name in outputs]
    return found


def wrong_side(rng: random.Random, kind: str, module: str, argument: str, right: Any) -> Side:
    """The side with a size that people write by mistake: off by a few, half, double, or another power of two."""
    if isinstance(right, tuple):
        return Side(module, argument, right, (*right[:-1], _wrong(rng, right[-1])), kind)
    return Side(module, argument, right, _wrong(rng, right), kind)


def _wrong(rng: random.Random, right: int) -> int:
    others = {right + 1, right - 1, right + 4, 2 * right, right // 2, 3 * right, right + 16, 64, 10, 7} - {right}
    return rng.choice(sorted(other for other in others if other > 1))


def put_side(side: Side, model: nn.Module) -> None:
    """The layer made anew with its wrong size, at every path at which it is registered."""
    old = model.get_submodule(side.module)
    new = _made_anew(old, {side.argument: side.wrong})
    for holder in list(model.modules()):
        for name, child in list(holder._modules.items()):
            if child is old:
                holder._modules[name] = new


def _made_anew(layer: nn.Module, wrong: Arguments) -> nn.Module:
    names = next(names for classes, names, _, _ in _CLASSES if type(layer) in classes)
    given: Arguments = {name: getattr(layer, name) for name in names if hasattr(layer, name)}
    if isinstance(layer, Conv1D):
        given["nx"] = layer.weight.shape[0]
    if isinstance(layer, _WITH_BIAS):
        given["bias"] = _has_bias(layer)
    make: Callable[..., nn.Module] = type(layer)
    first = next((p for p in layer.parameters() if p.is_floating_point()), torch.zeros(0))
    return make(**{**given, **wrong}).to(first.device, first.dtype).train(layer.training)


def _has_bias(layer: nn.Module) -> bool:
    if isinstance(layer, nn.MultiheadAttention):
        return layer.in_proj_bias is not None
    bias = layer.bias
    return bool(bias) if isinstance(layer, (nn.RNNBase, nn.RNNCellBase)) else bias is not None
