"""One step back through an op: which dim of which operand a number passed through from, or from what it was made here."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tb_shapeplugin.analyse.origins.computed_sizes import computed, left_over, shuffled
from tb_shapeplugin.analyse.origins.recalled import recalled
from tb_shapeplugin.analyse.origins.recurrences import made_by_recurrence
from tb_shapeplugin.analyse.origins.reshaping import share
from tb_shapeplugin.analyse.origins.stated import module_of, stated
from tb_shapeplugin.analyse.origins.window_sizes import window_arithmetic
from tb_shapeplugin.base.units import shape_text
from tb_shapeplugin.ops.reading import product, times
from tb_shapeplugin.ops.rules import gives
from tb_shapeplugin.record.trace import OpFact, Trace
from tb_shapeplugin.record.values import OpCall, Operand, Shape, Value

_RESHAPING = ("view", "reshape", "view_as", "reshape_as", "flatten", "unflatten", "ravel")
_NORMS = ("layer_norm", "rms_norm", "batch_norm", "group_norm", "instance_norm")
_KEEPING = (  # what comes out has the first operand's sizes, where it has its shape
    *("relu", "leaky_relu", "elu", "gelu", "silu", "sigmoid", "tanh", "softmax", "log_softmax", "dropout", "dropout2d", "contiguous"),
    *("clone", "detach", "to", "float", "double", "add", "sub", "mul", "div", "truediv", "masked_fill"),
)
JOINING = ("cat", "concat", "concatenate", "hstack", "vstack", "dstack")
_SPLITTING = ("split", "chunk", "tensor_split")
_SHUFFLES = ("pixel_shuffle", "pixel_unshuffle")
_EXPANDING = ("expand", "broadcast_to")
_LIKE_THE_OTHER = ("expand_as", "gather", "take_along_dim")  # what comes out has the second operand's sizes
_WEIGHTS = {"linear": "out_features", "bilinear": "out_features", "embedding": "embedding_dim"}
_PAIRING = ("add", "sub", "mul", "div", "truediv", "pow", "maximum", "minimum", "eq", "ne", "lt", "le", "gt", "ge", "__sub__", "rsub")
_CUTTING = "__getitem__"  # a slice that reaches beyond the end hands the size on as well
_MOST_PIECES = 3  # of equal size that are added up; more are told as a product


@dataclass(frozen=True, slots=True)
class Dim:
    """A dim of a tensor of the trace."""

    tensor: int
    dim: int


@dataclass(frozen=True, slots=True)
class Step:
    """Where a number comes from: ``source`` is the dim that it passed through from, or that it was computed from.

    ``made`` says that this op introduced the number, ``why`` with which arithmetic; ``exact`` is False where a remainder
    was dropped on the way. ``factors`` are the dims that were multiplied, where a product was made.
    """

    source: Dim | None = None
    made: bool = False
    why: str = ""
    exact: bool = True
    factors: tuple[Dim, ...] = ()


def step_back(trace: Trace, op_index: int, at: Dim) -> Step:
    """One step back from a dim of an output of that op."""
    op = trace.ops[op_index]
    short = op.name.rpartition(".")[2].rstrip("_") or op.name
    shape = trace.tensors[at.tensor].shape
    size = shape[at.dim]
    if not op.inputs:
        return Step(made=True, why=stated(trace, op, size, at.dim))
    if short in _RESHAPING:
        return _through_reshape(trace, op, shape, at.dim)
    if short in _NORMS or (short in _KEEPING and trace.tensors[op.inputs[0]].shape == shape):
        return Step(Dim(op.inputs[0], at.dim))
    if recurrent := made_by_recurrence(trace, op, op.outputs.index(at.tensor), at.dim):
        return Step(Dim(*recurrent.source) if recurrent.source else None, bool(recurrent.why), recurrent.why)
    if size == 0:  # twice nothing is nothing
        return _by_alignment(trace, op, shape, at.dim)
    call = recalled(op, trace)
    if passed := _handed_on(call, short, shape, at.dim):
        return Step(passed)
    sources = _sources(call, shape, at.dim)
    if sources is None:
        return _by_alignment(trace, op, shape, at.dim)
    came = next((source.dim for source in sources if source.same), None)
    if came is not None:
        return _from_parameter(trace, op, came, size, short) or _of_all_pairs(call, came, size, shape) or Step(came)
    if not sources:
        return Step(made=True, why=stated(trace, op, size, at.dim if len(op.outputs) == 1 else op.outputs.index(at.tensor)))
    return _made(trace, call, short, sources, size, at.dim)


def _from_parameter(trace: Trace, op: OpFact, passed: Dim, size: int, short: str) -> Step | None:
    fact = trace.tensors[passed.tensor]
    if passed.tensor not in op.inputs or op.inputs.index(passed.tensor) == 0:
        return None
    role = "out_channels" if short.startswith("conv") else _WEIGHTS.get(short, "")
    module = module_of(trace, op)
    if fact.kind != "parameter":  # a weight that its layer computes from other parameters
        own = module is not None and role != "" and module.attributes.get(role) == size
        return Step(made=True, why=f"{size} is {module.path or 'the model'}'s {role}") if own and module else None
    owner, _, name = fact.name.rpartition(".")
    if short.startswith("conv_transpose") and module is not None and module.attributes.get("groups", 1) != 1:
        role = ""
    told = f"{owner or 'the model'}'s {role}" if role else f"dim {passed.dim} of parameter {fact.name or name}"
    return Step(made=True, why=f"{size} is {told}")


def _of_all_pairs(call: OpCall, came: Dim, size: int, shape: Shape) -> Step | None:
    """Two tensors of different numbers of axes that were broadcast against each other, into a shape that neither has: rarely meant."""
    pair = call.operands()
    if len(pair) != 2 or call.short_name not in _PAIRING or pair[0].ndim == pair[1].ndim:
        return None
    if shape in (pair[0].shape, pair[1].shape) or "parameter" in (pair[0].kind, pair[1].kind) or min(pair[0].ndim, pair[1].ndim) < 1:
        return None
    return Step(came, True, f"{size} is a side of {shape_text(shape)}, all pairs of {pair[0]} and {pair[1]}")


def _handed_on(call: OpCall, short: str, shape: Shape, dim: int) -> Dim | None:
    """Of ops whose rule names the size itself: the operand's dim of that size that it names."""
    operands = call.operands()
    if short in _EXPANDING and operands:
        x = operands[0]
        axis = dim - (len(shape) - x.ndim)
        return Dim(x.id, axis) if axis >= 0 and x.shape[axis] == shape[dim] else None
    if short in _LIKE_THE_OTHER and len(operands) > 1 and operands[1].shape == shape:
        return Dim(operands[1].id, dim)
    return None


