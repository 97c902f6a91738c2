"""Rules of ops that move, add or drop axes, and of taking them apart: permute, transpose, squeeze, unsqueeze, unpacking."""

from typing import Final

from tb_shapeplugin.ops.reading import Unreadable, axes_text, axis_missing, listed, numbers, rank, tensor, wrapped
from tb_shapeplugin.ops.rule import RULES, Outputs, Rule, one
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall, Operand, Shape

TAKEN_APART: Final = ("python.unpack", "python.size")  # statements of Python that ask for axes, and are no ops of torch


def _permute_requires(call: OpCall) -> Clash | None:
    x, dims = tensor(call, 0, "input"), listed(call, 1, "dims")
    if x.ndim != len(dims):
        return rank(x, len(dims), f"its input {x} has {axes_text(x.ndim)}, the permutation {dims} orders {len(dims)}")
    return axis_missing(call, x, *dims) or _named_twice(x, dims)


def _named_twice(x: Operand, dims: Shape) -> Clash | None:
    """The clash of an order in which one axis stands twice and another one is missing."""
    order = [dim % x.ndim for dim in dims]
    twice = [dim for dim in dict.fromkeys(order) if order.count(dim) > 1]
    missing = [dim for dim in range(x.ndim) if dim not in order]
    if not twice:
        return None
    count, left = len(set(order)), f"dim {_listed(twice)} twice, dim {_listed(missing)} not at all"
    words = f"the permutation {dims} orders {count} of the {axes_text(x.ndim)} of {x}: {left}"
    return Clash("rank", {"axes": count}, {"axes": x.ndim}, operand=x.id, words=words)


def _listed(dims: list[int]) -> str:
    return " and ".join(map(str, dims))


def _orders_without_twins(dims: Shape, ndim: int) -> list[Shape]:
    """The orders in which one of two equal axes is the missing one; of several missing ones, the first that are free."""
    found = []
    order = [dim % ndim for dim in dims]
    missing = [dim for dim in range(ndim) if dim not in order]
    for keep_last in (False, True):
        places = range(ndim - 1, -1, -1) if keep_last else range(ndim)
        seen, spare, changed = set[int](), iter(missing), list(order)
        for at in places:
            changed[at] = next(spare) if order[at] in seen else order[at]
            seen.add(order[at])
        found.append(tuple(changed))
    return list(dict.fromkeys(found))


def _permute_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, dims = tensor(call, 0, "input"), listed(call, 1, "dims")
    if x.ndim == len(dims):
        wrapped_dims = tuple(wrapped(dim, x.ndim) for dim in dims)
        return tuple((tuple(x.shape[dim] for dim in order),) for order in _orders_without_twins(wrapped_dims, x.ndim))
    kept = (x.shape + (1,) * len(dims))[: len(dims)]  # as if the surplus axes had been pooled away before
    return one(tuple(kept[dim % len(dims)] for dim in dims))


def _two_dims(call: OpCall) -> tuple[Operand, int, int]:
    x = tensor(call, 0, "input")
    first, second = call.get(1, "dim0"), call.get(2, "dim1")
    if not isinstance(first, int) or not isinstance(second, int):
        raise Unreadable(f"{call.name} without two dims")
    return x, first, second


def _transpose_requires(call: OpCall) -> Clash | None:
    return axis_missing(call, *_two_dims(call))


def swapped(shape: Shape, first: int, second: int) -> Shape:
    """The shape with two axes exchanged.

    Example:
        >>> swapped((2, 3, 4), 0, -1)
        (4, 3, 2)
    """
    order = list(shape)
    a, b = wrapped(first, len(shape)), wrapped(second, len(shape))
    order[a], order[b] = order[b], order[a]
    return tuple(order)


def _transpose_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, first, second = _two_dims(call)
    return one(swapped(x.shape, first, second))


def _t_requires(call: OpCall) -> Clash | None:
    x = tensor(call, 0, "input")
    return rank(x, 2, f"its input {x} has {axes_text(x.ndim)}, t() takes at most 2") if x.ndim > 2 else None


def _t_gives(call: OpCall) -> tuple[Outputs, ...]:
    return one(tensor(call, 0, "input").shape[::-1])


def _mt_gives(call: OpCall) -> tuple[Outputs, ...]:
    return one(swapped(tensor(call, 0, "input").shape, -1, -2))


def _moved(call: OpCall) -> tuple[Operand, Shape, Shape]:
    return tensor(call, 0, "input"), numbers(call.get(1, "source")), numbers(call.get(2, "destination"))


def _movedim_requires(call: OpCall) -> Clash | None:
    x, source, destination = _moved(call)
    return axis_missing(call, x, *source, *destination)


def _movedim_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, source, destination = _moved(call)
    if len(source) != len(destination):
        raise Unreadable(f"{call.name} of {source} to {destination}")
    placed = {wrapped(to, x.ndim): wrapped(dim, x.ndim) for dim, to in zip(source, destination, strict=True)}
    rest = iter(dim for dim in range(x.ndim) if dim not in placed.values())
    return one(tuple(x.shape[placed[at] if at in placed else next(rest)] for at in range(x.ndim)))


