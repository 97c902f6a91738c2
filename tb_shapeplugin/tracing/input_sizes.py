"""The sizes that a model's inputs share: a batch, a sequence, the side of pictures."""

from collections.abc import Iterator, Sequence

import torch

from tb_shapeplugin.record.values import Shape
from tb_shapeplugin.tracing.alteration import InputSize, Typed, axes_with
from tb_shapeplugin.tracing.arguments import leaves
from tb_shapeplugin.tracing.inputs import Spec, bound_names
from tb_shapeplugin.tracing.subject import Subject
from tb_shapeplugin.tracing.tensors import shape_of

_COARSEST = 32  # what sides of pictures are usually halved to, five times


def named_inputs(subject: Subject) -> list[tuple[str, Typed]]:
    """The tensors and specs among the arguments, each with its name."""
    function = getattr(subject.model, "forward", subject.model)
    found = [leaf for name, value in bound_names(function, subject.args, subject.kwargs) for leaf in leaves(value, name)]
    return [(name, leaf) for name, leaf in found if isinstance(leaf, (torch.Tensor, Spec))]


def input_sizes(inputs: Sequence[tuple[str, Typed]]) -> Iterator[InputSize]:
    """The sizes that may be others, each at least 2 but for the batch.

    The batch is the first axis of the first input that has more than one; the sequence the second one of the first text, else of the
    first table of features; the side that of the first square picture.
    """
    typed = [(_shape(tensor), tensor.dtype.is_floating_point) for _, tensor in inputs]
    batch = next((shape[0] for shape, _ in typed if len(shape) > 1), None)
    texts = [shape[1] for shape, floating in typed if len(shape) == 2 and not floating]
    steps = [shape[1] for shape, floating in typed if len(shape) == 3 and floating]
    sides = [shape[-1] for shape, floating in typed if len(shape) >= 4 and floating and shape[-1] == shape[-2]]
    for name, found in (("batch", [batch]), ("sequence", [*texts, *steps]), ("side", sides)):
        size = next((size for size in found if size is not None), None)
        if size is None or size < (1 if name == "batch" else 2):
            continue
        axes = {id(tensor): axes_with(name, size, shape, floating) for (_, tensor), (shape, floating) in zip(inputs, typed, strict=True)}
        yield InputSize(name, size, {key: at for key, at in axes.items() if at})


def axis_names(size: InputSize, inputs: Sequence[tuple[str, Typed]]) -> tuple[str, ...]:
    """``x[0]``: the axes that have the size."""
    return tuple(f"{name}[{axis}]" for name, tensor in inputs for axis in size.axes.get(id(tensor), ()))


def step_of(size: InputSize) -> int:
    """What the size may be changed by, so that pictures are halved without a rest as often as they were."""
    return next(step for step in (_COARSEST, 16, 8, 4, 2, 1) if size.logged % step == 0) if size.name == "side" else 1


def other_values(size: InputSize) -> Iterator[tuple[int, ...]]:
    """Other values to try, those first that are likeliest to run: some to learn from, and the last one to check by.

    Dims grow linearly with a batch. With a sequence or a side they may grow with its square, as the patches of a picture do: that takes
    one more.
    """
    logged, step = size.logged, step_of(size)
    if size.name == "batch":
        yield 2 * logged, 3 * logged
    elif size.name == "sequence":
        yield 2 * logged, 3 * logged, 4 * logged
    else:
        yield logged + step, logged + 2 * step, logged + 4 * step
    if size.name != "batch" and logged > 4 * step:
        part = logged // 4 // step * step
        yield logged - part, logged - 2 * part, logged - 3 * part
    elif size.name == "batch" and logged > 3:
        yield logged // 2, logged // 4


def _shape(tensor: Typed) -> Shape:
    return shape_of(tensor) if isinstance(tensor, torch.Tensor) else tensor.shape
