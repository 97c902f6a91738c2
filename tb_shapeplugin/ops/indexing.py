"""Rules of indexing: brackets, gather and scatter, index_select, masks."""

import contextlib
import itertools
import re
from collections.abc import Iterator
from dataclasses import replace

from tb_shapeplugin.ops.broadcasting import broadcast_clash, combined, expand_clash
from tb_shapeplugin.ops.reading import Unreadable, axes_text, axis_missing, rank, replaced, tensor, wrapped
from tb_shapeplugin.ops.rule import RULES, Outputs, Rule, any_of, one
from tb_shapeplugin.ops.splitting import index_outside
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import Opaque, OpCall, Operand, Shape, Value

_MASKS = ("bool", "uint8")
_SLICE = re.compile(r"(-?\d*):(-?\d*)(?::(-?\d*))?")


def _entries(call: OpCall) -> tuple[Operand, list[Value]]:
    x, index = tensor(call, 0, "input"), call.get(1, "index")
    return x, list(index) if isinstance(index, tuple) else [index]


def _is_ellipsis(entry: Value) -> bool:
    return isinstance(entry, Opaque) and entry.text == "..."


def _consumes(entry: Value) -> int:
    """How many axes of the indexed tensor an entry takes up."""
    if entry is None or isinstance(entry, bool) or _is_ellipsis(entry):
        return 0
    return entry.ndim if isinstance(entry, Operand) and entry.dtype in _MASKS else 1


def _placed(x: Operand, entries: list[Value]) -> Iterator[tuple[int, Value]]:
    """Each entry with the axis that it starts at; an ellipsis stands for the axes left over."""
    used = sum(map(_consumes, entries))
    axis = 0
    for entry in entries:
        yield axis, entry
        axis += x.ndim - used if _is_ellipsis(entry) else _consumes(entry)


def placed_entries(call: OpCall) -> Iterator[tuple[Operand, int, Value]]:
    """Of a call of brackets the indexed tensor, with each entry and the axis that it starts at; nothing of what can't be read.

    Example:
        >>> x, rows = Operand(0, (5, 2), "float32"), Operand(1, (3,), "int64")
        >>> [axis for _, axis, _ in placed_entries(OpCall("torch.Tensor.__getitem__", (x, (Opaque("slice", ":"), rows))))]
        [0, 1]
    """
    with contextlib.suppress(Unreadable):
        x, entries = _entries(call)
        yield from ((x, axis, entry) for axis, entry in _placed(x, entries))


def masked_by_values(call: OpCall) -> Operand | None:
    """The boolean mask whose number of entries says how many values a call of brackets takes; None of one that writes a single value."""
    if call.short_name not in ("__setitem__", "index_put", "index_put_"):
        return None
    value = call.operand(2, "value")
    if value is None or not value.ndim:
        return None
    return next((e for _, _, e in placed_entries(call) if isinstance(e, Operand) and e.dtype in _MASKS), None)


def _index_clash(call: OpCall) -> Clash | None:
    x, entries = _entries(call)
    used = sum(map(_consumes, entries))
    if used > x.ndim:
        masks = [entry for entry in entries if isinstance(entry, Operand) and entry.dtype in _MASKS]
        if masks:
            words = f"the mask {masks[0]} has {axes_text(masks[0].ndim)}, {x} that it indexes has {x.ndim}"
            return Clash("mask_shape", {"ndim": masks[0].ndim}, {"ndim": x.ndim}, operand=masks[0].id, other=x.id, words=words)
        return rank(x, used, f"{x} has {axes_text(x.ndim)}, it is indexed with {used}")
    advanced = []
    for axis, entry in _placed(x, entries):
        if isinstance(entry, Operand) and entry.dtype in _MASKS:
            if clash := _mask_clash(x, axis, entry):
                return clash
        elif isinstance(entry, Operand):
            advanced.append(entry)
        elif isinstance(entry, int) and not isinstance(entry, bool) and (clash := index_outside(x, axis, entry)):
            return clash
    for first, second in itertools.combinations(advanced, 2):
        if clash := broadcast_clash(second, first, kind="index_shape"):
            return clash
    return None


def _mask_clash(x: Operand, axis: int, mask: Operand) -> Clash | None:
    for dim, (got, want) in enumerate(zip(mask.shape, x.shape[axis:], strict=False)):
        if got != want:
            words = f"dim {dim} of the mask {mask} is {got}, dim {axis + dim} of {x} that it indexes is {want}"
            return Clash("mask_shape", {"size": got}, {"size": want}, mask.id, dim, x.id, axis + dim, words)
    return None


