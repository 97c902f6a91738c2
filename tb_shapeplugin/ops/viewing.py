"""Rules of ops that give the same elements other axes: view, reshape, flatten, unflatten and their kin."""

import itertools
import math
from collections.abc import Iterator

from tb_shapeplugin.ops.reading import Unreadable, axis_missing, distinct, listed, numbers, product, replaced, tensor, times, wrapped
from tb_shapeplugin.ops.rule import RULES, Outputs, Rule, any_of, one
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall, Operand, Shape


def _target(call: OpCall) -> tuple[Operand, Shape]:
    x = tensor(call, 0, "input")
    if call.short_name in ("view_as", "reshape_as"):
        return x, tensor(call, 1, "other").shape
    return x, listed(call, 1, "size", "shape")


def filled(count: int, target: Shape) -> Shape | None:
    """The target with its -1 computed; None where it doesn't hold that many elements.

    Example:
        >>> filled(720, (-1, 144)), filled(720, (-1, 1152))
        ((5, 144), None)
    """
    known = product(size for size in target if size != -1)
    if -1 not in target:
        return target if known == count else None
    if known == 0 or count % known:
        return None
    return tuple(count // known if size == -1 else size for size in target)


def numel_clash(x: Operand, target: Shape) -> Clash | None:
    """The clash of a view that doesn't hold all elements of its input; ``divisible`` where a halved size lost its remainder.

    Example:
        >>> numel_clash(Operand(0, (16, 10), "float32"), (64, 10)).want
        {'numel': 640}
    """
    if _is_empty(x, target):
        return _empty_clash(x)
    if filled(x.numel, target) is not None or (0 in target and -1 in target):
        return None
    known = product(size for size in target if size != -1)
    dim = _guilty_dim(x, target)
    holds = f"its input {x} holds {x.numel} = {times(x.shape)} elements"
    if -1 in target:
        stated = [size for size in target if size != -1]
        words = f"{holds}, which is no multiple of {known}{f' = {times(stated)}' if len(stated) > 1 else ''}"
        return Clash("view_numel", {"numel": x.numel}, {"multiple_of": known}, operand=x.id, dim=dim, words=words)
    if split := _lost_remainder(x.shape, target):
        dim, first, second = split
        size = x.shape[dim]
        words = f"dim {dim} of its input is {size}, the target splits it into {first}·{second} = {first * second}"
        words += f" ({x.numel} elements against {known})"
        divisors = [factor for factor in sorted((first, second)) if size % factor]  # heads, a patch's side: the smaller one
        want = {"multiple_of": divisors[0]}
        return Clash("divisible", {"size": size}, want, operand=x.id, dim=dim, words=words)
    words = f"{holds}, the target {times(target)} holds {known}"
    return Clash("view_numel", {"numel": x.numel}, {"numel": known}, operand=x.id, dim=dim, words=words)


def _is_empty(x: Operand, target: Shape) -> bool:
    return x.numel == 0 and 0 in target and -1 in target


def _empty_clash(x: Operand) -> Clash:
    dim = x.shape.index(0)
    words = f"dim {dim} of its input {x} is 0, and with no elements the -1 of the target could be any size"
    return Clash("view_numel", {"size": 0}, {"at_least": 1}, operand=x.id, dim=dim, words=words)


def _lost_remainder(shape: Shape, target: Shape) -> tuple[int, int, int] | None:
    """The first dim that the target splits in two with a remainder left over: (dim, first factor, second factor)."""
    at = 0
    for dim, size in enumerate(shape):
        if at < len(target) and target[at] == size:
            at += 1
        elif at + 1 < len(target):
            first, second = target[at], target[at + 1]
            lost = size - first * second
            return (dim, first, second) if 0 < lost < max(first, second) and first > 0 and second > 0 else None
        else:
            return None
    return None


def _guilty_dim(x: Operand, target: Shape) -> int:
    """The dim of the input that a single stated size gets wrong, -1 where no single one explains it."""
    kept = next((at for at, (size, own) in enumerate(zip(target, x.shape, strict=False)) if size != own), x.ndim)
    if -1 in target and kept == x.ndim - 1:
        return kept  # the last one is taken apart, those before it stay
    stated = [at for at, size in enumerate(target) if size != -1 and (at >= x.ndim or size != x.shape[at])]
    at = stated[0] if len(stated) == 1 else 0
    if at < x.ndim and at < len(target) and target[at] not in (-1, x.shape[at]):
        rest = product(target) // max(1, target[at]) if -1 not in target else 0
        if rest and x.numel == rest * x.shape[at]:
            return at
    return -1


def _readings(x: Operand, target: Shape) -> Iterator[Shape]:
    """What the view would give, most plausible first: with another size stated for one dim, or as stated, its input being off."""
    others = _of_another_size(x, target)
    yield from itertools.islice(others, 1)
    known = product(size for size in target if size != -1)
    for computed in (max(1, x.numel // max(1, known)), -(-x.numel // max(1, known))):
        yield tuple(computed if size == -1 else size for size in target)
    yield from others


def _of_another_size(x: Operand, target: Shape) -> Iterator[Shape]:
    count, known = x.numel, product(size for size in target if size != -1)
    ends = [product(x.shape[-back:]) for back in range(1, x.ndim + 1)]
    for at, size in enumerate(target):
        rest = known // size if size > 0 else 0
        if not rest:
            continue
        if -1 not in target and count % rest == 0:
            yield replaced(target, at, count // rest)
        elif -1 in target:
            for other in distinct((*x.shape, *ends, size // 2, (size - 1) // 2, size * 2), most=64):
                if other > 0 and other != size and (shape := filled(count, replaced(target, at, other))):
                    yield shape
    yield from _square_readings(count, target)
    if -1 not in target:
        shorter = ((*target[:at], *target[at + 1 :]) for at in range(len(target)))
        yield from (shape for shape in shorter if product(shape) == count)  # one is too much


def _square_readings(count: int, target: Shape) -> Iterator[Shape]:
    """A grid of equal sides has another side: 14·14 for 49 tokens is 7·7."""
    for at in range(len(target) - 1):
        if target[at] == target[at + 1] > 1:
            rest = product(target[:at] + target[at + 2 :])
            side = math.isqrt(count // rest) if rest > 0 else 0
            if side and side * side * rest == count:
                yield (*target[:at], side, side, *target[at + 2 :])


def _view_requires(call: OpCall) -> Clash | None:
    return numel_clash(*_target(call))


def _view_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, target = _target(call)
    if _is_empty(x, target):  # as if there were one of what there is none of
        filling = product(size or 1 for size in x.shape) // product(size or 1 for size in target if size != -1)
        return one(tuple(filling if size == -1 else size for size in target))
    exact = filled(x.numel, target)
    some = tuple(size or 1 for size in target)  # nothing could be computed on what has no elements
    return one(exact) if exact is not None else any_of(distinct(_readings(x, some if x.numel else target)))


def _flatten_requires(call: OpCall) -> Clash | None:
    return axis_missing(call, tensor(call, 0, "input"), call.integer(1, "start_dim", 0), call.integer(2, "end_dim", -1))


def _flatten_gives(call: OpCall) -> tuple[Outputs, ...]:
    x = tensor(call, 0, "input")
    if x.ndim == 0:
        return one((1,))
    start, end = wrapped(call.integer(1, "start_dim", 0), x.ndim), wrapped(call.integer(2, "end_dim", -1), x.ndim)
    return one((*x.shape[:start], product(x.shape[start : end + 1]), *x.shape[end + 1 :]))


def _unflatten(call: OpCall) -> tuple[Operand, int, Shape]:
    x, dim = tensor(call, 0, "input"), call.get(1, "dim")
    if not isinstance(dim, int):
        raise Unreadable(f"{call.name}: dim is no int")
    return x, dim, numbers(call.get(2, "sizes"))


def _unflatten_requires(call: OpCall) -> Clash | None:
    x, dim, sizes = _unflatten(call)
    if clash := axis_missing(call, x, dim):
        return clash
    at = wrapped(dim, x.ndim)
    size, known = x.shape[at], product(size for size in sizes if size != -1)
    if filled(size, sizes) is not None or (0 in sizes and -1 in sizes):
        return None
    stated = times(size for size in sizes if size != -1)
    if -1 in sizes:
        words = f"dim {at} of its input {x} is {size}, which is no multiple of {known}{f' = {stated}' if len(sizes) > 2 else ''}"
        return Clash("view_numel", {"size": size}, {"multiple_of": known}, operand=x.id, dim=at, words=words)
    words = f"dim {at} of its input {x} is {size}, the sizes multiply to {known} = {stated}"
    return Clash("view_numel", {"size": size}, {"size": known}, operand=x.id, dim=at, words=words)


def _unflatten_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, dim, sizes = _unflatten(call)
    at = wrapped(dim, x.ndim)
    exact = filled(x.shape[at], sizes)
    inner = (exact,) if exact is not None else distinct(_readings(Operand(x.id, (x.shape[at],), x.dtype), sizes))
    return any_of(tuple(replaced(x.shape, at, *found) for found in inner))


RULES.register("view", "reshape", "view_as", "reshape_as")(Rule(_view_requires, _view_gives))
RULES.register("flatten", "ravel")(Rule(_flatten_requires, _flatten_gives))
RULES.register("unflatten")(Rule(_unflatten_requires, _unflatten_gives))
