"""An input that the code itself refuses for its shape: the axis, the channels or the side that its check asks for."""

import math
import re
from collections.abc import Iterator

from tb_shapeplugin.fixes.adaptation import Adaptation, adaptations, repeated, resampled, reshaped
from tb_shapeplugin.fixes.delivery import at_input
from tb_shapeplugin.fixes.situation import Candidate, Situation, is_layer
from tb_shapeplugin.record.values import Shape

KIND = "user_error"
_SPEAKS_OF_SIZES = re.compile(r"shape|size|dim|channel|width|height|length|batch|rank|axes|axis|resolution", re.IGNORECASE)
_SPEAKS_OF_A_SIDE = re.compile(r"image size|width|height|resolution", re.IGNORECASE)
_IN_SIDES = ("in_channels", "in_features", "num_features", "num_channels", "input_size")
_MAP_AXES = 4
_MOST = 10


def checked_input(situation: Situation) -> Iterator[Candidate]:
    """Steps on an argument of the model that the raising module is given. They keep what it holds, so that a check of values
    raises as before: with a run that completes, it was a check of sizes. Resampled it is only where the code speaks of a side.
    """
    call = situation.module_call
    if situation.kind != KIND or call is None or not _SPEAKS_OF_SIZES.search(situation.failure.message):
        return
    asked = _asked_for(situation)
    of_a_side = _SPEAKS_OF_A_SIDE.search(situation.failure.message) is not None
    for tensor in dict.fromkeys(call.inputs):
        shape = situation.trace.tensors[tensor].shape
        names = (situation.input_name(source) for source in situation.upstream(tensor) if situation.trace.tensors[source].shape == shape)
        name = next((name for name in names if name is not None), None)
        if name is not None and shape:
            steps = [*_steps(shape, asked), *(_resampled(shape, asked) if of_a_side else ())]
            yield from (at_input(name, step, step.effort) for step in sorted(steps, key=lambda step: step.effort)[:_MOST])


def _asked_for(situation: Situation) -> tuple[int, ...]:
    """The numbers that the check may compare with: the module's own, and what the layers in it take."""
    index = situation.failure.module
    found: list[int] = []
    for at, module in enumerate(situation.trace.modules):
        if at == index and not is_layer(module):
            values = [value if isinstance(value, tuple) else (value,) for value in module.attributes.values()]
            found += [size for value in values for size in value if isinstance(size, int) and not isinstance(size, bool)]
        elif module.parent == index:
            found += [value for name in _IN_SIDES if isinstance(value := module.attributes.get(name), int)]
    return tuple(dict.fromkeys(size for size in found if size > 1))


def _steps(shape: Shape, asked: tuple[int, ...]) -> Iterator[Adaptation]:
    yield from (step for step in adaptations(shape) if step.operation in ("unsqueeze", "squeeze"))
    yield from (step for step in adaptations(shape) if step.operation == "permute" and step.shape[-3] in asked)
    yield from (repeated(shape, dim, size, 1.0) for dim, own in enumerate(shape) if own == 1 and dim for size in asked)
    for channels in asked if len(shape) == 2 else ():
        side = math.isqrt(shape[1] // channels)
        if side > 1 and channels * side * side == shape[1]:
            yield reshaped((shape[0], channels, side, side), 0.8)


def _resampled(shape: Shape, asked: tuple[int, ...]) -> Iterator[Adaptation]:
    if len(shape) == _MAP_AXES:
        yield from (resampled(shape, (side, side), 1.3) for side in asked if (side, side) != shape[2:])