def _slice_size(entry: Opaque, size: int) -> int:
    found = _SLICE.fullmatch(entry.text)
    if not found:
        raise Unreadable(f"index {entry.text}")
    return len(range(*slice(*(int(part) if part else None for part in found.groups())).indices(size)))


def indexed_shape(x: Operand, entries: list[Value]) -> Shape:
    """The shape that brackets give; Unreadable where it depends on values, as with a mask."""
    used = sum(map(_consumes, entries))
    shape: list[int] = []
    tensors: list[Shape] = []
    spot, apart = -1, False  # where the tensors' axes go: in the place of the first, at the front when others stand between
    for axis, entry in _placed(x, entries):
        if isinstance(entry, Operand) and entry.dtype not in _MASKS:
            apart = apart or (spot >= 0 and spot != len(shape))
            spot = len(shape) if spot < 0 else spot
            tensors.append(entry.shape)
        elif not isinstance(entry, int) or isinstance(entry, bool):  # a plain int drops its axis before tensors index
            shape.extend(_plain_sizes(x, axis, entry, used))
    if not any(map(_is_ellipsis, entries)):
        shape.extend(x.shape[used:])
    if tensors:
        at = 0 if apart else spot
        shape[at:at] = combined(tensors)[0]
    return tuple(shape)


def _plain_sizes(x: Operand, axis: int, entry: Value, used: int) -> Shape:
    """The sizes that None, an ellipsis or a slice leaves."""
    if entry is None:
        return (1,)
    if _is_ellipsis(entry):
        return x.shape[axis : axis + x.ndim - used]
    if isinstance(entry, Opaque):
        return (_slice_size(entry, x.shape[axis]),)
    raise Unreadable(f"index {entry!r}")


def _getitem_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, entries = _entries(call)
    missing = sum(map(_consumes, entries)) - x.ndim
    if missing > 0:  # as if the axes that were forgotten had been there, one long
        x = Operand(x.id, (1,) * missing + x.shape, x.dtype)
    return one(indexed_shape(x, entries))


def _setitem_requires(call: OpCall) -> Clash | None:
    if clash := _index_clash(call):
        return clash
    x, entries = _entries(call)
    value = call.get(2, "value")
    clash = expand_clash(value, indexed_shape(x, entries)) if isinstance(value, Operand) else None
    return replace(clash, other=x.id, other_dim=-1) if clash else None  # the target's dims aren't those of x


def _same(call: OpCall) -> tuple[Outputs, ...]:
    return one(tensor(call, 0, "input").shape)


def _along(call: OpCall) -> tuple[Operand, int, Operand]:
    return tensor(call, 0, "input"), call.integer(1, "dim", 0), tensor(call, 2, "index")


def _shape_word(dim: int, ndim: int) -> str:
    return "width" if dim == ndim - 1 else "batch" if dim == 0 else "size"


def index_shape_clash(index: Operand, x: Operand, free: int | None, of: str = "") -> Clash | None:
    """The clash of an index that is larger than its tensor along an axis other than the free one."""
    if index.ndim != x.ndim:
        words = f"the index {index} has {axes_text(index.ndim)}, {of}{x} has {x.ndim}"
        return Clash("index_shape", {"ndim": index.ndim}, {"ndim": x.ndim}, operand=index.id, other=x.id, words=words)
    for dim, (got, most) in enumerate(zip(index.shape, x.shape, strict=True)):
        if dim != free and got > most:
            word = _shape_word(dim, x.ndim)
            words = f"dim {dim} of the index {index} is {got}, of {of}{x} it is {most}"
            return Clash("index_shape", {word: got}, {word: most}, index.id, dim, x.id, dim, words)
    return None


def _gather_requires(call: OpCall) -> Clash | None:
    x, dim, index = _along(call)
    if clash := axis_missing(call, x, dim):
        return clash
    return index_shape_clash(index, x, wrapped(dim, max(x.ndim, 1)))


def _scatter_requires(call: OpCall) -> Clash | None:
    x, dim, index = _along(call)
    if clash := axis_missing(call, x, dim):
        return clash
    if clash := index_shape_clash(index, x, wrapped(dim, max(x.ndim, 1))):
        return clash
    source = call.operand(3, "src")
    return index_shape_clash(index, source, None, "the source ") if source else None


def _take_requires(call: OpCall) -> Clash | None:
    x, index, dim = tensor(call, 0, "input"), tensor(call, 1, "indices"), call.get(2, "dim")
    return index_shape_clash(index, x, dim) if isinstance(dim, int) and index.ndim != x.ndim else None