@dataclass(frozen=True, slots=True)
class _Source:
    """An operand's dim that a size depends on: simply handed on, or computed; ``doubled`` is what twice the dim would have given."""

    dim: Dim
    same: bool
    doubled: int


def _sources(call: OpCall, shape: Shape, dim: int) -> list[_Source] | None:
    """The operand dims that an output dim depends on, found by doubling each; None where no rule follows the call."""
    operands = call.operands()
    before = list(gives(call))
    choice = next((at for at, outputs in enumerate(before) if shape in outputs), -1)
    if choice < 0:
        return None
    output = before[choice].index(shape)
    found = []
    for position, operand in enumerate(operands):
        for axis, size in enumerate(operand.shape):
            if size == 0 or (size == 1 and shape[dim] != 1):
                continue
            after = gives(_with_shape(call, position, _doubled(operand.shape, axis)))
            changed = after[min(choice, len(after) - 1)] if after else ()
            if output < len(changed) and len(changed[output]) == len(shape) and changed[output][dim] != shape[dim]:
                twice = changed[output][dim]
                same = size == shape[dim] and (twice == 2 * size or call.short_name == _CUTTING)
                found.append(_Source(Dim(operand.id, axis), same, twice))
    return found


def _doubled(shape: Shape, axis: int) -> Shape:
    return (*shape[:axis], 2 * shape[axis], *shape[axis + 1 :])


