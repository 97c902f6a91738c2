"""Rules of convolutions and transposed convolutions."""

import itertools
from collections.abc import Callable, Iterator

from tb_shapeplugin.ops.reading import Unreadable, axes_text, distinct, numbers, product, rank, tensor
from tb_shapeplugin.ops.rule import RULES, Outputs, Rule, any_of
from tb_shapeplugin.ops.windows import too_small, transposed_size, window_count
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall, Operand, Shape


def _spatial(call: OpCall) -> int:
    return int(call.short_name[-2])


def _map_and_weight(call: OpCall) -> tuple[Operand, Operand, int]:
    x, weight, n = tensor(call, 0, "input"), tensor(call, 1, "weight"), _spatial(call)
    if weight.ndim != n + 2:
        raise Unreadable(f"{call.name}: the weight has {axes_text(weight.ndim)}")
    return x, weight, n


def _padding(call: OpCall, weight: Operand, dilation: tuple[int, ...]) -> tuple[int, ...]:
    value, n = call.get(4, "padding", 0), _spatial(call)
    if value == "valid":
        return (0,) * n
    if value == "same":  # halves may differ by one: enough is enough here
        return tuple(-(-d * (k - 1) // 2) for k, d in zip(weight.shape[2:], dilation, strict=True))
    return numbers(value, n)


def channel_clash(x: Operand, n: int, want: int, weight: Operand, weight_dim: int) -> Clash | None:
    """The clash of a map whose channel axis isn't what a convolution with n spatial axes takes, or that has other axes."""
    if x.ndim not in (n + 1, n + 2):
        words = f"its input {x} has {axes_text(x.ndim)}, it takes {n + 2} (batch, channels, {n} of space) or {n + 1} without a batch"
        return rank(x, n + 2, words)
    dim = x.ndim - n - 1
    if x.shape[dim] == want:
        return None
    words = f"dim {dim} of its input {x} holds {x.shape[dim]} channels, in_channels is {want}"
    got = {"channels": x.shape[dim]}
    return Clash("conv_channels", got, {"channels": want}, operand=x.id, dim=dim, other=weight.id, other_dim=weight_dim, words=words)


def _weight_rank(call: OpCall) -> Clash | None:
    """The clash of a weight, given by hand, that isn't one of so many spatial axes."""
    weight, n = tensor(call, 1, "weight"), _spatial(call)
    words = f"its weight {weight} has {axes_text(weight.ndim)}, it takes {n + 2} (channels out, channels in, {n} of space)"
    return rank(weight, n + 2, words) if weight.ndim != n + 2 else None


def _requires(call: OpCall) -> Clash | None:
    if clash := _weight_rank(call):
        return clash
    x, weight, n = _map_and_weight(call)
    groups = call.integer(6, "groups", 1)
    if clash := channel_clash(x, n, weight.shape[1] * groups, weight, 1):
        return clash
    if clash := _groups_clash(weight, weight.shape[0], groups, "out_channels") or _bias_clash(call, weight.shape[0]):
        return clash
    dilation = numbers(call.get(5, "dilation", 1), n)
    return too_small(x, x.ndim - n, weight.shape[2:], _padding(call, weight, dilation), dilation)


def _maps(x: Operand, n: int, channels: int) -> Iterator[tuple[Shape, Shape]]:
    """Batch and space of the map, in the readings of an input that doesn't fit: most plausible first.

    The batch may have no channel axis, the channels may stand elsewhere (channels-last), leading axes may be one batch.
    """
    shape = x.shape
    if x.ndim == 2 and n > 1 and (side := _side(shape[1], channels, n)):
        yield shape[:1], (side,) * n
    if x.ndim <= n:
        yield (), (1,) * (n - x.ndim) + shape
        return
    usual = (shape[: x.ndim - n - 1][:1], shape[-n:])
    if shape[-n - 1] == channels:
        yield usual
    elif x.ndim == n + 1 and channels == 1:
        yield shape[:1], shape[1:]
    yield usual
    for dim in reversed(range(x.ndim)):
        rest = shape[:dim] + shape[dim + 1 :]
        if shape[dim] == channels and dim != x.ndim - n - 1 and len(rest) in (n, n + 1):
            yield rest[:-n], rest[-n:]
    if x.ndim > n + 2:
        yield (product(shape[: -n - 1]),), shape[-n:]


def _side(flat: int, channels: int, n: int) -> int:
    """The side of a square map, or a cube, of so many channels that holds so many numbers; 0 where there is none."""
    side = round((flat / channels) ** (1 / n)) if channels else 0
    return side if side**n * channels == flat else 0


def _readings(call: OpCall, channels: int, given: int, spatial: Callable[[Shape], Shape]) -> tuple[Outputs, ...]:
    x, _, n = _map_and_weight(call)
    fits = x.ndim in (n + 1, n + 2) and x.shape[-n - 1] == channels
    maps = itertools.islice(_maps(x, n, channels), 1 if fits else None)
    return any_of(distinct((*batch, given, *spatial(space)) for batch, space in maps))


def _gives(call: OpCall) -> tuple[Outputs, ...]:
    _, weight, n = _map_and_weight(call)
    stride, dilation = numbers(call.get(3, "stride", 1), n), numbers(call.get(5, "dilation", 1), n)

    def spatial(space: Shape) -> Shape:
        if call.get(4, "padding", 0) == "same":
            return space
        each = zip(space, weight.shape[2:], stride, _padding(call, weight, dilation), dilation, strict=True)
        return tuple(max(1, window_count(*sizes)) for sizes in each)

    return _readings(call, weight.shape[1] * call.integer(6, "groups", 1), weight.shape[0], spatial)


def _transposed_requires(call: OpCall) -> Clash | None:
    if clash := _weight_rank(call):
        return clash
    x, weight, n = _map_and_weight(call)
    groups = call.integer(6, "groups", 1)
    clash = channel_clash(x, n, weight.shape[0], weight, 0) or _groups_clash(weight, weight.shape[0], groups, "in_channels")
    clash = clash or _bias_clash(call, weight.shape[1] * groups)
    if clash:
        return clash
    stride, padding, extra, dilation = _transposed_geometry(call, n)
    for at, (more, step, spread) in enumerate(zip(extra, stride, dilation, strict=True)):
        if more >= max(step, spread):
            words = f"output_padding is {more} at spatial axis {at}, it has to be less than {max(step, spread)}, its stride or dilation"
            return Clash("pad_size", {"pad": more}, {"below": max(step, spread)}, operand=x.id, dim=x.ndim - n + at, words=words)
    for at, sizes in enumerate(zip(x.shape[-n:], weight.shape[2:], stride, padding, extra, dilation, strict=True)):
        if transposed_size(*sizes) < 0:
            dim = x.ndim - n + at
            return _nothing_left(x, dim, transposed_size(*sizes), 2 * padding[at])
    return None


def _nothing_left(x: Operand, dim: int, size: int, cut: int) -> Clash:
    """The clash of a transposed convolution whose padding cuts away all that it gives."""
    words = f"dim {dim} of its input is {x.shape[dim]}, which gives {size + cut}, and its padding cuts {cut} away"
    return Clash("conv_kernel", {"size": size + cut}, {"min_size": cut}, operand=x.id, dim=dim, words=words)


def _transposed_geometry(call: OpCall, n: int) -> tuple[Shape, Shape, Shape, Shape]:
    """Stride, padding, output padding and dilation of each spatial axis."""
    stride, padding = numbers(call.get(3, "stride", 1), n), numbers(call.get(4, "padding", 0), n)
    return stride, padding, numbers(call.get(5, "output_padding", 0), n), numbers(call.get(7, "dilation", 1), n)


def _groups_clash(weight: Operand, channels: int, groups: int, word: str) -> Clash | None:
    if groups < 1 or channels % groups == 0:
        return None
    words = f"{word} is {channels}, which is no multiple of groups {groups}"
    return Clash("divisible", {word: channels}, {"multiple_of": groups}, operand=weight.id, dim=0, words=words)


def _bias_clash(call: OpCall, channels: int) -> Clash | None:
    bias = call.operand(2, "bias")
    if bias is None or bias.shape == (channels,):
        return None
    if bias.ndim != 1:
        return rank(bias, 1, f"its bias {bias} has {axes_text(bias.ndim)}, it takes 1 (out_channels)")
    words = f"its bias holds {bias.shape[0]} numbers, out_channels is {channels}"
    return Clash("conv_channels", {"channels": bias.shape[0]}, {"channels": channels}, operand=bias.id, dim=0, words=words)


def _transposed_gives(call: OpCall) -> tuple[Outputs, ...]:
    _, weight, n = _map_and_weight(call)
    stride, padding, extra, dilation = _transposed_geometry(call, n)

    def spatial(space: Shape) -> Shape:
        each = zip(space, weight.shape[2:], stride, padding, extra, dilation, strict=True)
        return tuple(max(1, transposed_size(*sizes)) for sizes in each)

    return _readings(call, weight.shape[0], weight.shape[1] * call.integer(6, "groups", 1), spatial)


RULES.register("conv1d", "conv2d", "conv3d")(Rule(_requires, _gives))
RULES.register("conv_transpose1d", "conv_transpose2d", "conv_transpose3d")(Rule(_transposed_requires, _transposed_gives))
