"""The one-step changes of a tensor that people forget: an axis too many, too few, or in the wrong place."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from tb_shapeplugin.analyse.origins.reshaping import runs
from tb_shapeplugin.fixes.situation import Change
from tb_shapeplugin.ops.reading import product
from tb_shapeplugin.record.values import Shape

_MOST_CHANNELS = 4  # of a picture


@dataclass(frozen=True, slots=True)
class Adaptation:
    """One operation on one tensor: its name and arguments in the form of a change, the shape that comes out, how people write it."""

    operation: str
    arguments: Change
    shape: Shape
    text: str  # "unsqueeze(0)"
    effort: float = 1.0
    cost: str = ""  # what it does to the contents

    def of_input(self, name: str | int) -> Change:
        """As a change of an argument of the model."""
        return {"input": name, "op": self.operation, **self.arguments}

    def before(self, path: str) -> Change:
        """As a change of the first argument of a module."""
        return {"insert": self.operation, "before": path, **self.arguments}

    def after(self, path: str) -> Change:
        """As a change of what a module gives."""
        return {"insert": self.operation, "after": path, **self.arguments}


def adaptations(shape: Shape) -> Iterator[Adaptation]:
    """Every such change of a tensor of that shape.

    Example:
        >>> [step.text for step in adaptations((4, 1))][:3]
        ['squeeze(1)', 'flatten(0, 1)', 'transpose(0, 1)']
    """
    seen = set()
    for step in (*_squeezed(shape), *_flattened(shape), *_moved(shape), *_lengthened(shape), *_picked(shape)):
        result = _result(shape, step)
        if result not in seen:
            seen.add(result)
            yield step


def permuted(shape: Shape, dims: tuple[int, ...], effort: float = 1.0) -> Adaptation:
    """The axes in another order.

    Example:
        >>> permuted((1, 36, 42, 3), (0, 3, 1, 2)).shape
        (1, 3, 36, 42)
    """
    return Adaptation("permute", {"dims": list(dims)}, tuple(shape[d] for d in dims), f"permute({_listed(dims)})", effort)


def transposed(shape: Shape, first: int, second: int, effort: float = 1.2) -> Adaptation:
    """Two axes swapped."""
    dims = list(range(len(shape)))
    dims[first], dims[second] = second, first
    after = tuple(shape[d] for d in dims)
    return Adaptation("transpose", {"dims": [first, second]}, after, f"transpose({first}, {second})", effort)


def flattened(shape: Shape, first: int, last: int, effort: float = 1.0) -> Adaptation:
    """A run of axes joined into one; written up to -1 where it reaches the end."""
    after = (*shape[:first], product(shape[first : last + 1]), *shape[last + 1 :])
    end = -1 if last == len(shape) - 1 else last
    text = f"flatten({first})" if end == -1 and first else f"flatten({first}, {end if first else last})"
    return Adaptation("flatten", {"dims": [first, end]}, after, text, effort)


def unsqueezed(shape: Shape, dim: int, effort: float = 1.0) -> Adaptation:
    """An axis of length 1 more."""
    return Adaptation("unsqueeze", {"dim": dim}, (*shape[:dim], 1, *shape[dim:]), f"unsqueeze({dim})", effort)


def reshaped(shape: Shape, effort: float = 1.0) -> Adaptation:
    """The same elements in another shape."""
    return Adaptation("reshape", {"shape": list(shape)}, shape, f"reshape({_listed(shape)})", effort)


def aligned(shape: Shape, other: Shape) -> Iterator[Adaptation]:
    """The axes set beside those of another shape that are as long, with axes of length 1 between them.

    Example:
        >>> [step.text for step in aligned((3,), (2, 3, 8, 8))]
        ['[None, :, None, None]']
    """
    if not 0 < len(shape) < len(other):
        return
    for places in combinations(range(len(other)), len(shape)):
        if all(size in (1, other[place]) for size, place in zip(shape, places, strict=True)):
            after = tuple(other[place] if place in places and shape[places.index(place)] != 1 else 1 for place in range(len(other)))
            text = ", ".join(":" if place in places else "None" for place in range(len(other)))
            yield Adaptation("reshape", {"shape": list(after)}, after, f"[{text}]", 0.75)


def keeps_order(before: Shape, after: Shape) -> bool:
    """Does a reshape only join neighbouring axes, or split them, rather than cut across them and scramble what they hold?

    Example:
        >>> keeps_order((845,), (5, 13, 13)), keeps_order((4, 6), (8, 3))
        (True, False)
    """
    one, other = (tuple(size for size in shape if size != 1) for shape in (before, after))
    return all(end - first <= 1 or end_after - first_after <= 1 for first, end, first_after, end_after in runs(one, other))


def expanded(shape: Shape, dim: int, size: int, effort: float = 0.8) -> Adaptation:
    """An axis of length 1 stretched without copying."""
    sizes = [size if at == dim else -1 for at in range(len(shape))]
    after = (*shape[:dim], size, *shape[dim + 1 :])
    return Adaptation("expand", {"sizes": sizes}, after, f"expand({_listed(tuple(sizes))})", effort, _used(dim, size))


def lengthened(shape: Shape, dim: int, size: int, effort: float) -> Adaptation:
    """An axis made longer with zeros at its end."""
    pad = [0, 0] * (len(shape) - 1 - dim) + [0, size - shape[dim]]
    after = (*shape[:dim], size, *shape[dim + 1 :])
    cost = f"adds {size - shape[dim]} {_entries(shape, dim, size - shape[dim])} of zeros"
    return Adaptation("pad_to", {"dim": dim, "to": size}, after, f"F.pad({pad})", effort, cost)


def resampled(shape: Shape, sizes: Shape, effort: float) -> Adaptation:
    """A map, or signal, brought to other sides."""
    sides = "×".join(map(str, shape[2:]))
    cost = f"resamples {sides} to {'×'.join(map(str, sizes))}"
    return Adaptation("interpolate", {"size": list(sizes)}, (*shape[:2], *sizes), f"F.interpolate(size={tuple(sizes)})", effort, cost)


def repeated(shape: Shape, dim: int, times: int, effort: float = 1.5) -> Adaptation:
    """An axis of length 1 repeated: in memory of its own, so that writing in place stays possible."""
    after = (*shape[:dim], shape[dim] * times, *shape[dim + 1 :])
    arguments = {"dim": dim, "repeats": times}
    return Adaptation("repeat_interleave", arguments, after, f"repeat_interleave({times}, dim={dim})", effort, _used(dim, times))


def cropped(shape: Shape, dim: int, length: int, effort: float = 2.0) -> Adaptation:
    """The first part of an axis."""
    arguments = {"dim": dim, "start": 0, "length": length}
    after, lost = (*shape[:dim], length, *shape[dim + 1 :]), shape[dim] - length
    return Adaptation("narrow", arguments, after, f"narrow({dim}, 0, {length})", effort, f"crops {lost} {_entries(shape, dim, lost)}")


def selected(shape: Shape, dim: int, effort: float = 2.0) -> Adaptation:
    """The first entry of an axis; the last axis is written as people do."""
    last = dim == len(shape) - 1
    arguments = {"dim": -1 if last else dim, "index": 0}
    text = "[..., 0]" if last else f"select({dim}, 0)"
    cost = f"drops all but the first of {shape[dim]} at dim {dim}"
    return Adaptation("select", arguments, (*shape[:dim], *shape[dim + 1 :]), text, effort, cost)


def _entries(shape: Shape, dim: int, count: int) -> str:
    """What the entries of an axis are called."""
    names = {len(shape) - 1: "column", len(shape) - 2: "row"} if len(shape) == 4 else {}
    return f"{names[dim]}{'s' * (count > 1)}" if dim in names else f"of {shape[dim]} at dim {dim}"


def _used(dim: int, times: int) -> str:
    return f"uses the one entry at dim {dim} {times} times"


def _result(shape: Shape, step: Adaptation) -> tuple[object, ...]:
    """What is equal for two steps that do the same."""
    if step.operation in ("squeeze", "flatten", "unsqueeze", "reshape"):
        return "reshape", step.shape
    if step.operation in ("permute", "transpose"):
        order = list(range(len(shape)))
        dims = step.arguments["dims"]
        if step.operation == "transpose":
            order[dims[0]], order[dims[1]] = order[dims[1]], order[dims[0]]
        return "permute", tuple(dims if step.operation == "permute" else order)
    return step.operation, *step.arguments.values()


def _listed(numbers: tuple[Any, ...]) -> str:
    return ", ".join(map(str, numbers))


def _squeezed(shape: Shape) -> Iterator[Adaptation]:
    for dim, size in enumerate(shape):
        if size == 1:
            yield Adaptation("squeeze", {"dim": dim}, (*shape[:dim], *shape[dim + 1 :]), f"squeeze({dim})", 0.7 if dim else 1.0)


def _flattened(shape: Shape) -> Iterator[Adaptation]:
    last = len(shape) - 1
    if last > 1:
        yield flattened(shape, 1, last, 0.6)
    for first, end in combinations(range(len(shape)), 2):
        if (first, end) == (0, last):
            yield flattened(shape, first, end, 1.5)
        elif (first, end) != (1, last) or last <= 1:
            yield flattened(shape, first, end, 1.3)


def _moved(shape: Shape) -> Iterator[Adaptation]:
    count = len(shape)
    if count in (3, 4, 5):
        batch = (0,) if count > 3 else ()
        rest = tuple(range(len(batch), count - 1))
        to_front, to_back = (*batch, count - 1, *rest), (*batch, *range(len(batch) + 1, count), len(batch))
        strong = shape[-1] <= _MOST_CHANNELS < min(shape[len(batch) : -1])
        yield permuted(shape, to_front, 0.4 if strong else 1.4)
        yield permuted(shape, to_back, 1.5)
    for first, second in combinations(range(count), 2):
        yield transposed(shape, first, second, 1.2 if second == first + 1 else 1.5)


def _lengthened(shape: Shape) -> Iterator[Adaptation]:
    if len(shape) == 2:  # vectors where maps are wanted
        yield Adaptation("reshape", {"shape": [*shape, 1, 1]}, (*shape, 1, 1), "[:, :, None, None]", 0.85)
    for dim in range(len(shape) + 1):
        yield unsqueezed(shape, dim, 0.8 if dim == 0 else 0.9)


def _picked(shape: Shape) -> Iterator[Adaptation]:
    for dim, size in enumerate(shape):
        if len(shape) > 1 and 1 < size <= _MOST_CHANNELS:
            yield selected(shape, dim, 1.1 if dim == len(shape) - 1 else 2.2)
