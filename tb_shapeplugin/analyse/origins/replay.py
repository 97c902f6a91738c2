"""The ops before a failing call gone through again with other input shapes, by the rules alone: would the call run then?"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from tb_shapeplugin.analyse.origins.recalled import recalled, with_shapes
from tb_shapeplugin.analyse.origins.recurrences import is_recurrence, recurrence_outputs
from tb_shapeplugin.analyse.origins.reshaping import runs
from tb_shapeplugin.analyse.origins.stated import module_of
from tb_shapeplugin.ops.reading import product
from tb_shapeplugin.ops.rules import gives, requires
from tb_shapeplugin.record.trace import Failure, ModuleFact, OpFact, TensorFact, Trace
from tb_shapeplugin.record.values import Opaque, OpCall, Shape, Value

_RESHAPING = ("view", "reshape")
_SIZED = (  # ops that are told sizes, rather than strides and the like
    *("view", "reshape", "unflatten", "expand", "broadcast_to", "repeat", "interpolate", "__getitem__", "narrow", "zeros", "ones", "empty"),
    *("full", "rand", "randn", "arange", "new_zeros", "new_ones", "new_empty", "new_full"),
)
_NUMBER = re.compile(r"(?<![\w%.-])\d+\b(?!\.)")
_WINDOWS = re.compile(r"(?:conv|pool)\D*(\d)d$")
_TURNING = ("permute", "transpose", "swapaxes", "swapdims", "movedim")
_MOST_OPS = 1_500  # between input and failing call that are followed


@dataclass(frozen=True, slots=True)
class _Stage:
    """An op on the way: its call, and which of its rule's alternatives came true (-1: no rule follows it).

    ``read`` are the numbers among its arguments that its statement doesn't spell out: read off a tensor, most likely.
    """

    op: OpFact
    call: OpCall
    choice: int
    read: frozenset[int]
    likeness: object  # equal for ops that give the same for the same


class Replay:
    """A failing call and the ops that it depends on.

    Example:
        >>> Replay(trace, failure).runs({0: (4, 1, 32, 32)})
        True
    """

    def __init__(self, trace: Trace, failure: Failure) -> None:
        self._trace = trace
        self._failure = failure
        self._way, whole = _way(trace, failure)
        self._stages = self._way if whole else None
        self._attributes = trace.modules[failure.module].attributes if failure.module >= 0 else None
        op = trace.ops[failure.op]
        self._read = _read_off(trace, op, failure.call.short_name)
        self._answers: dict[object, tuple[Shape, ...] | None] = {}
        self.asked = 0  # how often a rule was asked: what a replay costs

    @property
    def possible(self) -> bool:
        """Can the way be followed from the inputs on? Not where it leads through an assumed tensor."""
        return self._stages is not None

    def inputs(self) -> tuple[int, ...]:
        """The model's inputs that the failing call depends on, in order."""
        reached = {tensor for stage in self._stages or () for tensor in stage.op.inputs}
        reached.update(operand.id for operand in self._failure.call.operands())
        return tuple(endpoint.tensor for endpoint in self._trace.inputs if endpoint.tensor in reached)

    def lacks_batch(self) -> bool:
        """Does some convolution or pool on the way get a map without a batch axis, or a flatten leave the first axis alone?"""
        for stage in self._stages or ():
            if stage.call.short_name == "flatten" and stage.call.get(1, "start_dim") == 1:
                return True
            found = _WINDOWS.search(stage.op.name)
            if found and len(self._trace.tensors[stage.op.inputs[0]].shape) == int(found[1]) + 1:
                return True
        return False

    def windowed(self) -> bool:
        """Does some convolution or pool stand on the way?"""
        return any(_WINDOWS.search(stage.op.name) for stage in self._stages or ())

    def first_two_swapped(self) -> str:
        """The op on the way that exchanges the first two axes, with its place; "" where none does."""
        for stage in self._stages or ():
            operands = stage.call.operands()
            turned = stage.op.name.rpartition(".")[2] in _TURNING and len(operands) == 1 and operands[0].ndim > 1
            if turned and stage.choice >= 0 and self._trace.tensors[stage.op.outputs[0]].shape == _exchanged(operands[0].shape):
                source = self._trace.sources[stage.op.source] if stage.op.source >= 0 else None
                return stage.call.short_name + (f" of {source.file}:{source.line}" if source else "")
        return ""

    def runs(self, shapes: Mapping[int, Shape]) -> bool:
        """Would the failing call run with these shapes of given tensors, as far as the rules can follow?"""
        after = self.shapes(shapes)
        return after is not None and requires(self._call(after, self._renamed(shapes)), self._attributes) is None

    def shapes(self, given: Mapping[int, Shape]) -> dict[int, Shape] | None:
        """The shapes of all tensors that change; None where an op on the way wouldn't run, or nobody can tell what it gives.

        Tensors before an assumed one change nothing: what was assumed stays.
        """
        changed = dict(given)
        renamed = self._renamed(given)
        for stage in self._way or ():
            if not any(tensor in changed for tensor in stage.op.inputs) and stage.read.isdisjoint(renamed):
                continue
            after = self._answer(stage, changed, renamed)
            if after is None:
                return None
            changed.update(zip(stage.op.outputs, after, strict=True))
        return changed

    def _renamed(self, given: Mapping[int, Shape]) -> dict[int, int]:
        """Sizes of the given tensors that change, and into what: numbers that the code read off them change with them.

        Where only the order of the axes changes they are the same numbers.
        """
        pairs: dict[int, set[int]] = {}
        for tensor, shape in given.items():
            before = self._trace.tensors[tensor].shape
            if sorted(before) == sorted(shape):
                continue
            for old, new in zip(before, shape, strict=False) if len(before) == len(shape) else ():
                pairs.setdefault(old, set()).add(new)
        return {old: next(iter(new)) for old, new in pairs.items() if old > 1 and len(new) == 1 and new != {old}}

    def trace_with(self, shapes: Mapping[int, Shape]) -> Trace:
        """The trace with those tensors of those shapes."""
        tensors: list[TensorFact] = list(self._trace.tensors)
        for tensor, shape in shapes.items():
            tensors[tensor] = replace(tensors[tensor], shape=shape)
        return replace(self._trace, tensors=tuple(tensors))

    def _call(self, changed: Mapping[int, Shape], renamed: Mapping[int, int]) -> OpCall:
        """The failing call with those shapes; a view or expand told sizes that were read off a tensor is told others."""
        read = {old: new for old, new in renamed.items() if old in self._read}
        return with_shapes(_with_numbers(self._failure.call, read), changed)

    def _answer(self, stage: _Stage, changed: Mapping[int, Shape], renamed: Mapping[int, int]) -> tuple[Shape, ...] | None:
        """What the op gives; equal ops of equal shapes, as equal blocks have them, are asked once."""
        now = tuple(changed.get(tensor) for tensor in stage.op.inputs)
        key = (stage.likeness, now, *renamed.items())
        if key not in self._answers:
            self.asked += 1
            self._answers[key] = self._outputs(stage, changed, renamed)
        return self._answers[key]

    def _outputs(self, stage: _Stage, changed: Mapping[int, Shape], renamed: Mapping[int, int]) -> tuple[Shape, ...] | None:
        before = tuple(self._trace.tensors[output].shape for output in stage.op.outputs)
        if not stage.op.inputs:
            return tuple(tuple(renamed.get(size, size) if size in stage.read else size for size in shape) for shape in before)
        if stage.choice < 0:
            return self._unknown(stage, before, changed)
        read = {old: new for old, new in renamed.items() if old in stage.read}
        call = _retargeted(with_shapes(_with_numbers(stage.call, read), changed), stage, self._trace)
        if call is None or requires(call) is not None:
            return None
        after = gives(call)
        if stage.choice >= len(after) or len(after[stage.choice]) != len(before):
            return None
        return after[stage.choice] if all(product(shape) > 0 for shape in after[stage.choice]) else None

    def _unknown(self, stage: _Stage, before: tuple[Shape, ...], changed: Mapping[int, Shape]) -> tuple[Shape, ...] | None:
        """What an op gives that no rule follows: what looks like its first operand goes on looking like it."""
        first = stage.op.inputs[0]
        was = self._trace.tensors[first].shape
        now = changed.get(first, was)
        if is_recurrence(stage.op):
            return recurrence_outputs(self._trace, stage.op, now)
        return tuple(now if shape == was else shape for shape in before) if before and before[0] == was else None


