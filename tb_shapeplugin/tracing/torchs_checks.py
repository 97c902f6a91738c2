"""Whose check it was when torch's own Python raised: the public name, and the counts that it compared, out of its frames."""

from collections.abc import Iterator, Sized
from types import FrameType
from typing import Any

import torch
from torch import nn

from tb_shapeplugin.record.values import OpCall, Value
from tb_shapeplugin.tracing.arguments import op_call
from tb_shapeplugin.tracing.source import is_our_file, is_users_file
from tb_shapeplugin.tracing.tensors import TensorBook

_HANDING_ON = ("wrapper", "inner", "wrapped", "decorate_context", "_fn")  # functions around functions
COLLATE, OPTIMIZER = "torch.utils.data.default_collate", "torch.optim."


def torchs_check(frames: list[FrameType], target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], book: TensorBook) -> OpCall:
    """What raised inside torch: the innermost module's or optimizer's own check, else the function that the user called.

    Args:
        frames: of the traceback, the innermost last.
        target: the module or function that was called.
        args: its arguments.
        kwargs: its keyword arguments.
        book: of the run's tensors.
    """
    inner = list(_torchs(frames))
    for frame in inner:
        owner, name = frame.f_locals.get("self"), frame.f_code.co_name
        if isinstance(owner, nn.Module):
            return _of_module(frame, owner, name, target, args, kwargs, book)
        if isinstance(owner, torch.optim.Optimizer) and hasattr(type(owner), name):
            return OpCall(f"{OPTIMIZER}{type(owner).__name__}.{name}", (), _group_lengths(frame))
        if name == "collate" and isinstance(batch := frame.f_locals.get("batch"), list):
            return OpCall(COLLATE, (tuple(len(item) if isinstance(item, Sized) else 1 for item in batch),))
    return op_call(_function_name(inner, frames[-1]), (), {}, book)


def _torchs(frames: list[FrameType]) -> Iterator[FrameType]:
    """The frames below the user's innermost one, without ours, the innermost first."""
    for frame in reversed(frames):
        if is_users_file(frame.f_code.co_filename):
            return
        if not is_our_file(frame.f_code.co_filename):
            yield frame


def _of_module(
    frame: FrameType, owner: nn.Module, name: str, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], book: TensorBook
) -> OpCall:
    if name == "load_state_dict":
        return OpCall("torch.nn.Module.load_state_dict")
    kind = f"torch.nn.{type(owner).__name__}"
    if name == "__init__":
        return OpCall(f"{kind}.__init__", (), {word: value for word, value in frame.f_locals.items() if type(value) is int})
    return op_call(kind, args if owner is target else (), kwargs if owner is target else {}, book)


def _group_lengths(frame: FrameType) -> dict[str, Value]:
    """How many parameters each group has, of the optimizer and of the state that it is given."""
    lengths: dict[str, Value] = {}
    for word in ("groups", "saved_groups"):
        groups = frame.f_locals.get(word)
        if isinstance(groups, list) and all(isinstance(group, dict) and isinstance(group.get("params"), list) for group in groups):
            lengths[word] = tuple(len(group["params"]) for group in groups)
    return lengths


def _function_name(inner: list[FrameType], deepest: FrameType) -> str:
    called = next((frame for frame in reversed(inner) if frame.f_code.co_name not in _HANDING_ON), inner[-1] if inner else deepest)
    module = str(called.f_globals.get("__name__", "python"))
    if module.startswith("torch.distributed."):
        return f"torch.distributed.{called.f_code.co_name}"
    home = module.rpartition(".")[2]
    if module.startswith("torch._") and callable(getattr(torch, home, None)):  # torch._functorch.vmap
        return f"torch.{home}"
    return f"{module}.{getattr(called.f_code, 'co_qualname', called.f_code.co_name)}"
