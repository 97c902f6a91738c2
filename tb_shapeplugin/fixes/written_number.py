"""Another number in a call that the user wrote, the failing one or one before: an axis, an order of axes, a size, a count of pieces."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TypeAlias

from tb_shapeplugin.fixes.situation import Candidate, Situation
from tb_shapeplugin.fixes.written_call import Number, WrittenCall, as_written, first_shape
from tb_shapeplugin.ops.rule import Outputs
from tb_shapeplugin.ops.rules import gives, requires
from tb_shapeplugin.record.finding import Fix
from tb_shapeplugin.record.values import OpCall, Shape

Values: TypeAlias = Mapping[Number, int]

_NO_SHAPES = frozenset(("dtype", "device", "index_range", "loss_target_range", "norm_batch_one", "state_dict", "call_signature"))
_ADDS_AN_AXIS = ("unsqueeze", "stack")
_DISTINCT = ("permute", "transpose", "swapaxes", "sum", "mean", "amax", "amin", "std", "var", "norm", "flip", "squeeze")  # each axis once
_SIZED = ("view", "reshape")  # calls of which the sizes follow from the elements: another kind finds them
_OF_SIZES = (*_SIZED, "expand")
_MOST_SWAPPED = 5  # numbers of which each two are tried in each other's place
_SMALL = 8  # counts, strides and widths up to which are tried
_MOST_ASKED = 4_000  # times that a rule may be asked on the way to the failing call
_MOST = 6  # candidates of one call
_UPSTREAM = 0.2  # effort that a call before the failing one adds
_COMPUTED = 0.1  # and a number that isn't spelled out in the code
_BATCH_MOVED = 0.5  # and taking the batch from its place; bringing it back there takes that off
_OTHERWISE = 0.15  # and an output of another shape than the one that the run went on with


def written_number(situation: Situation) -> Iterator[Candidate]:
    """Calls of the user's own code, each with the one number, or the two swapped ones, after which the failing call would run."""
    if situation.kind in _NO_SHAPES or situation.call.name.endswith(".__init__"):
        return
    if situation.call.name == "python.unpack":
        yield from _unpacked(situation)
    elif not situation.in_torchs_code and not situation.call.name.startswith("python."):
        yield from _in_the_call(situation)
    yield from _before(situation)


def _in_the_call(situation: Situation) -> Iterator[Candidate]:
    written = as_written(situation, situation.op)
    if written is None or written.call.short_name in _SIZED:
        return
    went_on = tuple(situation.trace.tensors[output].shape for output in situation.op.outputs)
    found: list[Candidate] = []
    for values in _others(situation, written):
        outputs = _outputs(written.with_numbers(values))
        if outputs:
            otherwise = _OTHERWISE if went_on and outputs != went_on else 0.0
            found.append(_candidate(situation, written, values, 0.9 + otherwise + _strangeness(situation, written, values, outputs)))
    yield from _best(found)


def _before(situation: Situation) -> Iterator[Candidate]:
    """The calls that the operands were computed by, nearest first."""
    replay = situation.replay
    most = replay.asked + _MOST_ASKED
    for op in situation.written_before():
        written = as_written(situation, op)
        found: list[Candidate] = []
        for values in _others(situation, written) if written is not None else ():
            outputs = _outputs(written.with_numbers(values)) if written else ()
            before = tuple(situation.trace.tensors[output].shape for output in op.outputs)
            if written is None or len(outputs) != len(before) or outputs == before or replay.asked > most:
                continue
            if replay.runs(dict(zip(op.outputs, outputs, strict=True))):
                effort = 1.0 + _UPSTREAM + _strangeness(situation, written, values, outputs)
                found.append(_candidate(situation, written, values, effort))
        yield from _best(found)


