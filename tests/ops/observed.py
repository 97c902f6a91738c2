"""A torch call as the rules see it, beside what torch itself makes of it at the shape level."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from tb_shapeplugin.record.values import OpCall
from tb_shapeplugin.tracing.arguments import op_call, tensors_in
from tb_shapeplugin.tracing.compat import op_name
from tb_shapeplugin.tracing.tensors import TensorBook, shape_of


@dataclass
class Observed:
    """One call: how it was called, the shapes that it gave, or what it raised."""

    call: OpCall
    shapes: tuple[tuple[int, ...], ...] | None
    error: Exception | None


class _Last(TorchFunctionMode):
    def __init__(self) -> None:
        super().__init__()
        self.seen: Observed | None = None

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        book, kwargs = TensorBook(), kwargs or {}
        call = op_call(op_name(func), args, kwargs, book)
        try:
            result = func(*args, **kwargs)
        except Exception as error:
            self.seen = Observed(call, None, error)
            raise
        written = [args[0]] if func is torch.Tensor.__setitem__ else tensors_in(result)
        self.seen = Observed(call, tuple(map(shape_of, written)), None)
        return result


def observe(run: Callable[..., Any], device: str = "meta") -> Observed:
    """The last torch function that ``run()`` called, its tensors being on that device."""
    mode = _Last()
    try:
        with torch.device(device), mode:
            run()
    except Exception:
        if mode.seen is None or mode.seen.error is None:
            raise
    assert mode.seen is not None, "no torch function was called"
    return mode.seen


def blank(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Zeros on the default device: the meta device where only shapes matter, the CPU where torch's checks do."""
    return torch.zeros(shape, dtype=dtype)


def ids(*shape: int) -> torch.Tensor:
    """Indices."""
    return blank(*shape, dtype=torch.long)


def mask(*shape: int) -> torch.Tensor:
    """Flags."""
    return blank(*shape, dtype=torch.bool)
