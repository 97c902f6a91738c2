"""Rules of reductions, and of what orders the values of an axis: sum, mean, max, norm, quantile, topk, sort."""

from tb_shapeplugin.ops.broadcasting import broadcast_clash, combined
from tb_shapeplugin.ops.reading import axes_text, axis_missing, numbers, rank, replaced, tensor, wrapped
from tb_shapeplugin.ops.rule import RULES, Outputs, Rule, any_of, one
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall, Operand, Shape, Value

_PLAIN = (
    "sum nansum mean nanmean prod amax amin std var argmax argmin any all logsumexp count_nonzero norm vector_norm quantile nanquantile"
)
_WITH_INDICES = "max min median nanmedian"
_TWO = "std_mean var_mean aminmax"
_FLAGS_FIRST = ("std", "var", "std_mean", "var_mean")  # their second positional argument may be a bool
_ORDER_FIRST = ("norm", "vector_norm", "quantile", "nanquantile")  # another number stands before their dims


def _dims(call: OpCall) -> tuple[Operand, tuple[int, ...] | None]:
    x = tensor(call, 0, "input")
    position = 2 if call.short_name in _ORDER_FIRST else 1
    value: Value = call.kwargs.get("axis", call.get(position, "dim"))
    if value is None or isinstance(value, (bool, str)) or value == ():
        return x, None
    return x, numbers(value)


def _keeps(call: OpCall) -> bool:
    position = 3 if call.short_name in (*_ORDER_FIRST, *_FLAGS_FIRST) else 2
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
    shape = reduced(x.shape, dims, _keeps(call)) if x.ndim else ()
    levels = call.operand(1, "q") if "quantile" in call.short_name else None
    return one((levels.shape if levels else ()) + shape)


def _two_gives(call: OpCall) -> tuple[Outputs, ...]:
    ((shape,),) = _gives(call)
    return ((shape, shape),)


def _chosen(call: OpCall) -> tuple[Operand, int]:
    """mode and kthvalue reduce one axis, the last one where nobody says."""
    return tensor(call, 0, "input"), call.integer(2 if call.short_name == "kthvalue" else 1, "dim", -1)


def _chosen_requires(call: OpCall) -> Clash | None:
    x, dim = _chosen(call)
    if clash := axis_missing(call, x, dim):
        return clash
    return _too_many(x, call.integer(1, "k", 1), dim) if call.short_name == "kthvalue" else None


def _chosen_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, dim = _chosen(call)
    keep = call.get(3 if call.short_name == "kthvalue" else 2, "keepdim", False) is True
    return ((reduced(x.shape, (dim,), keep) if x.ndim else (),) * 2,)


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
    return _too_many(x, k, dim)


def _too_many(x: Operand, k: int, dim: int) -> Clash | None:
    at = wrapped(dim, max(x.ndim, 1))
    size = x.shape[at] if x.ndim else 1
    if k <= size:
        return None
    return Clash("index_range", {"k": k}, {"size": size}, operand=x.id, dim=at, words=f"k is {k}, dim {at} of its input {x} has {size}")


def _drawn(call: OpCall) -> tuple[Operand, int, bool]:
    return tensor(call, 0, "input"), call.integer(1, "num_samples", 1), call.get(2, "replacement", False) is True


def _drawn_requires(call: OpCall) -> Clash | None:
    """Without replacement no more can be drawn than there are."""
    weights, count, replaces = _drawn(call)
    if weights.ndim not in (1, 2):
        return rank(weights, 2, f"its input {weights} has {axes_text(weights.ndim)}, it takes 2 (rows, categories), or 1 for a single row")
    categories = weights.shape[-1]
    if replaces or count <= categories:
        return None
    words = f"{count} samples are to be drawn without replacement, {weights} has {categories} categories"
    return Clash("index_range", {"samples": count}, {"categories": categories}, operand=weights.id, dim=weights.ndim - 1, words=words)


def _drawn_gives(call: OpCall) -> tuple[Outputs, ...]:
    weights, count, _ = _drawn(call)
    return one((*weights.shape[:-1], count))


def _topk_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, k, dim = _topk(call)
    return ((replaced(x.shape, wrapped(dim, x.ndim), k),) * 2,)


def _ordered(call: OpCall) -> tuple[Operand, int]:
    """The axis of sort, argsort, cummax and cummin."""
    flags = [value for value in call.args[1:2] if isinstance(value, bool)]  # sort(x, True) would be a flag
    dim = call.get(1, "dim", -1)
    return tensor(call, 0, "input"), dim if isinstance(dim, int) and not flags else -1


def _ordered_requires(call: OpCall) -> Clash | None:
    return axis_missing(call, *_ordered(call))


def _sort_gives(call: OpCall) -> tuple[Outputs, ...]:
    shape = tensor(call, 0, "input").shape
    return ((shape, shape),)


def _argsort_gives(call: OpCall) -> tuple[Outputs, ...]:
    return one(tensor(call, 0, "input").shape)


RULES.register(*_PLAIN.split())(Rule(_requires, _gives))
RULES.register(*_TWO.split())(Rule(_requires, _two_gives))
RULES.register(*_WITH_INDICES.split())(Rule(_pair_requires, _pair_gives))
RULES.register("mode", "kthvalue")(Rule(_chosen_requires, _chosen_gives))
RULES.register("topk")(Rule(_topk_requires, _topk_gives))
RULES.register("multinomial")(Rule(_drawn_requires, _drawn_gives))
RULES.register("sort", "cummax", "cummin")(Rule(_ordered_requires, _sort_gives))
RULES.register("argsort", "msort")(Rule(_ordered_requires, _argsort_gives))
