"""Rules of pools."""

from tb_shapeplugin.ops.reading import Unreadable, axes_text, numbers, rank, tensor
from tb_shapeplugin.ops.rule import RULES, Outputs, Rule, one
from tb_shapeplugin.ops.windows import too_small, window_count
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall, Operand, Shape

_WINDOWS = tuple(f"{kind}_pool{n}d" for kind in ("max", "avg", "lp") for n in (1, 2, 3))
_INDEXED = tuple(f"max_pool{n}d_with_indices" for n in (1, 2, 3))
_ADAPTIVE = tuple(f"adaptive_{kind}_pool{n}d" for kind in ("max", "avg") for n in (1, 2, 3))


def _space(call: OpCall) -> int:
    return int(call.short_name.partition("pool")[2][0])


def _axes(call: OpCall) -> Clash | None:
    x, n = tensor(call, 0, "input"), _space(call)
    if x.ndim in (n + 1, n + 2):
        return None
    words = f"its input {x} has {axes_text(x.ndim)}, it takes {n + 2} (batch, channels, {n} of space) or {n + 1} without a batch"
    return rank(x, n + 2, words)


def _window(call: OpCall) -> tuple[Operand, Shape, Shape, Shape, Shape, bool]:
    """Input, kernel, stride, padding, dilation, and whether a last partial window counts."""
    x, n = tensor(call, 0, "input"), _space(call)
    first = 2 if call.short_name.startswith("lp_") else 1
    kernel = numbers(call.get(first, "kernel_size"), n)
    stride = call.get(first + 1, "stride")
    ceil_at = {"max": 5, "avg": 4, "lp_": 4}[call.short_name[:3]]
    return (
        x,
        kernel,
        kernel if stride is None or stride == () else numbers(stride, n),
        (0,) * n if first == 2 else numbers(call.get(3, "padding", 0), n),
        numbers(call.get(4, "dilation", 1), n) if call.short_name.startswith("max") else (1,) * n,
        call.get(ceil_at, "ceil_mode", False) is True,
    )


def _pool_requires(call: OpCall) -> Clash | None:
    if clash := _axes(call):
        return clash
    x, kernel, _, padding, dilation, ceil = _window(call)
    return None if ceil else too_small(x, x.ndim - len(kernel), kernel, padding, dilation, "window")


def _pool_shape(call: OpCall) -> Shape:
    x, kernel, stride, padding, dilation, ceil = _window(call)
    n = len(kernel)
    if x.ndim < n:
        raise Unreadable(f"{call.name} of {x}")
    each = zip(x.shape[-n:], kernel, stride, padding, dilation, strict=True)
    return x.shape[:-n] + tuple(max(1, window_count(*sizes, ceil)) for sizes in each)


def _pool_gives(call: OpCall) -> tuple[Outputs, ...]:
    return one(_pool_shape(call))


def _indexed_gives(call: OpCall) -> tuple[Outputs, ...]:
    return ((_pool_shape(call),) * 2,)


def _adaptive_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, n = tensor(call, 0, "input"), _space(call)
    if x.ndim < n:
        raise Unreadable(f"{call.name} of {x}")
    given = call.get(1, "output_size")
    sizes = given if isinstance(given, tuple) and len(given) != 1 else (given,) * n
    if len(sizes) != n:
        raise Unreadable(f"{call.name} to {given!r}")
    space = [size if isinstance(size, int) else x.shape[at - n] for at, size in enumerate(sizes)]
    return one(x.shape[:-n] + tuple(space))


RULES.register(*_WINDOWS)(Rule(_pool_requires, _pool_gives))
RULES.register(*_INDEXED)(Rule(_pool_requires, _indexed_gives))
RULES.register(*_ADAPTIVE)(Rule(_axes, _adaptive_gives))
