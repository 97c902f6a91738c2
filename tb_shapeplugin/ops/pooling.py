"""Rules of pools."""

from tb_shapeplugin.ops.reading import Unreadable, axes_text, distinct, numbers, product, rank, tensor
from tb_shapeplugin.ops.rule import RULES, Outputs, Rule, any_of, one
from tb_shapeplugin.ops.windows import too_small, transposed_size, window_count
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall, Operand, Shape

_WINDOWS = tuple(f"{kind}_pool{n}d" for kind in ("max", "avg", "lp") for n in (1, 2, 3))
_INDEXED = tuple(f"max_pool{n}d_with_indices" for n in (1, 2, 3))
_ADAPTIVE = tuple(f"adaptive_{kind}_pool{n}d" for kind in ("max", "avg") for n in (1, 2, 3))
_ADAPTIVE_INDEXED = tuple(f"adaptive_max_pool{n}d_with_indices" for n in (1, 2, 3))
_FRACTIONAL = tuple(f"fractional_max_pool{n}d" for n in (2, 3))
_UNPOOLING = tuple(f"max_unpool{n}d" for n in (1, 2, 3))


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
    x, kernel, stride, padding, dilation, ceil = _window(call)
    first = x.ndim - len(kernel)
    for at, (size, pad) in enumerate(zip(kernel, padding, strict=True)):
        if pad > (most := (dilation[at] * (size - 1) + 1) // 2):
            words = f"padding is {pad}, it has to be less than {most + 1}: at most half of the window {size}"
            return Clash("pad_size", {"pad": pad}, {"below": most + 1}, operand=x.id, dim=first + at, words=words)
    if call.short_name == "avg_pool3d" and (clash := too_small(x, first, kernel, (0,) * len(kernel), dilation, "window")):
        return clash
    slack = stride if ceil else (1,) * len(stride)  # a last window may stand out by as much
    return too_small(x, first, kernel, padding, dilation, "window", slack)


def _pool_shape(call: OpCall) -> Shape:
    x, kernel, stride, padding, dilation, ceil = _window(call)
    n = len(kernel)
    if x.ndim < n:
        raise Unreadable(f"{call.name} of {x}")
    each = zip(x.shape[-n:], kernel, stride, padding, dilation, strict=True)
    return x.shape[:-n] + tuple(max(1, window_count(*sizes, ceil)) for sizes in each)


def _batches(shape: Shape, n: int) -> tuple[Shape, ...]:
    """The shape as it is; of one with too many axes before the n of space, the first or all of them are the batch."""
    if len(shape) <= n + 2:
        return (shape,)
    lead, rest = shape[: -n - 1], shape[-n - 1 :]
    return distinct(((lead[0], *rest), (product(lead), *rest)))


def _pool_gives(call: OpCall) -> tuple[Outputs, ...]:
    return any_of(_batches(_pool_shape(call), _space(call)))


def _indexed_gives(call: OpCall) -> tuple[Outputs, ...]:
    return tuple((shape, shape) for shape in _batches(_pool_shape(call), _space(call)))


def _adaptive_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, n = tensor(call, 0, "input"), _space(call)
    if x.ndim < n:
        raise Unreadable(f"{call.name} of {x}")
    given = call.get(1, "output_size")
    sizes = given if isinstance(given, tuple) and len(given) != 1 else (given[0] if isinstance(given, tuple) else given,) * n
    if len(sizes) != n:
        raise Unreadable(f"{call.name} to {given!r}")
    space = [size if isinstance(size, int) else x.shape[at - n] for at, size in enumerate(sizes)]
    return any_of(_batches(x.shape[:-n] + tuple(space), n))


def _adaptive_indexed_gives(call: OpCall) -> tuple[Outputs, ...]:
    return tuple((shape, shape) for (shape,) in _adaptive_gives(call))


def _fractional(call: OpCall) -> tuple[Operand, Shape, Shape]:
    """Input, window, and the size that comes out."""
    x, n = tensor(call, 0, "input"), _space(call)
    kernel, size, ratio = numbers(call.get(1, "kernel_size"), n), call.get(2, "output_size"), call.get(3, "output_ratio")
    if size is not None:
        return x, kernel, numbers(size, n)
    ratios = ratio if isinstance(ratio, tuple) else (ratio,) * n
    shares = [share for share in ratios if isinstance(share, (int, float))]
    if len(shares) != n or x.ndim < n:
        raise Unreadable(f"{call.name} to {ratio!r} of {x}")
    return x, kernel, tuple(int(space * share) for space, share in zip(x.shape[-n:], shares, strict=True))


def _fractional_requires(call: OpCall) -> Clash | None:
    if clash := _axes(call):
        return clash
    x, kernel, size = _fractional(call)
    for at, (window, out) in enumerate(zip(kernel, size, strict=True)):
        dim = x.ndim - len(kernel) + at
        if x.shape[dim] < out + window - 1:
            words = f"dim {dim} of its input is {x.shape[dim]}, {out} windows of {window} need {out + window - 1}"
            return Clash("conv_kernel", {"size": x.shape[dim]}, {"min_size": out + window - 1}, operand=x.id, dim=dim, words=words)
    return None


def _fractional_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, kernel, size = _fractional(call)
    return one(x.shape[: -len(kernel)] + size)


def _fractional_indexed_gives(call: OpCall) -> tuple[Outputs, ...]:
    ((shape,),) = _fractional_gives(call)
    return ((shape, shape),)


def _unpool_requires(call: OpCall) -> Clash | None:
    if clash := _unpool_axes(call):
        return clash
    x, indices = tensor(call, 0, "input"), tensor(call, 1, "indices")
    if indices.ndim != x.ndim:
        words = f"the indices {indices} have {axes_text(indices.ndim)}, the input {x} has {x.ndim}"
        return Clash("index_shape", {"ndim": indices.ndim}, {"ndim": x.ndim}, operand=indices.id, other=x.id, words=words)
    for dim, (got, want) in enumerate(zip(indices.shape, x.shape, strict=True)):
        if got != want:
            words = f"dim {dim} of the indices {indices} is {got}, of the input {x} it is {want}"
            return Clash("index_shape", {"size": got}, {"size": want}, indices.id, dim, x.id, dim, words)
    return None


def _unpool_axes(call: OpCall) -> Clash | None:
    x, n = tensor(call, 0, "input"), int(call.short_name[-2])
    if x.ndim in (n + 1, n + 2):
        return None
    words = f"its input {x} has {axes_text(x.ndim)}, it takes {n + 2} (batch, channels, {n} of space) or {n + 1} without a batch"
    return rank(x, n + 2, words)


def _unpool_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, n, wanted = tensor(call, 0, "input"), int(call.short_name[-2]), call.get(5, "output_size")
    if x.ndim < n:
        raise Unreadable(f"{call.name} of {x}")
    if wanted is not None:
        return one(x.shape[:-n] + numbers(wanted)[-n:])
    kernel, stride = numbers(call.get(2, "kernel_size"), n), call.get(3, "stride")
    steps = kernel if stride is None or stride == () else numbers(stride, n)
    each = zip(x.shape[-n:], kernel, steps, numbers(call.get(4, "padding", 0), n), strict=True)
    return one(x.shape[:-n] + tuple(transposed_size(*sizes) for sizes in each))


RULES.register(*_WINDOWS)(Rule(_pool_requires, _pool_gives))
RULES.register(*_INDEXED)(Rule(_pool_requires, _indexed_gives))
RULES.register(*_ADAPTIVE)(Rule(_axes, _adaptive_gives))
RULES.register(*_ADAPTIVE_INDEXED)(Rule(_axes, _adaptive_indexed_gives))
RULES.register(*_FRACTIONAL)(Rule(_fractional_requires, _fractional_gives))
RULES.register(*(f"{name}_with_indices" for name in _FRACTIONAL))(Rule(_fractional_requires, _fractional_indexed_gives))
RULES.register(*_UNPOOLING)(Rule(_unpool_requires, _unpool_gives))
