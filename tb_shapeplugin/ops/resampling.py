"""Rules of ops that change the sides of a map: interpolate, pad, pixel_shuffle and its kin."""

from tb_shapeplugin.ops.reading import Unreadable, axes_text, numbers, rank, tensor
from tb_shapeplugin.ops.rule import RULES, Outputs, Rule, one
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall, Operand, Value

_SPATIAL = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3}  # modes that fix the number of spatial axes


def _factors(value: Value, length: int) -> tuple[float, ...]:
    if isinstance(value, (int, float)):
        return (float(value),) * length
    if isinstance(value, tuple) and all(isinstance(item, (int, float)) for item in value):
        return tuple(float(item) for item in value if isinstance(item, (int, float)))
    raise Unreadable(f"{value!r} is no scale")


def _interpolate_requires(call: OpCall) -> Clash | None:
    x, size, scale = tensor(call, 0, "input"), call.get(1, "size"), call.get(2, "scale_factor")
    mode = call.get(3, "mode", "nearest")
    given = size if isinstance(size, tuple) else scale if isinstance(scale, tuple) else None
    spatial = len(given) if given is not None else _SPATIAL.get(mode) if isinstance(mode, str) else None
    if spatial is not None and x.ndim != spatial + 2:
        told = f"size {size}" if isinstance(size, tuple) else f"mode {mode!r}"
        words = f"its input {x} has {axes_text(x.ndim)}, {told} takes {spatial + 2} (batch, channels, {spatial} of space)"
        return rank(x, spatial + 2, words)
    if x.ndim not in (3, 4, 5):
        return rank(x, 4, f"its input {x} has {axes_text(x.ndim)}, it takes 3, 4 or 5 (batch, channels, 1 to 3 of space)")
    return None


def _interpolate_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, size = tensor(call, 0, "input"), call.get(1, "size")
    if isinstance(size, tuple):
        kept = x.shape[: max(0, x.ndim - len(size))] if x.ndim == len(size) + 2 else (1,) * max(0, len(size) + 2 - x.ndim) + x.shape
        return one(kept[:2] + numbers(size))
    n = max(0, x.ndim - 2)
    if size is not None:
        return one(x.shape[:2] + numbers(size, n))
    factors = _factors(call.get(2, "scale_factor"), n)
    return one(x.shape[:2] + tuple(int(size * factor) for size, factor in zip(x.shape[2:], factors, strict=False)))


def _pad(call: OpCall) -> tuple[Operand, tuple[int, ...], str]:
    x, pad, mode = tensor(call, 0, "input"), numbers(call.get(1, "pad")), call.get(2, "mode", "constant")
    return x, pad, mode if isinstance(mode, str) else "constant"