def _squeeze_requires(call: OpCall) -> Clash | None:
    dim = call.get(1, "dim")
    return None if dim is None else axis_missing(call, tensor(call, 0, "input"), *numbers(dim))


def _squeeze_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, dim = tensor(call, 0, "input"), call.get(1, "dim")
    chosen = range(x.ndim) if dim is None else [wrapped(at, x.ndim) for at in numbers(dim)]
    return one(tuple(size for at, size in enumerate(x.shape) if size != 1 or at not in chosen))


def _unsqueeze_requires(call: OpCall) -> Clash | None:
    x, dim = tensor(call, 0, "input"), call.integer(1, "dim", 0)
    if -x.ndim - 1 <= dim <= x.ndim:
        return None
    need = dim if dim >= 0 else -dim - 1
    return rank(x, need, f"its input {x} has {axes_text(x.ndim)}, a new axis at dim {dim} takes at least {need}")


def _unsqueeze_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, dim = tensor(call, 0, "input"), call.integer(1, "dim", 0)
    at = max(0, min(dim if dim >= 0 else x.ndim + 1 + dim, x.ndim))
    return one((*x.shape[:at], 1, *x.shape[at:]))


def _vectors_requires(call: OpCall) -> Clash | None:
    """cartesian_prod takes vectors, block_diag matrices at most."""
    most = 1 if call.short_name == "cartesian_prod" else 2
    odd = next((operand for operand in call.operands() if operand.ndim > most), None)
    return rank(odd, most, f"{odd} has {axes_text(odd.ndim)}, it takes at most {most}") if odd else None


def _mt_requires(call: OpCall) -> Clash | None:
    x = tensor(call, 0, "input")
    return rank(x, 2, f"its input {x} has {axes_text(x.ndim)}, {call.short_name} takes at least 2") if x.ndim < 2 else None


def _turned(call: OpCall) -> tuple[Operand, tuple[int, ...]]:
    dims = numbers(call.get(2, "dims", (0, 1)))
    if len(dims) != 2:
        raise Unreadable(f"{call.name} in {len(dims)} axes")
    return tensor(call, 0, "input"), dims


def _rot90_requires(call: OpCall) -> Clash | None:
    x, dims = _turned(call)
    return axis_missing(call, x, *dims)


def _rot90_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, dims = _turned(call)
    return one(swapped(x.shape, *dims) if call.integer(1, "k", 1) % 2 else x.shape)


def unpacking_clash(got: int, expected: int) -> Clash:
    """The clash of a statement that takes another number of values apart than there are.

    Example:
        >>> unpacking_clash(1, 2).words
        'there is 1 value, the code takes 2 apart'
    """
    words = f"there {'is 1 value' if got == 1 else f'are {got} values'}, the code takes {expected} apart"
    return Clash("rank", {"values": got}, {"values": expected}, words=words)


def _unpack_requires(call: OpCall) -> Clash | None:
    """``a, b = x.shape``: the call holds what is unpacked, how many values the code takes, and how many there are if known."""
    value, expected, count = call.get(0, "value"), call.get(1, "expected"), call.get(2, "count")
    got = value.ndim if count is None and isinstance(value, Operand) else count
    if not isinstance(expected, int) or not isinstance(got, int):
        return None
    if not isinstance(value, Operand) or value.ndim != got:
        return unpacking_clash(got, expected)
    return rank(value, expected, f"{value} has {axes_text(got)}, the code takes {expected} apart")


def _size_requires(call: OpCall) -> Clash | None:
    """``x.shape[2]``: the axis whose size the code asks for has to be there."""
    x, dim = tensor(call, 0, "input"), call.get(1, "dim")
    if not isinstance(dim, int) or -x.ndim <= dim < x.ndim:
        return None
    need = dim + 1 if dim >= 0 else -dim
    return rank(x, need, f"{x} has {axes_text(x.ndim)}, the code asks for the size of dim {dim}")


RULES.register("unpack")(Rule(_unpack_requires))
RULES.register("size")(Rule(_size_requires))
RULES.register("permute")(Rule(_permute_requires, _permute_gives))
RULES.register("transpose", "swapaxes", "swapdims", "transpose_", "swapaxes_", "swapdims_")(Rule(_transpose_requires, _transpose_gives))
RULES.register("t", "t_")(Rule(_t_requires, _t_gives))
RULES.register("T")(Rule(gives=_t_gives))
RULES.register("mT", "mH", "adjoint")(Rule(_mt_requires, _mt_gives))
RULES.register("cartesian_prod", "block_diag")(Rule(_vectors_requires))
RULES.register("rot90")(Rule(_rot90_requires, _rot90_gives))
RULES.register("movedim", "moveaxis")(Rule(_movedim_requires, _movedim_gives))
RULES.register("squeeze", "squeeze_")(Rule(_squeeze_requires, _squeeze_gives))
RULES.register("unsqueeze", "unsqueeze_")(Rule(_unsqueeze_requires, _unsqueeze_gives))