def _with_shape(call: OpCall, position: int, shape: Shape) -> OpCall:
    """The call with the shape of one operand, counted as ``operands()`` does, replaced."""
    counter: Iterator[int] = iter(range(1 << 30))

    def change(value: Value) -> Value:
        if isinstance(value, Operand):
            return replace(value, shape=shape) if next(counter) == position else value
        if isinstance(value, tuple):
            return tuple(map(change, value))
        return value

    args = tuple(map(change, call.args))
    return OpCall(call.name, args, {name: change(value) for name, value in call.kwargs.items()})


def _through_reshape(trace: Trace, op: OpFact, after: Shape, dim: int) -> Step:
    """A reshape joins or splits runs of axes."""
    tensor = op.inputs[0]
    before = trace.tensors[tensor].shape
    found = share(before, after, dim)
    if found.same >= 0:
        return Step(Dim(tensor, found.same))
    why = found.arithmetic(before)
    if found.joined:
        return Step(Dim(tensor, found.axes[-1]), True, why, factors=tuple(Dim(tensor, axis) for axis in found.axes))
    told = stated(trace, op, after[dim], dim)
    if why and not told.startswith(f"{after[dim]} is self."):
        return Step(Dim(tensor, found.axes[0]), True, why, factors=tuple(Dim(tensor, axis) for axis in found.axes[1:] and found.axes))
    return Step(made=True, why=told)


def _made(trace: Trace, call: OpCall, short: str, sources: list[_Source], size: int, dim: int) -> Step:
    first = sources[0].dim
    sizes = [trace.tensors[source.dim.tensor].shape[source.dim.dim] for source in sources]
    if short in JOINING and (pieces := _pieces(call, sources)):
        largest = max(sources, key=lambda source: trace.tensors[source.dim.tensor].shape[source.dim.dim]).dim
        even = len(set(pieces)) == 1 and len(pieces) > _MOST_PIECES
        told = f"{len(pieces)}·{pieces[0]} ({len(pieces)} tensors are joined)" if even else " + ".join(map(str, pieces))
        return Step(largest, True, f"{size} = {told}", factors=tuple(source.dim for source in sources))
    before = trace.tensors[first.tensor].shape
    if window := window_arithmetic(call, before, first.dim):
        return Step(first, True, f"{size} = {window[0]}", window[1])
    if len(sizes) > 1 and product(sizes) == size:
        return Step(first, True, f"{size} = {times(sizes)}", factors=tuple(source.dim for source in sources))
    if short in _SHUFFLES and first.dim == len(before) - 3:
        return Step(first, True, shuffled(call, size, sizes[0]))
    if short == "unfold" and len(sizes) == 1 and first.dim == len(before) - 3 and size % sizes[0] == 0:
        return Step(first, True, f"{size} = {sizes[0]}·{size // sizes[0]} (channels · the window's {size // sizes[0]} places)")
    if short in _SPLITTING and (told := left_over(call, size, dim)):
        return Step(first, True, told)
    told, exact = computed(size, sizes[0], sources[0].doubled, short) if len(sizes) == 1 else (f"is what {short} gives", False)
    return Step(first, True, f"{size} {told}", exact)


def _pieces(call: OpCall, sources: list[_Source]) -> list[int]:
    """The sizes that are joined, in order, repeated pieces as often as they stand there."""
    axis = sources[0].dim.dim
    return [operand.shape[axis] for operand in call.operands() if operand.ndim > axis]


def _by_alignment(trace: Trace, op: OpFact, shape: Shape, dim: int) -> Step:
    """Where no rule follows the op: the dim of the same place, else the only dim of that size, else it was made here."""
    size = shape[dim]
    for tensor in op.inputs:
        before = trace.tensors[tensor].shape
        if len(before) == len(shape) and before[dim] == size:
            return Step(Dim(tensor, dim))
    told = stated(trace, op, size, dim)
    for tensor in op.inputs if told.endswith(" gives") else ():
        before = trace.tensors[tensor].shape
        same = [axis for axis, other in enumerate(before) if other == size]
        if len(same) == 1 and trace.tensors[tensor].kind != "parameter":
            return Step(Dim(tensor, same[0]))
    return Step(made=True, why=told)