def _pad_requires(call: OpCall) -> Clash | None:
    x, pad, mode = _pad(call)
    if len(pad) // 2 > x.ndim:
        return rank(x, len(pad) // 2, f"its input {x} has {axes_text(x.ndim)}, the {len(pad)} paddings are for {len(pad) // 2}")
    if mode != "constant" and x.ndim not in (fitting := (len(pad) // 2 + 1, len(pad) // 2 + 2)):
        words = (
            f"its input {x} has {axes_text(x.ndim)}, {mode} padding of {len(pad)} sides takes {fitting[1]}, or {fitting[0]} without a batch"
        )
        return rank(x, fitting[1], words)
    for at in range(len(pad) // 2):
        dim, longest = x.ndim - 1 - at, max(pad[2 * at : 2 * at + 2])
        size = x.shape[dim]
        limit = size - 1 if mode == "reflect" else size if mode == "circular" else longest
        if longest > limit:
            bound = f"less than {size}" if mode == "reflect" else f"at most {size}"
            words = f"dim {dim} of its input {x} is {size}, {mode} padding has to be {bound}, it is {longest}"
            return Clash("pad_size", {"pad": longest}, {"below": size}, operand=x.id, dim=dim, words=words)
        if size + (cut := pad[2 * at] + pad[2 * at + 1]) < 0:
            words = f"dim {dim} of its input {x} is {size}, its padding cuts {-cut} away"
            return Clash("pad_size", {"size": size}, {"min_size": -cut}, operand=x.id, dim=dim, words=words)
    return None


def _pad_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, pad, _ = _pad(call)
    shape = list(x.shape)
    for at in range(min(len(pad) // 2, x.ndim)):
        shape[-1 - at] = max(0, shape[-1 - at] + pad[2 * at] + pad[2 * at + 1])
    return one(tuple(shape))


def _shuffle(call: OpCall) -> tuple[Operand, int]:
    return tensor(call, 0, "input"), max(1, call.integer(1, "upscale_factor", call.integer(1, "downscale_factor", 1)))


def _shuffle_requires(call: OpCall) -> Clash | None:
    x, factor = _shuffle(call)
    if x.ndim < 3:
        return rank(x, 3, f"its input {x} has {axes_text(x.ndim)}, it takes at least 3 (channels, height, width)")
    if x.shape[-3] % factor**2 == 0:
        return None
    words = f"dim {x.ndim - 3} of its input {x} holds {x.shape[-3]} channels, no multiple of {factor**2} = {factor}·{factor}"
    return Clash("divisible", {"channels": x.shape[-3]}, {"multiple_of": factor**2}, operand=x.id, dim=x.ndim - 3, words=words)


def _shuffle_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, factor = _shuffle(call)
    if x.ndim < 3:
        raise Unreadable(f"{call.name} of {x}")
    channels = max(min(1, x.shape[-3]), x.shape[-3] // factor**2)
    return one((*x.shape[:-3], channels, x.shape[-2] * factor, x.shape[-1] * factor))


def _unshuffle_requires(call: OpCall) -> Clash | None:
    x, factor = _shuffle(call)
    if x.ndim < 3:
        return rank(x, 3, f"its input {x} has {axes_text(x.ndim)}, it takes at least 3 (channels, height, width)")
    for dim in (x.ndim - 2, x.ndim - 1):
        if x.shape[dim] % factor:
            words = f"dim {dim} of its input {x} is {x.shape[dim]}, no multiple of {factor}"
            return Clash("divisible", {"size": x.shape[dim]}, {"multiple_of": factor}, operand=x.id, dim=dim, words=words)
    return None


def _unshuffle_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, factor = _shuffle(call)
    if x.ndim < 3:
        raise Unreadable(f"{call.name} of {x}")
    return one((*x.shape[:-3], x.shape[-3] * factor**2, x.shape[-2] // factor, x.shape[-1] // factor))


def _channel_shuffle_requires(call: OpCall) -> Clash | None:
    x, groups = tensor(call, 0, "input"), call.integer(1, "groups", 1)
    if x.ndim < 3:
        return rank(x, 3)
    if x.shape[1] % max(1, groups) == 0:
        return None
    words = f"dim 1 of its input {x} holds {x.shape[1]} channels, no multiple of groups {groups}"
    return Clash("divisible", {"channels": x.shape[1]}, {"multiple_of": groups}, operand=x.id, dim=1, words=words)


def _channel_shuffle_gives(call: OpCall) -> tuple[Outputs, ...]:
    return one(tensor(call, 0, "input").shape)


RULES.register("interpolate", "upsample", "upsample_nearest", "upsample_bilinear")(Rule(_interpolate_requires, _interpolate_gives))
RULES.register("pad")(Rule(_pad_requires, _pad_gives))
RULES.register("pixel_shuffle")(Rule(_shuffle_requires, _shuffle_gives))
RULES.register("pixel_unshuffle")(Rule(_unshuffle_requires, _unshuffle_gives))
RULES.register("channel_shuffle", "native_channel_shuffle")(Rule(_channel_shuffle_requires, _channel_shuffle_gives))