def _unpacked(situation: Situation) -> Iterator[Candidate]:
    """The call whose pieces are taken apart, made to give as many as there are names."""
    op, want = situation.last_before(), situation.call.get(1, "want")
    written = as_written(situation, op) if op is not None else None
    if op is None or written is None or not isinstance(want, int):
        return
    whole = first_shape(written.call) or ()
    found = []
    for values in _others(situation, written, (want, *(-(-size // want) for size in whole if want > 0))):
        outputs = _outputs(written.with_numbers(values))
        pieces = len(outputs) if len(outputs) != 1 or len(op.outputs) != 1 else outputs[0][0] if outputs[0] else 0
        if pieces == want:
            found.append(_candidate(situation, written, values, 0.9 + _strangeness(situation, written, values, outputs)))
    yield from _best(found)


def _others(situation: Situation, written: WrittenCall, sizes: tuple[int, ...] = ()) -> Iterator[Values]:
    """Other numbers for a call: each one by itself, and two of an order swapped."""
    shape, numbers = first_shape(written.call), written.numbers()
    if shape is None:
        return
    for number in numbers:
        tried = _axes(number, shape, written) if number.is_axis else _sizes(situation, number, shape, sizes)
        yield from ({number: value} for value in tried if value != number.value)
    if _may_be_swapped(written, numbers, shape):
        yield from ({one: other.value, other: one.value} for one, other in combinations(numbers, 2))


def _may_be_swapped(written: WrittenCall, numbers: Sequence[Number], shape: Shape) -> bool:
    """Do the numbers stand in an order that people get wrong: sizes of axes, or axes of which each is there?"""
    if written.call.short_name == "permute":
        return len({number.value % len(shape) for number in numbers}) == len(shape)
    return written.call.short_name in _OF_SIZES and len(numbers) <= _MOST_SWAPPED


def _axes(number: Number, shape: Shape, written: WrittenCall) -> Iterator[int]:
    """Axes that the tensor has, counted as the user counted them; none that the call names already."""
    short = written.call.short_name
    count = len(shape) + (short in _ADDS_AN_AXIS)
    others = [other for other in written.numbers() if other.is_axis and other != number] if short in _DISTINCT else []
    taken = {other.value % max(count, 1) for other in others}
    if -count <= number.value < count:
        taken.add(number.value % count)
    from_the_end = number.value < 0 and all(other.value < 0 for other in others)
    yield from (axis - count if from_the_end else axis for axis in range(count) if axis not in taken)


def _sizes(situation: Situation, number: Number, shape: Shape, sizes: tuple[int, ...]) -> Iterator[int]:
    named = (*sizes, *situation.finding.want.values(), *situation.finding.got.values(), *shape)
    others = (size for operand in situation.call.operands() for size in operand.shape)
    near = (number.value + step for step in (-1, 1, -2, 2))
    yield from dict.fromkeys(size for size in (*named, *others, *near, *range(_SMALL + 1)) if size >= 0)


def _outputs(call: OpCall) -> Outputs:
    """What the call would give, () where it wouldn't run or no rule knows."""
    if requires(call) is not None:
        return ()
    readings = gives(call)
    return readings[0] if readings and all(min(shape, default=1) > 0 for shape in readings[0]) else ()


def _strangeness(situation: Situation, written: WrittenCall, values: Values, outputs: Outputs) -> float:
    """What speaks against a change: numbers that were computed, that go far, that take the batch from its place rather than back."""
    computed = sum(_COMPUTED for number in values if not written.is_literal(number))
    far = min(0.1, sum(0.01 * abs(new - number.value) for number, new in values.items()))
    shape, batch = first_shape(written.call), situation.batch
    if not batch or not shape or not outputs or shape[0] != batch:
        return computed + far
    lost = outputs[0][:1] != (batch,)
    lost_already = any(situation.trace.tensors[output].shape[:1] != (batch,) for output in written.op.outputs)
    return computed + far + _BATCH_MOVED * (lost - lost_already)


def _candidate(situation: Situation, written: WrittenCall, values: Values, effort: float) -> Candidate:
    text = written.text(values)
    line = situation.trace.sources[written.op.source].line if written.op.source >= 0 else situation.finding.line
    where = f" in line {line}" if line != situation.finding.line else ""
    return Candidate(Fix(text + where, written.changes(situation, values)), effort, reshapes=True)


def _best(found: list[Candidate]) -> Iterator[Candidate]:
    yield from sorted(found, key=lambda candidate: candidate.effort)[:_MOST]
