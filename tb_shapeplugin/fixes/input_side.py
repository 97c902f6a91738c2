"""The picture, or signal, that a model was drawn for: its argument resized to the side at which the failing call would run."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from tb_shapeplugin.analyse.origins.recalled import operand_of, recalled
from tb_shapeplugin.fixes.adaptation import Adaptation, resampled
from tb_shapeplugin.fixes.delivery import at_input, shown_input
from tb_shapeplugin.fixes.situation import Candidate, Situation, with_operands, with_shape
from tb_shapeplugin.ops.reading import product
from tb_shapeplugin.ops.rules import gives
from tb_shapeplugin.record.trace import OpFact
from tb_shapeplugin.record.values import OpCall, Shape

_KINDS = ("linear_in_features", "conv_kernel", "divisible", "broadcast", "cat", "view_numel", "loss_target_shape")
_USUAL_SIDES = (28, 32, 64, 96, 128, 160, 192, 224, 256, 299, 320, 384, 448, 512, 1024, 8000, 16000)
_MOST_RULES = 20_000  # that all sides together may ask
_MOST_SIDES = 128
_ROUNDEST = 4  # halvings of a side that count in its favour


def input_side(situation: Situation) -> Iterator[Candidate]:
    """The first argument that the wrong number comes from, with all its sides alike."""
    clash = situation.clash
    if clash is None or situation.kind not in _KINDS:
        return
    for tensor in situation.upstream(clash.operand):
        name, fact = situation.input_name(tensor), situation.trace.tensors[tensor]
        if name is None or not fact.dtype.startswith(("float", "bfloat")) or len(fact.shape) not in (3, 4, 5):
            continue
        sides = _fitting_sides(situation, tensor, fact.shape)
        if sides is not None:
            yield _of_side(situation, name, resampled(fact.shape, sides, 1.3))
        return


def _of_side(situation: Situation, name: str | int, step: Adaptation) -> Candidate:
    """The input in that size: people pass another picture rather than resample this one, which the change has to do."""
    candidate = at_input(name, step, step.effort)
    only = sum(endpoint.tensor >= 0 for endpoint in situation.trace.inputs) == 1
    sides = "×".join(map(str, step.shape[2:]))
    text = f"{'input' if only else shown_input(name)} {sides}"
    return replace(candidate, fix=replace(candidate.fix, text=text, cost=f"here resampled: {candidate.fix.text}"))


def sides_near(now: int, most: int) -> list[int]:
    """Sides to try: near ones first, round ones rather than odd ones, then those that pictures usually have.

    Example:
        >>> sides_near(30, 3)
        [32, 30, 28]
    """

    def strangeness(side: int) -> float:
        halvings = (side & -side).bit_length() - 1
        return abs(side - now) - 1.5 * min(halvings, _ROUNDEST)

    near = sorted(range(max(1, now - _MOST_SIDES // 2), now + _MOST_SIDES // 2), key=strangeness)
    usual = [side for side in sorted(_USUAL_SIDES, key=lambda side: abs(side - now)) if side not in near]
    return [*near[: most - min(len(usual), most // 4)], *usual][:most]


@dataclass(frozen=True, slots=True)
class _Stage:
    """An op on the way from the argument to the failing call, and which of its rule's alternatives came true."""

    op: OpFact
    call: OpCall
    choice: int


def _fitting_sides(situation: Situation, tensor: int, shape: Shape) -> Shape | None:
    stages = _stages(situation, tensor)
    if stages is None:
        return None
    spatial = len(shape) - 2

    def runs(side: int) -> bool:
        sides = (side,) * spatial
        return side > 0 and sides != shape[2:] and _would_run(situation, stages, tensor, (*shape[:2], *sides))

    most = min(_MOST_SIDES, _MOST_RULES // (len(stages) + 1))
    first = next((side for side in sides_near(max(shape[2:]), most) if runs(side)), None)
    return None if first is None else (roundest(first, runs, most),) * spatial


def roundest(side: int, runs: Callable[[int], bool], most: int) -> int:
    """Of the sides around one that run as well, because what divides them drops a remainder, the one that halves most often.

    Example:
        >>> roundest(30, lambda side: 28 <= side < 32, 100)
        28
    """
    alike = [side]
    for step in (-1, 1):
        other = side + step
        while len(alike) < most and runs(other):
            alike.append(other)
            other += step
    return max(alike, key=lambda other: (other & -other, -abs(other - side)))


def _stages(situation: Situation, tensor: int) -> list[_Stage] | None:
    """The ops that the argument passes through, None where some op's sizes can't be followed."""
    trace = situation.trace
    reached, stages = {tensor}, []
    for op in trace.ops[: situation.failure.op]:
        if not reached.intersection(op.inputs):
            continue
        call = recalled(op, trace)
        came_true = tuple(trace.tensors[output].shape for output in op.outputs)
        choice = next((at for at, outputs in enumerate(gives(call)) if outputs == came_true), None)
        if choice is None:
            return None
        reached.update(op.outputs)
        stages.append(_Stage(op, call, choice))
    return stages


def _would_run(situation: Situation, stages: Iterable[_Stage], tensor: int, shape: Shape) -> bool:
    """Does the failing call run once this argument has that shape, as far as the rules can follow?"""
    shapes: dict[int, Shape] = {tensor: shape}
    for stage in stages:
        changed = {i: with_shape(operand_of(i, situation.trace), shapes[i]) for i in stage.op.inputs if i in shapes}
        after = gives(with_operands(stage.call, changed))
        if stage.choice >= len(after) or len(after[stage.choice]) != len(stage.op.outputs) or min(map(product, after[stage.choice])) < 1:
            return False
        shapes.update(zip(stage.op.outputs, after[stage.choice], strict=True))
    marks = [mark for mark in situation.finding.marks if mark.tensor in shapes]
    divisor = situation.finding.want.get("multiple_of", 0)
    if situation.kind == "divisible" and marks and divisor:  # the sizes in the call may have been computed from the shape
        return all(size % divisor == 0 for mark in marks for size in shapes[mark.tensor][mark.dim :])
    operands = [with_shape(operand, shapes[operand.id]) for operand in situation.call.operands() if operand.id in shapes]
    return bool(operands) and situation.fits(*operands)
