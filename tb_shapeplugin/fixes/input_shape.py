"""The model's arguments given another shape: an axis too many, too few or in the wrong place, labels as one-hot rows or colours."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

from tb_shapeplugin.fixes.adaptation import Adaptation, adaptations, aligned, cropped, keeps_order, repeated, reshaped
from tb_shapeplugin.fixes.delivery import at_input
from tb_shapeplugin.fixes.inserted_step import LEVELLING, favoured, sensible
from tb_shapeplugin.fixes.situation import Candidate, Situation, with_shape
from tb_shapeplugin.ops.axes import TAKEN_APART
from tb_shapeplugin.ops.reading import product
from tb_shapeplugin.record.values import Operand, Shape

_KINDS = frozenset(
    "rank conv_channels conv_kernel linear_in_features norm_features broadcast mask_shape loss_target_shape attn_layout "  # noqa: SIM905  as words
    "matmul_dims rnn_input rnn_state seq_lengths index_shape view_numel norm_batch_one cat".split()
)
_OF_AXES = ("transpose", "permute")  # steps that lose nothing, wherever the failing call stands
_MOST_COPIES = 4  # channels that a grey picture is repeated to
_PICTURE = 4  # axes
_CHANNELS = ("in_channels", "num_channels")
_USUAL_CHANNELS = (3, 1)
_FAR = 1.0  # effort of taking away an axis that the failing call doesn't see
_MOST = 6  # of each argument


def input_shape(situation: Situation) -> Iterator[Candidate]:
    """Each argument that the failing call's operands come from, changed by one step that the call would take."""
    if situation.kind not in _KINDS:
        return
    for operand in _operands(situation):
        for tensor in situation.upstream(operand.id):
            name = situation.input_name(tensor)
            if name is None:
                continue
            shape = situation.trace.tensors[tensor].shape
            steps = sorted(_steps(situation, operand, tensor, shape), key=lambda step: step.effort)
            for step in steps[:_MOST]:
                yield at_input(name, step, step.effort + _distance(situation, operand.id == tensor, step))


def _distance(situation: Situation, at_hand: bool, step: Adaptation) -> float:
    """What is added to an effort for an argument that the operand was computed from; a batch axis is forgotten there rather than here."""
    if at_hand:
        return 0.0
    if situation.kind == "rank":
        return -0.1 if step.operation == "unsqueeze" and step.arguments["dim"] == 0 else 0.0
    return 0.15


def _operands(situation: Situation) -> list[Operand]:
    unique = {operand.id: operand for operand in situation.call.operands() if operand.kind not in ("parameter", "buffer")}
    first = situation.clash.operand if situation.clash else -1
    return sorted(unique.values(), key=lambda operand: operand.id != first)


def _steps(situation: Situation, operand: Operand, tensor: int, shape: Shape) -> Iterator[Adaptation]:
    """The steps on an argument after which the operand fits; where it was computed in between, only what is sure to keep its rank."""
    tensors = situation.trace.tensors
    if shape == operand.shape:
        twins = [o for o in _operands(situation) if o.shape == shape and tensor in situation.upstream(o.id)]
        for step in (*adaptations(shape), *_towards_others(situation, operand)):
            if not sensible(situation, operand, step):
                continue
            if situation.fits(*(with_shape(twin, step.shape) for twin in twins)) and _right_rank(situation, step):
                yield favoured(situation, operand, step)
        yield from _counted(situation, operand)
        yield from _picture(situation, operand)
    elif situation.kind == "loss_target_shape" and operand.dtype == "int64" and tensors[tensor].dtype == "int64":
        yield from _class_numbers(shape)
    elif situation.kind == "rank" and situation.replay.possible:
        steps = (step for step in adaptations(shape) if step.operation != "select")
        yield from (step for step in steps if _would_run(situation, operand, {tensor: step.shape}))
    elif situation.kind == "rank" and len(shape) == operand.ndim:
        yield from (step for step in adaptations(shape) if _right_rank(situation, step) and step.operation != "select")
    elif situation.kind != "rank":
        yield from (replace(step, effort=_FAR) for step in adaptations(shape) if _drops_an_end(shape, step))
        if situation.replay.possible:
            ordered = (step for step in adaptations(shape) if step.operation in _OF_AXES)
            yield from (step for step in ordered if situation.replay.runs({tensor: step.shape}))
            if situation.replay.lacks_batch() and situation.replay.runs({tensor: (1, *shape)}):
                yield Adaptation("unsqueeze", {"dim": 0}, (1, *shape), "unsqueeze(0)", 0.8)
    if situation.kind == "loss_target_shape" and tensors[tensor].dtype == "int64" and shape == operand.shape:
        yield from _class_numbers(shape)