def _way(trace: Trace, failure: Failure) -> tuple[tuple[_Stage, ...] | None, bool]:
    """The ops that the failing call depends on, in order, None for too many; and whether they are all, none of them a failed one."""
    needed = {operand.id for operand in failure.call.operands()}
    found: list[OpFact] = []
    whole = True
    for index in range(failure.op - 1, -1, -1):
        op = trace.ops[index]
        if needed.isdisjoint(op.outputs):
            continue
        if op.failed:
            whole = False
            continue
        if len(found) >= _MOST_OPS:
            return None, False
        needed.update(op.inputs)
        found.append(op)
    return tuple(_stage(trace, op) for op in reversed(found)), whole


def _stage(trace: Trace, op: OpFact) -> _Stage:
    call = recalled(op, trace)
    came_true = tuple(trace.tensors[output].shape for output in op.outputs)
    choice = next((at for at, outputs in enumerate(gives(call)) if outputs == came_true), -1)
    code = trace.sources[op.source].code if op.source >= 0 else ""
    likeness = (op.name, op.arguments, code, tuple(trace.tensors[tensor].shape for tensor in (*op.inputs, *op.outputs)))
    return _Stage(op, call, choice, _read_off(trace, op, call.short_name), likeness)


def _read_off(trace: Trace, op: OpFact, short: str) -> frozenset[int]:
    """The sizes among a call's arguments that its statement doesn't spell out: read off a tensor, most likely."""
    if short not in _SIZED:
        return frozenset()
    code = trace.sources[op.source].code if op.source >= 0 else ""
    module = module_of(trace, op)
    stated = {int(found) for _, text in op.arguments for found in _NUMBER.findall(text)}
    return frozenset(size for size in stated if not _written(size, code, module))


