"""What the input should have been: changes of one input's shape with which, by the rules, the failing call would run."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from tb_shapeplugin.analyse.origins.fitting_sizes import closest, reaching, required, roundest
from tb_shapeplugin.analyse.origins.passing import Dim
from tb_shapeplugin.analyse.origins.replay import Replay
from tb_shapeplugin.analyse.origins.walking import ends, walk
from tb_shapeplugin.base.units import shape_text
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace
from tb_shapeplugin.record.values import Shape

_MOST_INPUTS = 3  # that are put in question
_MOST_ASKED = 8_000  # times that a rule may be asked for one failure
_COLOURS = (1, 3, 4)
_CHANNEL_KINDS = ("conv_channels", "norm_features")
_ORDERED_KINDS = ("rnn_state", "mask_shape", "attn_layout", "loss_target_shape", "seq_lengths")
_STATES = ("rnn_state", "attn_layout")  # these compare widths, too
_LACKING_KINDS = ("rank", "norm_batch_one")
_BATCH_KINDS = (
    *(
        "linear_in_features",
        "view_numel",
        "broadcast",
        "rnn_state",
        "attn_layout",
        "cat",
        "mask_shape",
        "loss_target_shape",
        "matmul_dims",
        "index_shape",
    ),
)


@dataclass(frozen=True, slots=True)
class _Question:
    """A failure, and the input whose shape is put in question."""

    trace: Trace
    failure: Failure
    clash: Clash
    replay: Replay
    tensor: int

    @property
    def shape(self) -> Shape:
        return self.trace.tensors[self.tensor].shape

    @property
    def name(self) -> str:
        return self.trace.tensors[self.tensor].name or "the input"

    def runs(self, shape: Shape) -> bool:
        """Would it run with that shape, as far as the rules can follow and may be asked?"""
        if self.replay.asked > _MOST_ASKED:
            return False
        multiple = self.clash.want.get("multiple_of", 0) if self.clash.kind == "divisible" else 0
        if multiple and self.clash.dim >= 0:  # the sizes in the call may have been computed from the shape
            after = self.replay.shapes({self.tensor: shape})
            return after is not None and self.clash.operand in after and not self._left(after[self.clash.operand], multiple)
        return self.replay.runs({self.tensor: shape})

    def _left(self, shape: Shape, multiple: int) -> bool:
        return len(shape) <= self.clash.dim or shape[self.clash.dim] % multiple != 0

    @property
    def wanted(self) -> int:
        """The number that the call requires."""
        return next(iter(self.clash.want.values()), 0)

    def number(self, shape: Shape) -> int:
        """What the clashing dim would be, 0 where an op on the way wouldn't run."""
        after = self.replay.shapes({self.tensor: shape}) or {}
        found = after.get(self.clash.operand, ())
        return found[self.clash.dim] if self.clash.dim < len(found) else 0

    def sharing_batch(self) -> list[int]:
        """The other inputs with a first axis as long as this one's: it is the batch, then."""
        shapes = {tensor: self.trace.tensors[tensor].shape for tensor in self.replay.inputs() if tensor != self.tensor}
        return [tensor for tensor, shape in shapes.items() if shape[:1] == self.shape[:1]]

    def runs_batch(self, size: int) -> bool:
        """Would it run with that batch, in all inputs that share it?"""
        changed = {tensor: (size, *self.trace.tensors[tensor].shape[1:]) for tensor in (self.tensor, *self.sharing_batch())}
        return self.replay.asked <= _MOST_ASKED and self.replay.runs(changed)

    def at_once(self) -> bool:
        """Does the failing call take the input as it was given?"""
        return self.tensor in (self.clash.operand, self.clash.other)

    def is_length(self, dim: int) -> bool:
        """Is that dim a side or a length, rather than the batch, channels or features?"""
        if len(self.shape) > 3:
            return dim > 1 and (self.replay.windowed() or self.clash.kind == "divisible")
        last = dim == len(self.shape) - 1
        return dim > 0 and (not last or self.replay.windowed() or not self.trace.tensors[self.tensor].dtype.startswith(("float", "bfloat")))

    def is_own(self, dims: list[int]) -> bool:
        """Is the wrong number just what the input has at that dim?"""
        return any(self.shape[dim] in self.clash.got.values() for dim in dims)


class Hypotheses:
    """Other shapes for the model's inputs, tried on one failing call.

    Args:
        trace: the run.
        failure: what failed.
        clash: which requirement its operands break.
        at: the dim whose number is wrong, None where it is no dim's.

    Example:
        >>> Hypotheses(trace, failure, clash, Dim(9, 1)).of_sizes()
        '1176 = 6·14·14 is what 32×32 for x gives'
    """

    def __init__(self, trace: Trace, failure: Failure, clash: Clash, at: Dim | None) -> None:
        replay = Replay(trace, failure)
        asked = replay.inputs()[:_MOST_INPUTS] if replay.possible else ()
        self._questions = [_Question(trace, failure, clash, replay, tensor) for tensor in asked]
        self._reached = ends(trace, at) if at is not None and asked else ()

    def of_layout(self) -> str:
        """An input that lacks its batch axis, or has its channels last: the shape that would run, "" where none does."""
        return self._first(lambda question: (_batch_lacking(question), _channel_lacking(question), _channels_last(question)))

    def of_sizes(self) -> str:
        """An input with two axes swapped, of another batch, of other sides or another length."""
        return self._first(self._sized)

    def _first(self, ask: Callable[[_Question], Iterable[str]]) -> str:
        return next((told for question in self._questions for told in ask(question) if told), "")

    def _sized(self, question: _Question) -> Iterator[str]:
        dims = [end.dim for end in self._reached if end.tensor == question.tensor]
        yield _swapped(question)
        swallowed = len(dims) > 1 or question.clash.kind != "linear_in_features"  # a width is the batch's only as one of several factors
        if (0 in dims or "batch" in question.clash.got) and question.clash.kind in _BATCH_KINDS and swallowed:
            yield _other_batch(question)
        lengths = [dim for dim in dims if question.is_length(dim)]
        if lengths and question.clash.kind not in _CHANNEL_KINDS:
            yield _other_size(question, lengths)


