"""Other inputs that a module may accept where its own code refuses those that it got."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from tb_shapeplugin.record.values import Shape
from tb_shapeplugin.tracing.arguments import leaves, tensors_in
from tb_shapeplugin.tracing.going_on import RaisedModule
from tb_shapeplugin.tracing.substitution import substituted
from tb_shapeplugin.tracing.tensors import shape_of

_MOST_PAIRS = 120


def integers(value: Any) -> list[int]:
    """The positive integers in a nested value."""
    return [leaf for _, leaf in leaves(value) if isinstance(leaf, int) and not isinstance(leaf, bool) and leaf > 0]


def unique(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    """Each tensor once."""
    return list({id(tensor): tensor for tensor in tensors}.values())


@dataclass(frozen=True)
class ChangedInput:
    """A module's arguments with some of their tensors changed; ``tensor`` is the first of those, ``original`` what it stands for."""

    tensor: torch.Tensor
    original: torch.Tensor
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    replaced: tuple[torch.Tensor, ...]  # all that are changed, as they are now


def changed_inputs(raised: RaisedModule) -> Iterator[ChangedInput]:
    """The inputs that come into question, the likeliest first.

    First a leading axis on all tensors: a batch may be missing. Then of one tensor a dim set to a size that the module's parameters or
    attributes carry, a flattened picture, other axes, two dims.
    """
    tensors = unique(tensors_in((raised.args, raised.kwargs)))
    batched = {id(tensor): tensor.new_zeros((1, *tensor.shape)) for tensor in tensors}
    if tensors:
        args, kwargs = substituted((raised.args, raised.kwargs), batched)
        yield ChangedInput(batched[id(tensors[0])], tensors[0], args, kwargs, tuple(batched.values()))
    own = [size for p in raised.module.parameters() for size in shape_of(p)]
    sizes = list(dict.fromkeys([*own, *integers([v for k, v in vars(raised.module).items() if not k.startswith("_")])]))
    for tensor in tensors[:3]:
        for shape in changed_shapes(shape_of(tensor), sizes):
            other = tensor.new_zeros(shape)
            args, kwargs = substituted((raised.args, raised.kwargs), {id(tensor): other})
            yield ChangedInput(other, tensor, args, kwargs, (other,))


def changed_shapes(shape: Shape, sizes: list[int]) -> Iterator[Shape]:
    """Shapes that a tensor may have been meant to have, the least changed first; ``sizes`` are those that an axis may take."""
    single = [(axis, size) for axis in reversed(range(len(shape))) for size in sizes if size != shape[axis]]
    yield from (_with(shape, (change,)) for change in single)
    yield from _pictures(shape, sizes)
    yield from (without_axis(shape, axis) for axis in range(len(shape)) if shape[axis] == 1)
    yield from (with_axis(shape, axis) for axis in range(1, min(len(shape), 4) + 1))
    pairs = [(a, b) for a, b in itertools.combinations(single, 2) if a[0] != b[0]]
    if len(pairs) > _MOST_PAIRS:
        pairs = [((i, size), (j, size)) for i, j in itertools.combinations(range(len(shape)), 2) for size in sizes]
    yield from (_with(shape, pair) for pair in pairs)


def with_axis(shape: Shape, axis: int) -> Shape:
    """The shape with one more axis, of size 1, at that place."""
    return *shape[:axis], 1, *shape[axis:]


def without_axis(shape: Shape, axis: int) -> Shape:
    """The shape without that axis."""
    return *shape[:axis], *shape[axis + 1 :]


def _pictures(shape: Shape, sizes: list[int]) -> Iterator[Shape]:
    """Square pictures, as many as there are rows, of which each row may be a flattened one."""
    for channels in sizes if len(shape) == 2 else ():
        side = math.isqrt(shape[1] // channels)
        if side > 1 and channels * side * side == shape[1]:
            yield shape[0], channels, side, side


def _with(shape: Shape, changes: tuple[tuple[int, int], ...]) -> Shape:
    new = dict(changes)
    return tuple(new.get(axis, size) for axis, size in enumerate(shape))
