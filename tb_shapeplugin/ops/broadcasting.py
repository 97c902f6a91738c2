"""The arithmetic of broadcasting: which dims clash, and what comes out in either reading."""

import itertools
from collections.abc import Iterator, Sequence

from tb_shapeplugin.ops.reading import axes_text, distinct, product
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import Operand, Shape

_MOST = 8  # readings that are told apart


def clashing_dims(a: Shape, b: Shape) -> Iterator[tuple[int, int]]:
    """Pairs of dims, the last axes first, whose sizes differ where neither is 1.

    Example:
        >>> list(clashing_dims((4, 3, 5), (2, 6)))
        [(2, 1), (1, 0)]
    """
    for back in range(1, min(len(a), len(b)) + 1):
        if a[-back] != b[-back] and 1 not in (a[-back], b[-back]):
            yield len(a) - back, len(b) - back


def combined(shapes: Sequence[Shape]) -> tuple[Shape, ...]:
    """The broadcast shape; where dims clash, one reading for each side, the first operand's first, at most 8.

    Where the operands have different numbers of axes, too, the larger one's own shape comes first, of equally large ones that
    with fewer axes: an axis that was forgotten or added by mistake would otherwise grow with every op behind it.

    Example:
        >>> combined([(4, 1, 5), (3, 1)]), combined([(4, 48), (4, 24)]), combined([(8, 6, 1), (8, 6)])[0]
        (((4, 3, 5),), ((4, 48), (4, 24)), (8, 6))
    """
    ndim = max(map(len, shapes), default=0)
    choices: list[list[int]] = []
    for back in range(ndim, 0, -1):
        sizes = [shape[-back] for shape in shapes if len(shape) >= back]
        choices.append(list(dict.fromkeys(size for size in sizes if size != 1)) or [1])
    own: list[Shape] = []
    if any(len(choice) > 1 for choice in choices) and len({len(shape) for shape in shapes if shape}) > 1:
        own = sorted(filter(None, shapes), key=lambda shape: (-product(shape), len(shape)))
    return distinct((*(_filled(shape, choices) for shape in own), *itertools.islice(itertools.product(*choices), _MOST)))


def _filled(shape: Shape, choices: list[list[int]]) -> Shape:
    """The shape with the axes that are 1 as long as the others' are."""
    return tuple(choice[0] if size == 1 else size for size, choice in zip(shape, choices[-len(shape) :], strict=True))


def broadcast_clash(a: Operand, b: Operand, kind: str = "broadcast", word: str = "size") -> Clash | None:
    """The clash of two operands that don't broadcast; ``got`` is the first one's number.

    Example:
        >>> broadcast_clash(Operand(0, (4, 37), "float32"), Operand(1, (4, 36), "float32")).got
        {'size': 37}
    """
    for dim, other in clashing_dims(a.shape, b.shape):
        got, want = a.shape[dim], b.shape[other]
        words = f"dim {dim} of {a} is {got}, dim {other} of {b} is {want}, and neither is 1"
        return Clash(kind, {word: got}, {word: want}, operand=a.id, dim=dim, other=b.id, other_dim=other, words=words)
    return None


def expand_clash(x: Operand, target: Shape, other: int = -1, kind: str = "broadcast", word: str = "size") -> Clash | None:
    """The clash of a tensor that can't be expanded to a fixed target; -1 in the target keeps a dim.

    Example:
        >>> expand_clash(Operand(0, (4, 5, 5), "float32"), (4, 32, 5, 5)).want
        {'size': 32}
    """
    if x.ndim > len(target):
        words = f"its input {x} has {axes_text(x.ndim)}, the target has {len(target)}"
        return Clash("rank", {"ndim": x.ndim}, {"ndim": len(target)}, operand=x.id, other=other, words=words)
    for back in range(1, x.ndim + 1):
        got, want = x.shape[-back], target[-back]
        if got not in (1, want) and want != -1:
            dim, other_dim = x.ndim - back, len(target) - back
            words = f"dim {dim} of {x} is {got}, dim {other_dim} of the target is {want}, and only 1 can be expanded"
            return Clash(kind, {word: got}, {word: want}, operand=x.id, dim=dim, other=other, other_dim=other_dim, words=words)
    return None