def _batch_lacking(question: _Question) -> str:
    shape = question.shape
    got, want = question.clash.got.get("ndim", 0), question.clash.want.get("ndim", 0)
    if not 0 < len(shape) < 4 or (want and got + 1 != want) or question.sharing_batch():
        return ""
    suspicious = question.clash.kind in _LACKING_KINDS or question.replay.lacks_batch()
    return f"{question.name} has no batch axis: {shape_text((1, *shape))} runs" if suspicious and question.runs((1, *shape)) else ""


def _channel_lacking(question: _Question) -> str:
    shape = question.shape
    got, want = question.clash.got, question.clash.want
    if len(shape) < 2 or not (want.get("channels") == 1 or got.get("ndim", 0) + 1 == want.get("ndim", 0)):
        return ""
    widened = (shape[0], 1, *shape[1:])
    return f"{question.name} has no channel axis: {shape_text(widened)} runs" if question.runs(widened) else ""


def _channels_last(question: _Question) -> str:
    turned = next((turned for turned in _turned(question.shape, question.clash.kind) if question.runs(turned)), None)
    return f"{question.name} has its channels last: {shape_text(turned)} runs" if turned else ""


def _turned(shape: Shape, kind: str) -> Iterator[Shape]:
    """The shape with its last axis in the place of the channels: of pictures, one picture, a sequence."""
    if len(shape) == 4 and shape[3] in _COLOURS:
        yield (shape[0], shape[3], shape[1], shape[2])
    if len(shape) == 3 and shape[2] in _COLOURS:
        yield (shape[2], shape[0], shape[1])
    if len(shape) == 3 and kind in _CHANNEL_KINDS and shape[1] != shape[2]:
        yield (shape[0], shape[2], shape[1])


def _swapped(question: _Question) -> str:
    shape = question.shape
    kind, got = question.clash.kind, question.clash.got
    about_batch = kind in _ORDERED_KINDS and (kind not in _STATES or "batch" in got) and "ndim" not in got
    if len(shape) < 2 or shape[0] == shape[1] or not about_batch:
        return ""
    turned = (shape[1], shape[0], *shape[2:])
    if not question.runs(turned):
        return ""
    if turning := question.replay.first_two_swapped():
        return f"it runs without the {turning}"
    return f"{question.name} seems to have batch and time swapped: {shape_text(turned)} runs"


def _other_batch(question: _Question) -> str:
    """A batch size at which it works, where it doesn't at others."""
    batch = question.shape[0]
    if len(question.shape) < 2 or question.at_once():
        return ""
    wanted = [size for size in question.clash.want.values() if size < 1 << 20]
    made_for = question.clash.got.get("batch", 1)  # what a state, or a query, was made for
    tried = dict.fromkeys([1, made_for, *wanted, *(size * batch // got for size in wanted for got in question.clash.got.values() if got)])
    fitting = [size for size in tried if 0 < size != batch and question.runs_batch(size)]
    if not fitting or any(question.runs_batch(size) for size in (batch + 1, batch + 2, 2 * batch + 1) if size not in fitting):
        return ""
    return f"it works for a batch of {' or '.join(map(str, fitting))}, {question.name} holds {batch}"


def _other_size(question: _Question, dims: list[int]) -> str:
    """A requirement on the sides, or the length, of the input; else sides at which the call would run."""
    shape = question.shape
    spatial = len(shape) in (4, 5)
    chosen = list(range(2, len(shape))) if spatial else dims[:1]
    now = max(shape[dim] for dim in chosen)

    def changed(size: int) -> Shape:
        return tuple(size if dim in chosen else old for dim, old in enumerate(shape))

    @cache
    def runs(size: int) -> bool:
        return size > 1 and question.runs(changed(size))

    present = "×".join(str(shape[dim]) for dim in chosen)
    whose = f"the sides of {question.name}" if spatial else f"dim {chosen[0]} of {question.name}"
    if question.clash.kind == "linear_in_features":  # one number is wanted, and it grows with the size
        size = reaching(question.wanted, lambda size: question.number(changed(size)))
    elif requirement := required(now, runs, question.clash.want.values()):
        return f"{whose} should be {requirement}, {'they are' if spatial else 'it is'} {present}"
    else:
        size = closest(now, runs)
    restated = question.is_own(dims) and not spatial  # the number itself: WHAT has said it already
    return _gives(question, chosen, roundest(size, runs), spatial) if size and runs(size) and not restated else ""


def _gives(question: _Question, chosen: list[int], size: int, spatial: bool) -> str:
    """That size, with what it gives at the clash."""
    shape = tuple(size if dim in chosen else old for dim, old in enumerate(question.shape))
    sides = shape_text([size] * len(chosen)) if spatial else f"{size} in dim {chosen[0]}"
    at = Dim(question.clash.operand, question.clash.dim)
    changed = question.replay.shapes({question.tensor: shape}) or {}
    if at.dim >= 0 and at.tensor in changed:
        way = walk(question.replay.trace_with(changed), at)
        told = way.links[0].why if way.links else ""
        if told.startswith(f"{changed[at.tensor][at.dim]} = ") and changed[at.tensor][at.dim] in question.clash.want.values():
            return f"{told} is what {sides} for {question.name} gives"
    return f"with {sides} for {question.name} it runs"
