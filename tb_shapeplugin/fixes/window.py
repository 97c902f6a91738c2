"""Maps of a wrong side: paddings, strides and kernels of the convolutions and pools before."""

from collections.abc import Iterator, Mapping
from typing import Any

from tb_shapeplugin.fixes.layer_text import layer_fix
from tb_shapeplugin.fixes.situation import Candidate, Situation, is_layer
from tb_shapeplugin.ops.reading import product
from tb_shapeplugin.record.trace import ModuleFact, OpFact
from tb_shapeplugin.record.values import Shape


def window(situation: Situation) -> Iterator[Candidate]:
    """Changes of sides, by what failed."""
    if situation.kind == "conv_kernel":
        yield from _too_small(situation)
    elif situation.kind in ("cat", "broadcast"):
        yield from _levelled(situation)
    elif situation.kind in ("linear_in_features", "view_numel", "loss_target_shape"):
        yield from _counted(situation)


def _sides(module: ModuleFact, name: str, count: int, default: int | None = None) -> tuple[int, ...] | None:
    value = module.attributes.get(name, default)
    if isinstance(value, int) and not isinstance(value, bool):
        return (value,) * count
    return value if isinstance(value, tuple) and len(value) == count else None


def _axes_of(module: ModuleFact) -> int:
    return int(module.type[-2]) if module.type[-1:] == "d" and module.type[-2:-1].isdigit() else 0


def _arguments(module: ModuleFact) -> Mapping[str, tuple[int, ...]] | None:
    """Kernel, stride, padding and dilation of a convolution or pool, one number an axis; None for any other layer."""
    count = _axes_of(module)
    kernel = _sides(module, "kernel_size", count) if count else None
    if kernel is None:
        return None
    stride = _sides(module, "stride", count) or kernel
    padding, dilation = _sides(module, "padding", count, 0), _sides(module, "dilation", count, 1)
    return None if padding is None or dilation is None else {"kernel": kernel, "stride": stride, "padding": padding, "dilation": dilation}


def _too_small(situation: Situation) -> Iterator[Candidate]:
    layer = situation.layer
    x = situation.call.operand(0, "input")
    given = _arguments(layer) if layer else None
    if layer is None or x is None or given is None:
        return
    count = len(given["kernel"])
    sides = x.shape[-count:]
    padding = tuple(max(pad, (ext - side + 1) // 2) for pad, ext, side in zip(given["padding"], _extents(given), sides, strict=True))
    if all(2 * pad <= kernel for pad, kernel in zip(padding, given["kernel"], strict=True)) or "Pool" not in layer.type:
        yield Candidate(layer_fix(layer, "padding", _plain(padding), own=True), 1.0, reshapes=True)
    fitting = tuple(min(k, side + 2 * p) for k, side, p in zip(given["kernel"], sides, given["padding"], strict=True))
    if min(fitting) > 0:
        yield Candidate(layer_fix(layer, "kernel_size", _plain(fitting), own=True), 1.1, reshapes=True)


def _extents(given: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(d * (k - 1) + 1 for d, k in zip(given["dilation"], given["kernel"], strict=True))


def _plain(sizes: tuple[int, ...]) -> Any:
    return sizes[0] if len(set(sizes)) == 1 else sizes


def _levelled(situation: Situation) -> Iterator[Candidate]:
    """The layers before either side of a skip, set so that both sides are equally long."""
    clash = situation.clash
    if clash is None or clash.dim < 2 or clash.other < 0 or clash.other_dim < 0:
        return
    one, other = situation.operand(clash.operand), situation.operand(clash.other)
    if one is None or other is None or one.ndim != other.ndim:
        return
    for x, like in ((one, other), (other, one)):
        spatial = like.shape[2:]
        for op in list(situation.makers(x.id))[:8]:
            module = situation.module_of(op)
            if module is None or not op.inputs or not is_layer(module) or _spatial(situation, op) != x.shape[2:]:
                continue
            given = _arguments(module)
            if given is not None and _axes_of(module) == len(spatial):
                yield from _set_to(situation, op, module, given, spatial)
                break


def _spatial(situation: Situation, op: OpFact) -> Shape:
    return situation.trace.tensors[op.outputs[0]].shape[2:] if op.outputs else ()


def _set_to(
    situation: Situation, op: OpFact, module: ModuleFact, given: Mapping[str, tuple[int, ...]], wanted: Shape
) -> Iterator[Candidate]:
    """The layer with the one argument changed after which its output has these sides."""
    now, before = situation.trace.tensors[op.outputs[0]].shape[2:], situation.trace.tensors[op.inputs[0]].shape[2:]
    if "Transpose" in module.type:
        had = _sides(module, "output_padding", len(now), 0) or (0,) * len(now)
        extra = tuple(pad + want - size for pad, want, size in zip(had, wanted, now, strict=True))
        if all(0 <= pad < max(s, d) for pad, s, d in zip(extra, given["stride"], given["dilation"], strict=True)):
            yield Candidate(layer_fix(module, "output_padding", _plain(extra), own=False, cost="fits inputs of this size alone"), 0.7, True)
        return
    total = [(want - 1) * s + e - size for want, s, e, size in zip(wanted, given["stride"], _extents(given), before, strict=True)]
    padding = tuple((pad + 1) // 2 for pad in total)
    reached = _reached(before, padding, given["stride"], _extents(given))
    if min(padding) >= 0 and reached == wanted and all(2 * p <= k for p, k in zip(padding, given["kernel"], strict=True)):
        yield Candidate(layer_fix(module, "padding", _plain(padding), own=False), 1.0, reshapes=True)
    for stride in range(1, 9):
        strides = (stride,) * len(now)
        if strides != given["stride"] and _reached(before, given["padding"], strides, _extents(given)) == wanted:
            yield Candidate(layer_fix(module, "stride", stride, own=False), 1.1, reshapes=True)


def _reached(before: Shape, padding: Shape, stride: Shape, extent: Shape) -> Shape:
    return tuple((size + 2 * p - e) // s + 1 for size, p, s, e in zip(before, padding, stride, extent, strict=True))


def _counted(situation: Situation) -> Iterator[Candidate]:
    """A last convolution whose kernel covers the map, or a pool to the side that the reader's count is made of."""
    for operand in situation.call.operands()[:2]:
        for op in list(situation.makers(operand.id))[:8]:
            module = situation.module_of(op)
            if module is None or not op.outputs or not op.inputs or not is_layer(module):
                continue
            made, before = situation.trace.tensors[op.outputs[0]].shape, situation.trace.tensors[op.inputs[0]].shape
            if "output_size" in module.attributes:
                yield from _pooled(situation, module, made)
                return
            given = _arguments(module)
            if given is None or situation.kind != "loss_target_shape" or "Transpose" in module.type or len(made) != _axes_of(module) + 2:
                continue
            kernel = tuple(size + 2 * pad for size, pad in zip(before[2:], given["padding"], strict=True))
            if product(made[2:]) > 1:
                yield Candidate(layer_fix(module, "kernel_size", _plain(kernel), own=False), 1.0, reshapes=True)
            return


def _pooled(situation: Situation, module: ModuleFact, made: Shape) -> Iterator[Candidate]:
    _, want = situation.numbers()
    count = _axes_of(module)
    channels = made[-count - 1] if len(made) > count else 0
    side = round((want / channels) ** (1 / count)) if want and channels else 0
    if side and channels * side**count == want:
        yield Candidate(layer_fix(module, "output_size", side, own=False), 0.95, reshapes=True)