def _retargeted(call: OpCall, stage: _Stage, trace: Trace) -> OpCall | None:
    """A view whose stated sizes were read off a tensor states other ones now; those written down in the code stay. None: nobody knows."""
    if call.short_name not in _RESHAPING or len(stage.op.outputs) != 1:
        return call
    x = call.operands()[0]
    before, target = trace.tensors[x.id].shape, trace.tensors[stage.op.outputs[0]].shape
    if x.shape == before:
        return call
    literal = _literal_sizes(call)
    if literal is None or len(literal) != len(target):
        return None
    if len(x.shape) != len(before):  # x.view(x.size(0), -1) counts axes from the front
        return OpCall(call.name, (x, tuple(_counted(literal, before, x.shape, stage))))
    sizes: list[int] = []
    for first, end, first_after, end_after in runs(before, target):
        stated = literal[first_after:end_after]
        sizes += _sizes_of_run(before[first:end], x.shape[first:end], stated, target[first_after:end_after], stage)
    return OpCall(call.name, (x, tuple(sizes)))


def _counted(literal: Shape, before: Shape, now: Shape, stage: _Stage) -> Iterator[int]:
    for at, size in enumerate(literal):
        read = at < min(len(before), len(now)) and size == before[at] and size in stage.read
        yield now[at] if read else size


def _sizes_of_run(old: Shape, new: Shape, literal: Shape, target: Shape, stage: _Stage) -> Shape:
    if old == new or -1 in literal or not stage.read.issuperset(target):
        return literal
    whole, rest = product(new), product(target[1:])
    if len(literal) == 1:
        return (whole,)
    return (whole // rest, *target[1:]) if rest and whole % rest == 0 else literal


def _exchanged(shape: Shape) -> Shape:
    return (shape[1], shape[0], *shape[2:])


def _literal_sizes(call: OpCall) -> Shape | None:
    given = call.args[1:] or tuple(value for name, value in call.kwargs.items() if name in ("size", "shape"))
    sizes = given[0] if len(given) == 1 and isinstance(given[0], tuple) else given
    found = tuple(size for size in sizes if isinstance(size, int))
    return found if len(found) == len(sizes) else None


def _written(size: int, code: str, module: ModuleFact | None) -> bool:
    """Does the statement hold that number, or name an attribute that holds it?"""
    if re.search(rf"\b{size}\b", code):
        return True
    attributes = module.attributes if module else {}
    return any(value == size and re.search(rf"\bself\.{re.escape(name)}\b", code) for name, value in attributes.items())


def _with_numbers(call: OpCall, numbers: Mapping[int, int]) -> OpCall:
    """The call with other numbers among its arguments, those of slices too."""

    def change(value: Value) -> Value:
        if isinstance(value, Opaque) and value.type == "slice":
            return Opaque(value.type, _NUMBER.sub(lambda found: str(numbers.get(int(found[0]), found[0])), value.text))
        if isinstance(value, int) and not isinstance(value, bool):
            return numbers.get(value, value)
        return tuple(map(change, value)) if isinstance(value, tuple) else value

    if not numbers:
        return call
    return OpCall(call.name, tuple(map(change, call.args)), {name: change(value) for name, value in call.kwargs.items()})
