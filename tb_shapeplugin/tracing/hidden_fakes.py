"""Keeps torch and libraries from doing other things because they notice fakes, in the thread of a capture and while it lasts."""

import contextlib
import functools
import logging
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import torch
from torch import nn

from tb_shapeplugin.tracing.compat import FakeTensor, no_function_modes


class _Swap:
    """An attribute that has another value while captures last: the first one swaps it, the last one swaps it back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._before: Any = None

    @contextlib.contextmanager
    def __call__(self, owner: Any, name: str, replacement: Callable[[Any], Any]) -> Iterator[None]:
        with self._lock:
            if self._users == 0:
                self._before = getattr(owner, name)
                setattr(owner, name, replacement(self._before))
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    setattr(owner, name, self._before)


_log_swap, _probe_swap, _list_swap, _conversion_swap = _Swap(), _Swap(), _Swap(), _Swap()
_hiding = threading.local()


def quiet_fakes() -> contextlib.AbstractContextManager[None]:
    """Silences the log in which every failing shape-level kernel writes a traceback."""
    return _log_swap(logging.getLogger("torch._subclasses.fake_tensor"), "disabled", lambda _: True)


def _hidden() -> bool:
    return getattr(_hiding, "on", False)


@contextlib.contextmanager
def hidden_fakes() -> Iterator[None]:
    """Keeps torch and libraries from doing other things because they notice fakes: in this thread they don't notice meanwhile."""
    probes = sys.modules.get("transformers.utils.import_utils")
    before = _hidden()
    _hiding.on = True
    try:
        with _list_swap(FakeTensor, "tolist", _plain_tolist), _conversion_swap(nn.Module, "_apply", _plain_conversion):
            if not hasattr(probes, "is_fake_tensor"):
                yield
                return
            with _probe_swap(probes, "is_fake_tensor", lambda probe: lambda value: not _hidden() and probe(value)):
                yield
    finally:
        _hiding.on = before


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


_CONVERTING = nn.Module._apply.__code__


def sets_own_data(function: Callable[..., Any], frame: FrameType) -> bool:
    """Is this a module that puts its converted parameter in place? On fakes there is no such call."""
    return getattr(function, "__name__", "") == "__set__" and frame.f_code is _CONVERTING