def _gather_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, dim, index = _along(call)
    if index.ndim != x.ndim:
        return one(index.shape)
    at = wrapped(dim, x.ndim)
    fitted = tuple(size if axis == at else min(size, x.shape[axis]) for axis, size in enumerate(index.shape))
    return any_of((fitted, index.shape) if fitted != index.shape else (fitted,))


def _index_select_requires(call: OpCall) -> Clash | None:
    x, dim, index = _along(call)
    if clash := axis_missing(call, x, dim):
        return clash
    if index.ndim > 1:
        words = f"the index {index} has {axes_text(index.ndim)}, it takes 1"
        return Clash("index_shape", {"ndim": index.ndim}, {"ndim": 1}, operand=index.id, words=words)
    return None


def _index_select_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, dim, index = _along(call)
    return one(replaced(x.shape, wrapped(dim, x.ndim), index.numel))


def _index_add_requires(call: OpCall) -> Clash | None:
    x, dim, index = _along(call)
    source = tensor(call, 3, "source")
    at = wrapped(dim, x.ndim)
    if clash := _index_select_requires(call):
        return clash
    if source.ndim == x.ndim and source.shape[at] != index.numel:
        words = f"dim {at} of the source {source} is {source.shape[at]}, the index {index} holds {index.numel}"
        return Clash("index_shape", {"size": source.shape[at]}, {"size": index.numel}, source.id, at, index.id, 0, words)
    if source.ndim != x.ndim:
        words = f"the source {source} has {source.ndim} axes, {x} has {x.ndim}"
        return Clash("index_shape", {"ndim": source.ndim}, {"ndim": x.ndim}, source.id, other=x.id, words=words)
    for axis, (got, want) in enumerate(zip(source.shape, x.shape, strict=True)):
        if axis != at and got != want:  # nothing is broadcast here
            words = f"dim {axis} of the source {source} is {got}, of {x} it is {want}"
            return Clash("index_shape", {"size": got}, {"size": want}, source.id, axis, x.id, axis, words)
    return None


def _fill_requires(call: OpCall) -> Clash | None:
    x, mask = tensor(call, 0, "input"), tensor(call, 1, "mask")
    if call.short_name.endswith("_"):
        return _in_place_mask_clash(mask, x)
    return broadcast_clash(mask, x, kind="mask_shape")


def _in_place_mask_clash(mask: Operand, x: Operand) -> Clash | None:
    clash = expand_clash(mask, x.shape, x.id, kind="mask_shape")
    return replace(clash, kind="mask_shape") if clash else None


def _left_aligned_requires(call: OpCall) -> Clash | None:
    """What nn.TransformerEncoder asks of a padding mask when it is evaluated: one entry for each place of the batch."""
    x, mask = tensor(call, 0, "t"), tensor(call, 1, "mask")
    for dim, (got, want) in enumerate(zip(mask.shape, x.shape, strict=False)):
        if got != want:
            word = "batch" if dim == 0 else "length"
            words = f"dim {dim} of the padding mask {mask} is {got}, dim {dim} of {x} that it masks is {want}"
            return Clash("mask_shape", {word: got}, {word: want}, mask.id, dim, x.id, dim, words)
    return None


def _fill_gives(call: OpCall) -> tuple[Outputs, ...]:
    x = tensor(call, 0, "input")
    return any_of((x.shape,) if call.short_name.endswith("_") else combined([x.shape, tensor(call, 1, "mask").shape]))


RULES.register("__getitem__")(Rule(_index_clash, _getitem_gives))
RULES.register("__setitem__", "index_put", "index_put_")(Rule(_setitem_requires, _same))
RULES.register("gather")(Rule(_gather_requires, _gather_gives))
RULES.register("take_along_dim")(Rule(_take_requires))
RULES.register("scatter", "scatter_", "scatter_add", "scatter_add_", "scatter_reduce", "scatter_reduce_")(Rule(_scatter_requires, _same))
RULES.register("index_select")(Rule(_index_select_requires, _index_select_gives))
RULES.register("index_add", "index_add_", "index_copy", "index_copy_")(Rule(_index_add_requires, _same))
RULES.register("masked_fill", "masked_fill_", "masked_scatter", "masked_scatter_")(Rule(_fill_requires, _fill_gives))
RULES.register("masked_select")(Rule(_fill_requires))
RULES.register("_nested_tensor_from_mask_left_aligned")(Rule(_left_aligned_requires))
