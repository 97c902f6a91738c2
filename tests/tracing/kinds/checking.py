"""What must hold for every kind of model: types of a plain run, auto as real op by op, all left as found, nothing lost in the bytes."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, TypeAlias

import torch

import tb_shapeplugin as shapes
from tb_shapeplugin.api.captures import Capture
from tb_shapeplugin.wire.decode import decode
from tb_shapeplugin.wire.encode import encode
from tests.tracing.pictures import Picture, picture, process_picture

Type: TypeAlias = tuple[tuple[int, ...], str]
Around: TypeAlias = Callable[[], contextlib.AbstractContextManager[Any]]

ALL = ("auto", "real", "fake")
WITH_VALUES = ("auto", "real")  # of a model that reads values, which a shape-level run alone doesn't have


def checked(
    model: Any,
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    executions: Sequence[str] = ALL,
    ran: str | None = "fake",
    around: Around = contextlib.nullcontext,
    photographed: Callable[..., Picture] = picture,
) -> Capture:
    """The capture by each execution, compared with a plain run and with one another; gives the first one.

    Args:
        model: a module or any callable.
        args: its positional arguments.
        kwargs: its keyword arguments.
        executions: which are asked.
        ran: what the first one is to have run as; None where either will do.
        around: makes the context in which everybody runs: autocast, no_grad.
        photographed: how model and arguments are photographed.
    """
    captures = []
    for execution in executions:
        before, process = photographed(model, args, kwargs), process_picture()
        with around():
            captures.append(shapes.capture(model, args, kwargs, execution=execution))
        assert process.differences(process_picture()) == [], execution
        assert before.differences(photographed(model, args, kwargs)) == [], execution
    with around():
        output = model(*args, **(kwargs or {}))
    for execution, capture in zip(executions, captures, strict=True):
        assert capture.completed, (execution, capture.error)
        assert capture.findings == (), execution
        assert output_types(capture) == list(types_in(output)), execution
        assert sequence(capture) == sequence(captures[-1]), execution
        assert decode(encode(capture.record)) == capture.record, execution
    assert ran in (None, captures[0].execution), captures[0].unchecked
    return captures[0]


def sequence(capture: Capture) -> list[tuple[str, str, int, list[Type]]]:
    """Every op with its module's path, the number of the call it ran in, and its outputs' types."""
    return [(op.name, op.module, op.call, [(t.shape, t.dtype) for t in op.outputs]) for op in capture.ops]


def places(capture: Capture) -> list[tuple[str, str]]:
    """Every op's name without its home, and its module's path."""
    return [(op.name.rpartition(".")[2], op.module) for op in capture.ops]


def output_types(capture: Capture) -> list[Type]:
    """Types of the tensors among what forward gave."""
    return [(row.shape, row.dtype) for row in (capture.tensors[end.tensor] for end in capture.outputs if end.tensor >= 0)]


def types_in(value: Any) -> Iterator[Type]:
    """Types of the tensors in a plain run's output, in order."""
    if isinstance(value, torch.Tensor):
        yield type_of(value)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from types_in(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from types_in(item)
    elif is_dataclass(value):
        for field in fields(value):
            yield from types_in(getattr(value, field.name))


def type_of(tensor: torch.Tensor) -> Type:
    """Shape and dtype; the ragged axis of a nested tensor counts as 0."""
    sizes = [len({part.size(axis) for part in tensor.unbind()}) for axis in range(tensor.dim() - 1)] if tensor.is_nested else []
    ragged = {axis + 1 for axis, different in enumerate(sizes) if different > 1}
    shape = tuple(0 if axis in ragged else tensor.size(axis) for axis in range(tensor.dim()))
    return shape, str(tensor.dtype).removeprefix("torch.")
