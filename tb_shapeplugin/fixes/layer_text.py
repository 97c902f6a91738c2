"""Layers as people write them: ``nn.Conv2d(3, 8, 7, stride=2, padding=3)``."""

import re
from collections.abc import Mapping
from typing import Any

from tb_shapeplugin.record.finding import Fix
from tb_shapeplugin.record.trace import ModuleFact

# The arguments that people give by position, then the others with their defaults.
_POSITIONAL: dict[str, tuple[str, ...]] = {
    "Linear": ("in_features", "out_features"),
    "Bilinear": ("in1_features", "in2_features", "out_features"),
    "Conv": ("in_channels", "out_channels", "kernel_size"),
    "BatchNorm": ("num_features",),
    "InstanceNorm": ("num_features",),
    "LayerNorm": ("normalized_shape",),
    "RMSNorm": ("normalized_shape",),
    "GroupNorm": ("num_groups", "num_channels"),
    "Embedding": ("num_embeddings", "embedding_dim"),
    "LSTM": ("input_size", "hidden_size"),
    "GRU": ("input_size", "hidden_size"),
    "RNN": ("input_size", "hidden_size"),
    "LSTMCell": ("input_size", "hidden_size"),
    "GRUCell": ("input_size", "hidden_size"),
    "RNNCell": ("input_size", "hidden_size"),
    "ReflectionPad": ("padding",),
    "CircularPad": ("padding",),
    "MultiheadAttention": ("embed_dim", "num_heads"),
    "Unflatten": ("dim", "unflattened_size"),
    "MaxPool": ("kernel_size",),
    "AvgPool": ("kernel_size",),
    "AdaptiveAvgPool": ("output_size",),
    "AdaptiveMaxPool": ("output_size",),
}
_OTHERS: dict[str, tuple[tuple[str, Any], ...]] = {
    "Conv": (("stride", 1), ("padding", 0), ("output_padding", 0), ("dilation", 1), ("groups", 1)),
    "LSTM": (("num_layers", 1), ("batch_first", False), ("bidirectional", False)),
    "GRU": (("num_layers", 1), ("batch_first", False), ("bidirectional", False)),
    "RNN": (("num_layers", 1), ("batch_first", False), ("bidirectional", False)),
    "MultiheadAttention": (("batch_first", False),),
    "MaxPool": (("stride", None), ("padding", 0)),
    "AvgPool": (("stride", None), ("padding", 0)),
}


def layer_fix(module: ModuleFact, argument: str, value: Any, *, own: bool, cost: str | None = None) -> Fix:
    """One constructor argument of a layer changed; its trained weights go where their shape does.

    Args:
        own: it is the layer that fails, whose name stands in the finding already.
        cost: other consequences than lost weights.
    """
    text = layer_text(module, {**module.attributes, argument: value}, argument)
    if module.type.startswith(_PARAMETRIZED):  # made anew it would lack what was registered on it
        return Fix(f"{called(module.path)} = {text} with its parametrization registered again")
    named = text if own or not text.startswith("nn.") else f"{called(module.path)} = {text}"
    return Fix(named, ({"module": module.path, "arg": argument, "value": value},), cost=_lost(module, argument) if cost is None else cost)


def _lost(module: ModuleFact, argument: str) -> str:
    """What the layer knows and the one made anew doesn't."""
    kept = {"pretrained weights": module.parameters, "running statistics": module.buffers}
    lost = [what for what, held in kept.items() if held and argument not in _WEIGHTLESS]
    return f"loses {called(module.path)}'s {' and '.join(lost)}" if lost else ""


_PARAMETRIZED = "Parametrized"  # what torch.nn.utils.parametrize puts before the name of a layer's class
_WEIGHTLESS = ("stride", "padding", "output_padding", "batch_first", "num_groups", "dilation")


def layer_text(module: ModuleFact, attributes: Mapping[str, Any], changed: str) -> str:
    """The layer's constructor call with these attributes; ``path.argument = value`` for one whose form isn't known.

    Example:
        >>> layer_text(ModuleFact("fc1", "Linear", 0), {"in_features": 864, "out_features": 120}, "in_features")
        'nn.Linear(864, 120)'
    """
    kind = module.type.removeprefix(_PARAMETRIZED)
    family = re.sub(r"(Transpose)?[123]d$", "", kind)
    names = _POSITIONAL.get(family, ())
    others = _OTHERS.get(family, ())
    if not names or any(name not in attributes for name in names) or changed not in (*names, *(name for name, _ in others)):
        return f"{called(module.path)}.{changed} = {short(attributes[changed])}"
    given = [str(attributes[name]) if name == "unflattened_size" else short(attributes[name]) for name in names]
    default = {**dict(others), **({"stride": short(attributes.get("kernel_size"))} if "Pool" in family else {})}
    shown = {name: short(attributes[name]) for name, _ in others if name in attributes}
    given += [f"{name}={value}" for name, value in shown.items() if value != str(default[name])]
    given += [flag for flag in ("affine=False", "bias=False") if flag in module.config][:1]
    return f"nn.{kind}({', '.join(given)})"


def short(value: Any) -> str:
    """A value as people write it: equal sizes once.

    Example:
        >>> short((5, 5)), short((3, 5)), short((256,))
        ('5', '(3, 5)', '256')
    """
    if isinstance(value, tuple) and value and len(set(value)) == 1:
        return str(value[0])
    return str(value)


def called(path: str) -> str:
    """A module as people write it.

    Example:
        >>> called("encoder.0"), called("1.fc")
        ('encoder[0]', 'model[1].fc')
    """
    indexed = re.sub(r"(^|\.)(\d+)(?=\.|$)", r"[\2]", path)
    return f"model{indexed}" if indexed.startswith("[") else indexed
