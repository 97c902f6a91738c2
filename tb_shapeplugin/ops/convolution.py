"""Rules of convolutions and transposed convolutions."""

from tb_shapeplugin.ops.reading import Unreadable, axes_text, numbers, rank, tensor
from tb_shapeplugin.ops.rule import RULES, Outputs, Rule, one
from tb_shapeplugin.ops.windows import too_small, transposed_size, window_count
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall, Operand


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


def _requires(call: OpCall) -> Clash | None:
    x, weight, n = _map_and_weight(call)
    groups = call.integer(6, "groups", 1)
    if clash := channel_clash(x, n, weight.shape[1] * groups, weight, 1):
        return clash
    if weight.shape[0] % groups:
        words = f"out_channels is {weight.shape[0]}, which is no multiple of groups {groups}"
        return Clash("divisible", {"out_channels": weight.shape[0]}, {"multiple_of": groups}, operand=weight.id, dim=0, words=words)
    dilation = numbers(call.get(5, "dilation", 1), n)
    return too_small(x, x.ndim - n, weight.shape[2:], _padding(call, weight, dilation), dilation)


def _gives(call: OpCall) -> tuple[Outputs, ...]:
    x, weight, n = _map_and_weight(call)
    stride, dilation = numbers(call.get(3, "stride", 1), n), numbers(call.get(5, "dilation", 1), n)
    space = (1,) * (n - x.ndim) + x.shape[-n:]
    batch = () if x.ndim == n + 1 else x.shape[:1] if x.ndim > n else ()
    if call.get(4, "padding", 0) == "same":
        return one((*batch, weight.shape[0], *space))
    each = zip(space, weight.shape[2:], stride, _padding(call, weight, dilation), dilation, strict=True)
    return one((*batch, weight.shape[0], *(max(1, window_count(*sizes)) for sizes in each)))


def _transposed_requires(call: OpCall) -> Clash | None:
    x, weight, n = _map_and_weight(call)
    return channel_clash(x, n, weight.shape[0], weight, 0)


def _transposed_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, weight, n = _map_and_weight(call)
    stride, padding = numbers(call.get(3, "stride", 1), n), numbers(call.get(4, "padding", 0), n)
    extra, dilation = numbers(call.get(5, "output_padding", 0), n), numbers(call.get(7, "dilation", 1), n)
    space = (1,) * (n - x.ndim) + x.shape[-n:]
    batch = x.shape[:1] if x.ndim > n + 1 else ()
    each = zip(space, weight.shape[2:], stride, padding, extra, dilation, strict=True)
    channels = weight.shape[1] * call.integer(6, "groups", 1)
    return one((*batch, channels, *(max(1, transposed_size(*sizes)) for sizes in each)))


RULES.register("conv1d", "conv2d", "conv3d")(Rule(_requires, _gives))
RULES.register("conv_transpose1d", "conv_transpose2d", "conv_transpose3d")(Rule(_transposed_requires, _transposed_gives))
