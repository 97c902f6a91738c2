"""Asks eager what it says to a call: on zeros, of large operands on a single one that is expanded."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from tb_shapeplugin.tracing.arguments import tensors_in
from tb_shapeplugin.tracing.aten_ops import may_draw
from tb_shapeplugin.tracing.compat import no_function_modes, real_execution
from tb_shapeplugin.tracing.compat_ranks import speaks_to_ranks
from tb_shapeplugin.tracing.restore import generators_kept
from tb_shapeplugin.tracing.substitution import substituted

_LARGEST = 1 << 24  # elements that may be made to ask
# Their kernels follow what batch sizes and lengths say through memory: made-up ones would lead them astray, or to other words.
_READS_LENGTHS = {"_pack_padded_sequence", "_pad_packed_sequence", "ctc_loss", "repeat_interleave"}
_RECURRENT = {"lstm", "gru", "rnn_tanh", "rnn_relu"}  # of packed sequences these follow batch sizes
_AT_HAND = {"cpu", "meta"}  # operands on both are asked about where they are
_ASKS_FOR_GRADIENTS = ("numpy", "__array__")  # refused where a gradient could get lost
_CHECKED_FIRST = ("linear", "matmul", "conv", "bmm", "mm")  # these compare sizes and dtypes before they compute


@dataclass(frozen=True)
class Answer:
    """What eager did: the error that it raised, else its output as tensors that hold nothing."""

    error: Exception | None
    output: Any = None


def ask_eager(
    function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], known: Mapping[int, torch.Tensor] | None = None
) -> Answer | None:
    """What eager does with this call; None where asking could cost too much, or needs devices that may not be there.

    Shape-level kernels use other words than eager, refuse a few calls that it accepts, and let some through that it refuses.

    Args:
        function: the torch function.
        args: its arguments, with fake tensors.
        kwargs: its keyword arguments.
        known: real contents by the id of the fake that they belong to; zeros stand in for the others.
    """
    operands = tensors_in((args, kwargs))
    devices = {tensor.device.type for tensor in operands}
    if len(devices) > 1 and devices != _AT_HAND:
        return None
    name = getattr(function, "__name__", "")
    if _reads_lengths(name, operands) or speaks_to_ranks(function):
        return None
    large = sum(tensor.numel() for tensor in operands) > _LARGEST
    if large and (not name.startswith(_CHECKED_FIRST) or not all(tensor.is_contiguous() for tensor in operands)):
        return None
    follows_gradients = name in _ASKS_FOR_GRADIENTS and torch.is_grad_enabled()
    try:
        with generators_kept(may_draw(function)), real_execution(), no_function_modes(), torch.no_grad():
            made = {id(tensor): _stand_in(tensor, not large) for tensor in operands} | dict(known or {})
            apart = {id(tensor) for tensor in operands if len(devices) > 1 and tensor.device.type == "meta"}
            real = {key: tensor.to("meta") if key in apart else tensor for key, tensor in made.items()}
            real_args, real_kwargs = substituted((args, dict(kwargs)), real)
            with torch.set_grad_enabled(follows_gradients):
                result = function(*real_args, **real_kwargs)
    except Exception as error:
        return Answer(error)
    return Answer(None, substituted(result, {id(t): torch.zeros(tuple(t.shape), dtype=t.dtype) for t in tensors_in(result)}))


def refuses_view(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Exception | None:
    """What eager raises for a view of tensors that aren't contiguous; shape-level kernels let some through. Needs no memory."""
    operands = tensors_in((args, kwargs))
    if len(operands) > 1 and getattr(function, "__name__", "") != "view_as":
        return None  # a size that is a tensor: its value would be needed
    try:
        with real_execution(), no_function_modes(), torch.no_grad():
            strided = {id(t): torch.empty_strided(tuple(t.shape), t.stride(), dtype=t.dtype, device="meta") for t in operands}
            real_args, real_kwargs = substituted((args, dict(kwargs)), strided)
            function(*real_args, **real_kwargs)
    except Exception as error:
        return error
    return None


def writes_first_operand(name: str) -> bool:
    """Does a function of that name write into its first operand: ``add_``, ``__iadd__``, ``__setitem__``?"""
    if name.startswith("__"):
        return name == "__setitem__" or (name.startswith("__i") and name not in ("__invert__", "__index__", "__int__"))
    return name.endswith("_")


def _reads_lengths(name: str, operands: list[torch.Tensor]) -> bool:
    return name in _READS_LENGTHS or (name in _RECURRENT and any(tensor.dtype == torch.int64 for tensor in operands))


def _stand_in(tensor: torch.Tensor, dense: bool) -> torch.Tensor:
    """Zeros that need a gradient where the tensor does: matrix products choose their kernels by it, and with them their words."""
    needs = tensor.requires_grad
    if dense or any(size == 0 for size in tensor.shape):
        return torch.empty_strided(tuple(tensor.shape), tensor.stride(), dtype=tensor.dtype, requires_grad=needs).zero_()
    with torch.enable_grad():
        return torch.zeros((), dtype=tensor.dtype, requires_grad=needs).expand(tuple(tensor.shape))
