"""Every private name of torch's symbolic sizes, in one place beside ``compat``. Tried with torch 2.13."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import torch
from torch.utils import _python_dispatch

from tb_shapeplugin.tracing.compat import FakeTensorMode

# Python asks a size for a number: torch.compile keeps it a size, a fake can't. Index is also what range() asks for, which pins.
_CONVERTS, _INDEX, _OF_INDEX = "__int__", "__index__", {"float", "math", "sqrt", "log", "complex"}


@contextlib.contextmanager
def no_modes() -> Iterator[None]:
    """Inside, no mode that is active outside sees anything; new ones may be entered."""
    stack: list[Any] = []
    try:
        while torch._C._len_torch_function_stack():
            stack.append(torch._C._pop_torch_function_stack())
        with _python_dispatch._disable_current_modes():
            yield
    finally:
        for mode in reversed(stack):
            torch._C._push_on_torch_function_stack(mode)


def symbolic(mode: FakeTensorMode, tensor: torch.Tensor, dims: set[int]) -> torch.Tensor:
    """A fake of that mode whose given dims are symbols."""
    from torch.fx.experimental.symbolic_shapes import DimDynamic, StatelessSymbolicContext  # noqa: PLC0415  brings sympy along, and is seldom needed

    sizes = [DimDynamic.DYNAMIC if dim in dims else DimDynamic.STATIC for dim in range(tensor.dim())]
    context: Any = StatelessSymbolicContext(dynamic_sizes=sizes, constraint_sizes=[None] * tensor.dim())
    fresh = tensor.detach().requires_grad_(tensor.requires_grad)  # the mode may know the tensor already, with fixed sizes
    return mode.from_tensor(fresh, symbolic_context=context)


def fixed_size(tensor: torch.Tensor, dim: int) -> int | None:
    """What a dim that began as a symbol has become; None while it may still be any size."""
    size: Any = tensor.shape[dim]  # Any: torch's types know no symbols here
    return size if type(size) is int else size.node.maybe_as_int()


def let_sizes_vary(mode: FakeTensorMode, pinned: Callable[[FrameType], None], lost: Callable[[], None]) -> None:
    """From now on the mode's fakes may have symbols for sizes.

    Args:
        mode: a mode that is asked nothing else.
        pinned: told of the frame in which a symbol becomes a constant.
        lost: told where a symbol becomes one only because Python needs a number.
    """
    from torch.fx.experimental.symbolic_shapes import ShapeEnv  # noqa: PLC0415  as above

    class Watched(ShapeEnv):
        def _set_replacement(self, a: Any, tgt: Any, msg: str) -> None:
            if tgt.is_Integer:
                frame = sys._getframe(1)
                lost() if _converts(frame) else pinned(frame)
            super()._set_replacement(a, tgt, msg)

    mode.shape_env, mode.static_shapes = Watched(), False


def _converts(frame: FrameType | None) -> bool:
    index = False
    while frame is not None and "torch" in frame.f_code.co_filename:
        if frame.f_code.co_name == _CONVERTS:
            return True
        index = index or frame.f_code.co_name == _INDEX
        frame = frame.f_back
    return index and frame is not None and not _OF_INDEX.isdisjoint(frame.f_code.co_names)
