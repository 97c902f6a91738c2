"""Rules of ops that repeat a tensor along axes, or undo it: expand, repeat, tile, meshgrid, sum_to_size."""

from tb_shapeplugin.ops.broadcasting import broadcast_clash, combined, expand_clash
from tb_shapeplugin.ops.reading import Unreadable, axes_text, listed, rank, replaced, tensor, wrapped
from tb_shapeplugin.ops.rule import RULES, Outputs, Rule, one
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall, Operand, Shape


def _expand_target(call: OpCall) -> tuple[Operand, Shape, int]:
    x = tensor(call, 0, "input")
    if call.short_name == "expand_as":
        other = tensor(call, 1, "other")
        return x, other.shape, other.id
    return x, listed(call, 1, "size"), -1


def _expand_requires(call: OpCall) -> Clash | None:
    return expand_clash(*_expand_target(call))


def _expand_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, target, _ = _expand_target(call)
    lead = len(target) - x.ndim
    return one(tuple(x.shape[at - lead] if size == -1 and at >= lead else size for at, size in enumerate(target)))


def _broadcast_requires(call: OpCall) -> Clash | None:
    operands = call.operands()
    clashes = (broadcast_clash(later, earlier) for at, later in enumerate(operands) for earlier in operands[:at])
    return next((clash for clash in clashes if clash), None)


def _broadcast_gives(call: OpCall) -> tuple[Outputs, ...]:
    operands = call.operands()
    return tuple((shape,) * len(operands) for shape in combined([operand.shape for operand in operands]))


def _sum_to_size_requires(call: OpCall) -> Clash | None:
    """The target has to be such that it could be expanded to the input."""
    x, target = tensor(call, 0, "input"), listed(call, 1, "size")
    if len(target) > x.ndim:
        return rank(x, len(target), f"its input {x} has {axes_text(x.ndim)}, the target {target} has {len(target)}")
    for back in range(1, len(target) + 1):
        got, want = x.shape[-back], target[-back]
        if want not in (1, got):
            words = f"dim {x.ndim - back} of its input {x} is {got}, the target {target} has {want} there, and only 1 can be summed to"
            return Clash("broadcast", {"size": got}, {"size": want}, operand=x.id, dim=x.ndim - back, words=words)
    return None


def _sum_to_size_gives(call: OpCall) -> tuple[Outputs, ...]:
    return one(listed(call, 1, "size"))


def _meshgrid_requires(call: OpCall) -> Clash | None:
    odd = next((operand for operand in call.operands() if operand.ndim > 1), None)
    return rank(odd, 1, f"{odd} has {axes_text(odd.ndim)}, a grid is made of vectors: 1") if odd else None


def _meshgrid_gives(call: OpCall) -> tuple[Outputs, ...]:
    sizes = tuple(operand.numel for operand in call.operands())
    if call.kwargs.get("indexing") == "xy" and len(sizes) > 1:
        sizes = (sizes[1], sizes[0], *sizes[2:])
    return ((sizes,) * len(sizes),)


def _repeat_requires(call: OpCall) -> Clash | None:
    x, counts = tensor(call, 0, "input"), listed(call, 1, "repeats")
    if len(counts) < x.ndim:
        words = f"its input {x} has {axes_text(x.ndim)}, the counts {counts} are for {len(counts)} at most"
        return rank(x, len(counts), words)
    return None


def _repeat_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, counts = tensor(call, 0, "input"), listed(call, 1, "repeats", "dims")
    if len(counts) < x.ndim:  # tile fills up the counts, repeat would have raised
        counts = (1,) * (x.ndim - len(counts)) + counts
    sizes = (1,) * (len(counts) - x.ndim) + x.shape
    return one(tuple(size * count for size, count in zip(sizes, counts, strict=True)))


def _repeat_interleave_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, count, dim = tensor(call, 0, "input"), call.get(1, "repeats"), call.get(2, "dim")
    if not isinstance(count, int) or not isinstance(dim, int):
        raise Unreadable("the output's size depends on values, or is flat")
    at = wrapped(dim, x.ndim)
    return one(replaced(x.shape, at, x.shape[at] * count))


RULES.register("broadcast_tensors")(Rule(_broadcast_requires, _broadcast_gives))
RULES.register("meshgrid")(Rule(_meshgrid_requires, _meshgrid_gives))
RULES.register("sum_to_size")(Rule(_sum_to_size_requires, _sum_to_size_gives))
RULES.register("expand", "expand_as", "broadcast_to")(Rule(_expand_requires, _expand_gives))
RULES.register("repeat")(Rule(_repeat_requires, _repeat_gives))
RULES.register("tile")(Rule(gives=_repeat_gives))
RULES.register("repeat_interleave")(Rule(gives=_repeat_interleave_gives))
