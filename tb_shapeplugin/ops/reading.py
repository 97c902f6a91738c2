"""Reading the arguments of a call: a rule says what it needs and gives up cleanly where the call has something else."""

from collections.abc import Iterable
from typing import TypeVar

from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall, Operand, Shape, Value

Item = TypeVar("Item")


class Unreadable(Exception):
    """The call's arguments aren't of the form that the rule knows; nothing is said about it then."""


def tensor(call: OpCall, position: int, name: str) -> Operand:
    """The tensor argument at that position or of that name; Unreadable where it is none.

    Example:
        >>> tensor(OpCall("torch.relu", (Operand(0, (4,), "float32"),)), 0, "input").shape
        (4,)
    """
    found = call.operand(position, name)
    if found is None:
        raise Unreadable(f"{call.name}: {name} is no tensor")
    return found


def numbers(value: Value, length: int | None = None) -> tuple[int, ...]:
    """A tuple of ints, or an int repeated ``length`` times; Unreadable for anything else.

    Example:
        >>> numbers(2, 3), numbers((1, 2))
        ((2, 2, 2), (1, 2))
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return (value,) * (1 if length is None else length)
    if not isinstance(value, tuple):
        raise Unreadable(f"{value!r} is no list of ints")
    found = tuple(item for item in value if isinstance(item, int) and not isinstance(item, bool))
    if len(found) != len(value):
        raise Unreadable(f"{value!r} is no list of ints")
    if length is not None and len(found) == 1:
        return found * length
    if length is not None and len(found) != length:
        raise Unreadable(f"{value!r} doesn't have {length} numbers")
    return found


def listed(call: OpCall, position: int, *names: str) -> tuple[int, ...]:
    """Ints given one by one (``view(4, -1)``), as a tuple (``view((4, -1))``) or under one of those names.

    Example:
        >>> x = Operand(0, (4, 2, 3), "float32")
        >>> listed(OpCall("torch.Tensor.view", (x, 4, -1)), 1, "size")
        (4, -1)
    """
    rest = call.args[position:]
    if rest:
        return numbers(rest[0] if len(rest) == 1 else rest)
    for name in names:
        if name in call.kwargs:
            return numbers(call.kwargs[name])
    raise Unreadable(f"{call.name} has no {names[0] if names else 'list of ints'}")


def wrapped(dim: int, ndim: int) -> int:
    """A dim counted from 0; Unreadable where the tensor has no such axis.

    Example:
        >>> wrapped(-1, 4)
        3
    """
    if not -ndim <= dim < ndim:
        raise Unreadable(f"there is no dim {dim} among {ndim}")
    return dim % ndim


def axis_missing(call: OpCall, x: Operand, *dims: int) -> Clash | None:
    """The clash of an op that names an axis which its operand doesn't have, else None.

    Example:
        >>> axis_missing(OpCall("torch.softmax"), Operand(0, (4, 10), "float32"), 2).want
        {'ndim': 3}
    """
    outside = [dim for dim in dims if not -max(x.ndim, 1) <= dim < max(x.ndim, 1)]
    if not outside:
        return None
    need, dim = max((dim + 1 if dim >= 0 else -dim, dim) for dim in outside)
    return rank(x, need, f"dim {dim} needs an input with at least {axes_text(need)}, {x} has {x.ndim}")


def rank(x: Operand, want: int, words: str = "") -> Clash:
    """The clash of a tensor with a wrong number of axes."""
    words = words or f"its input {x} has {axes_text(x.ndim)}, it takes {want}"
    return Clash("rank", {"ndim": x.ndim}, {"ndim": want}, operand=x.id, words=words)


def distinct(items: Iterable[Item], most: int = 8) -> tuple[Item, ...]:
    """The items without repetitions, in order, at most that many.

    Example:
        >>> distinct([1, 2, 1])
        (1, 2)
    """
    return tuple(dict.fromkeys(items))[:most]


def axes_text(count: int) -> str:
    """A number of axes in words.

    Example:
        >>> axes_text(1), axes_text(4)
        ('1 axis', '4 axes')
    """
    return "1 axis" if count == 1 else f"{count} axes"


def product(sizes: Iterable[int]) -> int:
    """The product, 1 of none.

    Example:
        >>> product((6, 12, 12))
        864
    """
    result = 1
    for size in sizes:
        result *= size
    return result


def times(sizes: Iterable[int]) -> str:
    """A product as people write it.

    Example:
        >>> times((6, 12, 12))
        '6·12·12'
    """
    return "·".join(map(str, sizes)) or "1"


def replaced(shape: Shape, dim: int, *sizes: int) -> Shape:
    """The shape with one dim replaced by those sizes.

    Example:
        >>> replaced((4, 6, 5), 1, 2, 3)
        (4, 2, 3, 5)
    """
    return shape[:dim] + sizes + shape[dim + 1 :]
