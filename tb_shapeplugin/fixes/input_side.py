"""The picture, or signal, that a model was drawn for: its argument resized to the side at which the failing call would run."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from tb_shapeplugin.analyse.origins.fitting_sizes import roundest
from tb_shapeplugin.fixes.adaptation import Adaptation, resampled
from tb_shapeplugin.fixes.delivery import at_input, shown_input
from tb_shapeplugin.fixes.situation import Candidate, Situation
from tb_shapeplugin.record.values import Shape

_KINDS = ("linear_in_features", "conv_kernel", "divisible", "broadcast", "cat", "view_numel", "loss_target_shape")
_USUAL_SIDES = (28, 32, 64, 96, 128, 160, 192, 224, 256, 299, 320, 384, 448, 512, 1024, 8000, 16000)
_MOST_RULES = 20_000  # times that all sides together may ask one
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


def _fitting_sides(situation: Situation, tensor: int, shape: Shape) -> Shape | None:
    replay = situation.replay
    if not replay.possible:
        return None
    spatial = len(shape) - 2
    most = replay.asked + _MOST_RULES

    def runs(side: int) -> bool:
        sides = (side,) * spatial
        return side > 0 and sides != shape[2:] and replay.asked < most and _would_run(situation, {tensor: (*shape[:2], *sides)})

    first = next((side for side in sides_near(max(shape[2:]), _MOST_SIDES) if runs(side)), None)
    return None if first is None else (roundest(first, runs),) * spatial


def _would_run(situation: Situation, given: Mapping[int, Shape]) -> bool:
    divisor = situation.finding.want.get("multiple_of", 0)
    if situation.kind != "divisible" or not divisor:
        return situation.replay.runs(given)
    after = situation.replay.shapes(given) or {}  # the sizes in the call may have been computed from the shape
    marks = [mark for mark in situation.finding.marks if mark.tensor in after]
    return bool(marks) and all(size % divisor == 0 for mark in marks for size in after[mark.tensor][mark.dim :])
