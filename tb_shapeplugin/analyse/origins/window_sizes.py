"""The arithmetic of sliding windows in words: how a convolution, a transposed one or a pool computes a size."""

import re

from tb_shapeplugin.ops.reading import Unreadable, numbers
from tb_shapeplugin.record.values import OpCall, Shape

_WINDOWS = re.compile(r"(?:conv|conv_transpose|(?:max|avg|lp)_pool)(\d)d")


def window_arithmetic(call: OpCall, shape: Shape, dim: int) -> tuple[str, bool] | None:
    """How that call computes a size from a dim of its input, and whether nothing was left over; None where it is no window of that dim."""
    short = call.short_name
    found = _WINDOWS.match(short)
    if found is None:
        return None
    n = int(found[1])
    at = dim - (len(shape) - n)
    if at < 0:
        return None
    try:
        return _convolved(call, n, at, shape[dim]) if short.startswith("conv") else _pooled(call, n, at, shape[dim])
    except (Unreadable, IndexError):
        return None


def _convolved(call: OpCall, n: int, at: int, size: int) -> tuple[str, bool] | None:
    weight = call.operand(1, "weight")
    if weight is None:
        return None
    kernel = weight.shape[2:][at]
    stride = numbers(call.get(3, "stride", 1), n)[at]
    if call.short_name.startswith("conv_transpose"):
        extent = numbers(call.get(7, "dilation", 1), n)[at] * (kernel - 1) + 1
        padding, extra = numbers(call.get(4, "padding", 0), n)[at], numbers(call.get(5, "output_padding", 0), n)[at]
        return transposed_text(size, extent, stride, padding, extra), True
    extent = numbers(call.get(5, "dilation", 1), n)[at] * (kernel - 1) + 1
    return window_text(size, extent, stride, numbers(call.get(4, "padding", 0), n)[at])


def _pooled(call: OpCall, n: int, at: int, size: int) -> tuple[str, bool] | None:
    first = 2 if call.short_name.startswith("lp_") else 1
    kernel = numbers(call.get(first, "kernel_size"), n)[at]
    given = call.get(first + 1, "stride")
    stride = kernel if given is None or given == () else numbers(given, n)[at]
    padding = 0 if first == 2 else numbers(call.get(3, "padding", 0), n)[at]
    if call.get({"max": 5, "avg": 4, "lp_": 4}[call.short_name[:3]], "ceil_mode", False) is True:
        plain = kernel == stride and not padding and size % stride
        return (f"⌈{size}/{stride}⌉", False) if plain else None
    dilation = numbers(call.get(4, "dilation", 1), n)[at] if call.short_name.startswith("max") else 1
    return window_text(size, dilation * (kernel - 1) + 1, stride, padding)


def transposed_text(size: int, extent: int, stride: int, padding: int, extra: int) -> str:
    """How a transposed convolution computes a size.

    Example:
        >>> transposed_text(5, 2, 2, 0, 0), transposed_text(18, 4, 2, 1, 0)
        ('2·5', '2·18')
    """
    rest = extent - stride - 2 * padding + extra
    if rest == 0:
        return f"{stride}·{size}"
    pads = f" − 2·{padding}" if padding else ""
    return f"({size} − 1)·{stride}{pads} + {extent}" + (f" + {extra}" if extra else "")


def window_text(size: int, extent: int, stride: int, padding: int) -> tuple[str, bool]:
    """How a sliding window computes a size, and whether nothing was left over; paddings that only make up for the window aren't told.

    Example:
        >>> window_text(11, 2, 2, 0), window_text(28, 5, 1, 0), window_text(15, 3, 2, 1)
        (('⌊11/2⌋', False), ('28 − 5 + 1', True), ('⌈15/2⌉', False))
    """
    if stride == 1:
        return f"{_padded(size, padding)} − {extent} + 1", True
    whole = size % stride == 0
    if extent - stride == 2 * padding:
        return (f"{size}/{stride}" if whole else f"⌊{size}/{stride}⌋"), whole
    if extent - 1 == 2 * padding:
        return (f"{size}/{stride}" if whole else f"⌈{size}/{stride}⌉"), whole
    exact = (size + 2 * padding - extent) % stride == 0
    inner = f"({_padded(size, padding)} − {extent})/{stride}"
    return (f"{inner} + 1" if exact else f"⌊{inner}⌋ + 1"), exact


def _padded(size: int, padding: int) -> str:
    return f"{size} + 2·{padding}" if padding else str(size)
