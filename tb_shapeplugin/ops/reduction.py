"""Rules of reductions: sum, mean, max, argmax, norm, topk, sort."""

from tb_shapeplugin.ops.broadcasting import broadcast_clash, combined
from tb_shapeplugin.ops.reading import axis_missing, numbers, replaced, tensor, wrapped
from tb_shapeplugin.ops.rule import RULES, Outputs, Rule, any_of, one
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall, Operand, Shape, Value

_PLAIN = "sum nansum mean nanmean prod amax amin std var argmax argmin any all logsumexp count_nonzero norm"
_WITH_INDICES = "max min median nanmedian mode"
_FLAGS_FIRST = ("std", "var")  # their second positional argument may be a bool


def _dims(call: OpCall) -> tuple[Operand, tuple[int, ...] | None]:
    x = tensor(call, 0, "input")
    position = 2 if call.short_name == "norm" else 1
    value: Value = call.kwargs.get("axis", call.get(position, "dim"))
    if value is None or isinstance(value, (bool, str)) or value == ():
        return x, None
    return x, numbers(value)


def _keeps(call: OpCall) -> bool:
    position = 3 if call.short_name in ("norm", *_FLAGS_FIRST) else 2
    return call.get(position, "keepdim", False) is True


def _requires(call: OpCall) -> Clash | None:
    x, dims = _dims(call)
    return None if dims is None else axis_missing(call, x, *dims)


def reduced(shape: Shape, dims: tuple[int, ...] | None, keep: bool) -> Shape:
    """The shape without the reduced dims, all of them for None, or with 1 in their place.

    Example:
        >>> reduced((4, 7, 24), (1,), False), reduced((4, 7), None, True)
        ((4, 24), (1, 1))
    """
    gone = set(range(len(shape))) if dims is None else {wrapped(dim, len(shape)) for dim in dims}
    return tuple(1 if at in gone else size for at, size in enumerate(shape) if keep or at not in gone)


def _gives(call: OpCall) -> tuple[Outputs, ...]:
    x, dims = _dims(call)
    return one(reduced(x.shape, dims, _keeps(call)) if x.ndim else ())


def _pair_requires(call: OpCall) -> Clash | None:
    """``x.max(y)`` is elementwise, ``x.max(1)`` a reduction."""
    other = call.operand(1, "other")
    return broadcast_clash(tensor(call, 0, "input"), other) if other else _requires(call)


def _pair_gives(call: OpCall) -> tuple[Outputs, ...]:
    other = call.operand(1, "other")
    if other:
        return any_of(combined([tensor(call, 0, "input").shape, other.shape]))
    x, dims = _dims(call)
    shape = reduced(x.shape, dims, _keeps(call)) if x.ndim else ()
    return ((shape,),) if dims is None else ((shape, shape),)


def _topk(call: OpCall) -> tuple[Operand, int, int]:
    return tensor(call, 0, "input"), call.integer(1, "k", 1), call.integer(2, "dim", -1)


def _topk_requires(call: OpCall) -> Clash | None:
    x, k, dim = _topk(call)
    if clash := axis_missing(call, x, dim):
        return clash
    at = wrapped(dim, max(x.ndim, 1))
    size = x.shape[at] if x.ndim else 1
    if k <= size:
        return None
    return Clash("index_range", {"k": k}, {"size": size}, operand=x.id, dim=at, words=f"k is {k}, dim {at} of its input {x} has {size}")


def _topk_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, k, dim = _topk(call)
    return ((replaced(x.shape, wrapped(dim, x.ndim), k),) * 2,)


def _sort_gives(call: OpCall) -> tuple[Outputs, ...]:
    shape = tensor(call, 0, "input").shape
    return ((shape, shape),)


RULES.register(*_PLAIN.split())(Rule(_requires, _gives))
RULES.register(*_WITH_INDICES.split())(Rule(_pair_requires, _pair_gives))
RULES.register("topk")(Rule(_topk_requires, _topk_gives))
RULES.register("sort")(Rule(gives=_sort_gives))
