"""Keeps torch and libraries from doing other things because they notice fakes, in the thread of a capture and while it lasts."""

import contextlib
import functools
import logging
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType, ModuleType
from typing import Any

import torch
from torch import nn

from tb_shapeplugin.tracing.compat import FakeTensor, no_function_modes
from tb_shapeplugin.tracing.while_used import WhileUsed, swapped

_hiding = threading.local()


def _hidden() -> bool:
    return getattr(_hiding, "on", False)


def _plain_tolist(own: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Fakes have a tolist that reads item by item, in ops that no plain run has."""
    return lambda tensor: torch.Tensor.tolist(tensor) if _hidden() else own(tensor)


def _plain_conversion(own: Callable[..., Any]) -> Callable[..., Any]:
    """``module.to(…)`` swaps fakes with their conversions, which fails as soon as anything refers to them weakly."""

    @functools.wraps(own)
    def convert(module: nn.Module, function: Callable[[torch.Tensor], torch.Tensor], recurse: bool = True) -> nn.Module:
        tables: tuple[dict[str, Any], ...] = (module._parameters, module._buffers)
        if not _hidden() or not any(isinstance(tensor, FakeTensor) for table in tables for tensor in table.values()):
            converted: nn.Module = own(module, function, recurse)
            return converted
        for child in module.children() if recurse else ():
            child._apply(function)  # type: ignore[no-untyped-call]  # torch has no types there
        for table in tables:
            for name, tensor in table.items():
                if tensor is not None:
                    table[name] = _converted(tensor, function)
        return module

    return convert


def _converted(tensor: torch.Tensor, function: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    with torch.no_grad():
        made = function(tensor)
    if made is tensor or not isinstance(tensor, nn.Parameter):
        return made
    with no_function_modes():  # no op of the model
        return nn.Parameter(made, requires_grad=tensor.requires_grad)


# Silences the log in which every failing shape-level kernel writes a traceback.
quiet_fakes = swapped(logging.getLogger("torch._subclasses.fake_tensor"), "disabled", lambda _: True)
_plain_lists = swapped(FakeTensor, "tolist", _plain_tolist)
_plain_conversions = swapped(nn.Module, "_apply", _plain_conversion)


@functools.cache
def _blind(probes: ModuleType) -> WhileUsed[Any]:
    return swapped(probes, "is_fake_tensor", lambda probe: lambda value: not _hidden() and probe(value))


@contextlib.contextmanager
def hidden_fakes() -> Iterator[None]:
    """Keeps torch and libraries from doing other things because they notice fakes: in this thread they don't notice meanwhile."""
    probes = sys.modules.get("transformers.utils.import_utils")
    blind = _blind(probes)() if probes is not None and hasattr(probes, "is_fake_tensor") else contextlib.nullcontext()
    before = _hidden()
    _hiding.on = True
    try:
        with _plain_lists(), _plain_conversions(), blind:
            yield
    finally:
        _hiding.on = before


_CONVERTING = nn.Module._apply.__code__


def sets_own_data(function: Callable[..., Any], frame: FrameType) -> bool:
    """Is this a module that puts its converted parameter in place? On fakes there is no such call."""
    return getattr(function, "__name__", "") == "__set__" and frame.f_code is _CONVERTING