def _would_run(situation: Situation, operand: Operand, shapes: Mapping[int, Shape]) -> bool:
    """Would the failing call run with those shapes? One that takes a shape apart does where the tensor then has as many axes."""
    if situation.call.name not in TAKEN_APART:
        return situation.replay.runs(shapes)
    after = situation.replay.shapes(shapes) or {}
    return len(after.get(operand.id, ())) == situation.finding.want.get("ndim", -1)


def _drops_an_end(shape: Shape, step: Adaptation) -> bool:
    """Does it take away an axis of length 1 behind, or before, all others? Tables and broadcasting let it pass, and fail far from it.

    Of two axes the first one is taken to be a batch of one sample.
    """
    dim = step.arguments.get("dim")
    return step.operation == "squeeze" and ((dim == 0 and len(shape) > 2) or dim == len(shape) - 1 > 0)


def _right_rank(situation: Situation, step: Adaptation) -> bool:
    want = situation.finding.want.get("ndim")
    if situation.call.name in TAKEN_APART and want is not None:
        return len(step.shape) == want
    return situation.kind != "rank" or want is None or situation.clash is not None or len(step.shape) == want


def _towards_others(situation: Situation, operand: Operand) -> Iterator[Adaptation]:
    """The shape of another operand with as many elements; its length, where that is shorter; its channels, where this one is grey."""
    for other in situation.call.operands():
        if other.id == operand.id:
            continue
        known = {step.shape for step in adaptations(operand.shape)}
        same = other.shape != operand.shape and product(other.shape) == operand.numel and other.ndim
        if same and other.shape not in known and keeps_order(operand.shape, other.shape):
            yield reshaped(other.shape, 0.7)
        if situation.kind in LEVELLING:
            yield from aligned(operand.shape, other.shape)
        if other.ndim == operand.ndim:
            differing = [dim for dim in range(other.ndim) if other.shape[dim] != operand.shape[dim]]
            if len(differing) == 1 and operand.shape[differing[0]] > other.shape[differing[0]] > 0:
                yield cropped(operand.shape, differing[0], other.shape[differing[0]], 1.8)
    clash = situation.clash
    want = next(iter(situation.finding.want.values()), 0)
    if clash is not None and clash.operand == operand.id and clash.dim >= 0 and operand.shape[clash.dim] == 1 and want > 1:
        yield repeated(operand.shape, clash.dim, want, 1.2 if want <= _MOST_COPIES else 1.8)


def _counted(situation: Situation, operand: Operand) -> Iterator[Adaptation]:
    """A list that is as long as the batch should be."""
    got, want = situation.finding.got, situation.finding.want
    lengths, batch = got.get("lengths", 0), want.get("batch", 0)
    if situation.kind == "seq_lengths" and 0 < batch < lengths and operand.shape == (lengths,):
        yield cropped(operand.shape, 0, batch, 1.5)


def _picture(situation: Situation, operand: Operand) -> Iterator[Adaptation]:
    """Rows in front of a convolution, or of code that takes four axes apart, as the square pictures that they were."""
    if situation.kind != "rank" or operand.ndim != 2:
        return
    for channels in _channels(situation):
        side = math.isqrt(operand.shape[1] // channels)
        if side > 1 and channels * side * side == operand.shape[1]:
            yield reshaped((operand.shape[0], channels, side, side), 0.8)


def _channels(situation: Situation) -> Iterator[int]:
    weight = situation.call.operand(1, "weight")
    if weight is not None and weight.ndim == _PICTURE:
        yield weight.shape[1] * situation.call.integer(6, "groups", 1)
    if situation.call.name in TAKEN_APART and situation.finding.want.get("ndim") == _PICTURE:
        index = situation.failure.module
        inside = (module for at, module in enumerate(situation.trace.modules) if index in (at, module.parent))
        named = (module.attributes.get(name) for module in inside for name in _CHANNELS)
        yield from dict.fromkeys((*(size for size in named if isinstance(size, int) and size > 0), *_USUAL_CHANNELS))


def _class_numbers(shape: Shape) -> Iterator[Adaptation]:
    """Class numbers out of one-hot rows, or out of a mask that was read in colour."""
    for dim in dict.fromkeys((1, len(shape) - 1)):
        if 0 < dim < len(shape) and shape[dim] > 1:
            after = (*shape[:dim], *shape[dim + 1 :])
            yield Adaptation("argmax", {"dim": dim}, after, f"argmax({dim})", 0.8 if len(shape) == 2 else 1.2)
    yield from (step for step in adaptations(shape) if step.operation in ("select", "squeeze"))
