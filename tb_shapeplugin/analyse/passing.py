"""One step back through an op: which dim of which operand a number passed through from, or from what it was made here."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tb_shapeplugin.analyse.recalled import recalled
from tb_shapeplugin.ops.reading import Unreadable, numbers, product, times
from tb_shapeplugin.ops.rules import gives
from tb_shapeplugin.record.trace import OpFact, Trace
from tb_shapeplugin.record.values import OpCall, Operand, Shape, Value

_RESHAPING = ("view", "reshape", "view_as", "reshape_as", "flatten", "unflatten", "ravel")
_NORMS = ("layer_norm", "rms_norm", "batch_norm", "group_norm", "instance_norm")
_JOINING = ("cat", "concat", "concatenate")
_WEIGHTS = {"linear": "out_features", "bilinear": "out_features", "embedding": "embedding_dim"}


@dataclass(frozen=True, slots=True)
class Dim:
    """A dim of a tensor of the trace."""

    tensor: int
    dim: int


@dataclass(frozen=True, slots=True)
class Step:
    """Where a number comes from: ``source`` is the dim that it passed through from, or that it was computed from.

    ``made`` says that this op introduced the number, ``why`` with which arithmetic; ``exact`` is False where a remainder
    was dropped on the way.
    """

    source: Dim | None = None
    made: bool = False
    why: str = ""
    exact: bool = True


def step_back(trace: Trace, op_index: int, at: Dim) -> Step:
    """One step back from a dim of an output of that op."""
    op = trace.ops[op_index]
    short = op.name.rpartition(".")[2].rstrip("_") or op.name
    shape = trace.tensors[at.tensor].shape
    size = shape[at.dim]
    if short in _RESHAPING and op.inputs:
        return _through_reshape(trace.tensors[op.inputs[0]].shape, shape, at.dim, op.inputs[0], short)
    if short in _NORMS and op.inputs:
        return Step(Dim(op.inputs[0], at.dim))
    call = recalled(op, trace)
    sources = _sources(call, shape, at.dim)
    passed = next((dim for dim, same in sources if same), None)
    if passed is not None:
        return _from_parameter(trace, op, passed, size, short) or Step(passed)
    if sources:
        return _made(trace, call, short, [dim for dim, _ in sources], size, at.dim)
    return _by_alignment(trace, op, shape, at.dim, short)


def _from_parameter(trace: Trace, op: OpFact, passed: Dim, size: int, short: str) -> Step | None:
    fact = trace.tensors[passed.tensor]
    if fact.kind != "parameter" or passed.tensor not in op.inputs or op.inputs.index(passed.tensor) == 0:
        return None
    owner, _, name = fact.name.rpartition(".")
    role = "out_channels" if short.startswith("conv") else _WEIGHTS.get(short)
    told = f"{owner or 'the model'}'s {role}" if role else f"dim {passed.dim} of parameter {fact.name or name}"
    return Step(made=True, why=f"{size} is {told}")


def _sources(call: OpCall, shape: Shape, dim: int) -> list[tuple[Dim, bool]]:
    """The operand dims that an output dim depends on, found by doubling each; with whether the size is simply handed on."""
    operands = call.operands()
    before = list(gives(call))
    choice = next((at for at, outputs in enumerate(before) if shape in outputs), -1)
    if choice < 0:
        return []
    output = before[choice].index(shape)
    found = []
    for position, operand in enumerate(operands):
        for axis, size in enumerate(operand.shape):
            if size == 0 or (size == 1 and shape[dim] != 1):
                continue
            after = gives(_with_shape(call, position, _doubled(operand.shape, axis)))
            changed = after[min(choice, len(after) - 1)] if after else ()
            if output < len(changed) and len(changed[output]) == len(shape) and changed[output][dim] != shape[dim]:
                handed_on = size == shape[dim] and changed[output][dim] == 2 * size
                found.append((Dim(operand.id, axis), handed_on))
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


def _through_reshape(before: Shape, after: Shape, dim: int, tensor: int, short: str) -> Step:
    """A reshape joins or splits runs of axes: the run that the dim lies in says where its size comes from."""
    size = after[dim]
    inside, lead = _run_of(before, after, dim)
    large = [axis for axis in inside if before[axis] != 1]
    same = [axis for axis in inside if before[axis] == size]
    if size == product(before[axis] for axis in large) and len(large) > 1:
        return Step(Dim(tensor, large[-1]), True, f"{size} = {times(before[axis] for axis in large)}")
    if same:
        return Step(Dim(tensor, same[min(lead, len(same) - 1)]))
    whole = product(before[axis] for axis in large)
    if size and whole % size == 0 and large:
        return Step(Dim(tensor, large[0]), True, f"{size} = {times(before[axis] for axis in large)}/{whole // size}")
    return Step(made=True, why=f"{size} is stated in {short}")


def _run_of(before: Shape, after: Shape, dim: int) -> tuple[list[int], int]:
    """The axes before that hold the same elements as the run of axes after around ``dim``, and the dim's place in that run."""
    i = j = 0
    while j < len(after):
        first_i, first_j = i, j
        left, right = (before[i] if i < len(before) else 1), after[j]
        i, j = i + 1, j + 1
        while left != right and (i < len(before) or j < len(after)):
            if left < right and i < len(before):
                left, i = left * before[i], i + 1
            elif j < len(after):
                right, j = right * after[j], j + 1
            else:
                left, i = left * before[i], i + 1
        if first_j <= dim < j:
            end = i if j < len(after) else len(before)
            return list(range(first_i, min(end, len(before)))), dim - first_j
    return [], 0


def _made(trace: Trace, call: OpCall, short: str, sources: list[Dim], size: int, dim: int) -> Step:
    sizes = [trace.tensors[source.tensor].shape[source.dim] for source in sources]
    first = sources[0]
    if short in _JOINING:
        pieces = [operand.shape[dim] for operand in call.operands() if dim < operand.ndim]
        largest = max(sources, key=lambda source: trace.tensors[source.tensor].shape[source.dim])
        return Step(largest, True, f"{size} = {' + '.join(map(str, pieces))}")
    window = _window(call, short, trace.tensors[first.tensor].shape, first.dim)
    if window is not None:
        return Step(first, True, f"{size} = {window[0]}", window[1])
    if len(sizes) > 1 and product(sizes) == size:
        return Step(first, True, f"{size} = {times(sizes)}")
    return Step(first, True, f"{size} = {_ratio(size, sizes[0])}")


def _ratio(size: int, source: int) -> str:
    if source and size % source == 0:
        return f"{size // source}·{source}"
    if size and source % size == 0:
        return f"{source}/{source // size}"
    return f"{source} + {size - source}" if size > source else f"{source} − {source - size}"


def _window(call: OpCall, short: str, shape: Shape, dim: int) -> tuple[str, bool] | None:
    """The arithmetic of a convolution's or pool's output size, and whether no remainder was dropped."""
    transposed = short.startswith("conv_transpose")
    convolution = short.startswith("conv")
    digits = [int(character) for character in short if character.isdigit()]
    if not digits or "adaptive" in short or not (convolution or "pool" in short):
        return None
    n, at = digits[0], dim - (len(shape) - digits[0])
    weight = call.operand(1, "weight")
    try:
        kernel = weight.shape[2:][at] if convolution and weight else numbers(call.get(1, "kernel_size"), n)[at]
        given = call.get(3 if convolution else 2, "stride", 1 if convolution else None)
        stride = kernel if given is None or given == () else numbers(given, n)[at]
        padding = numbers(call.get(4 if convolution else 3, "padding", 0), n)[at]
        dilation = numbers(call.get(7 if transposed else 5, "dilation", 1), n)[at] if convolution or short.startswith("max") else 1
        extra = numbers(call.get(5, "output_padding", 0), n)[at] if transposed else 0
    except (Unreadable, IndexError):
        return None
    extent, size = dilation * (kernel - 1) + 1, shape[dim]
    if transposed:
        return transposed_text(size, extent, stride, padding, extra), True
    return window_text(size, extent, stride, padding)


def transposed_text(size: int, extent: int, stride: int, padding: int, extra: int) -> str:
    """How a transposed convolution computes a size.

    Example:
        >>> transposed_text(5, 2, 2, 0, 0), transposed_text(18, 4, 2, 1, 0)
        ('2·5', '(18 − 1)·2 − 2·1 + 4')
    """
    rest = extent - stride - 2 * padding + extra
    if rest == 0:
        return f"{stride}·{size}"
    pads = f" − 2·{padding}" if padding else ""
    return f"({size} − 1)·{stride}{pads} + {extent}" + (f" + {extra}" if extra else "")


def window_text(size: int, extent: int, stride: int, padding: int) -> tuple[str, bool]:
    """How a sliding window computes a size, and whether nothing was left over.

    Example:
        >>> window_text(11, 2, 2, 0), window_text(28, 5, 1, 0)
        (('⌊11/2⌋', False), ('28 − 5 + 1', True))
    """
    exact = (size + 2 * padding - extent) % stride == 0
    padded = f"{size} + 2·{padding}" if padding else str(size)
    if stride == 1:
        return f"{padded} − {extent} + 1", True
    if extent == stride and not padding:
        return (f"{size}/{stride}" if exact else f"⌊{size}/{stride}⌋"), exact
    inner = f"({padded} − {extent})/{stride}"
    return (f"{inner} + 1" if exact else f"⌊{inner}⌋ + 1"), exact


def _by_alignment(trace: Trace, op: OpFact, shape: Shape, dim: int, short: str) -> Step:
    """Where no rule knows the op: the dim of the same place, else the only dim of that size, else it was made here."""
    size = shape[dim]
    for tensor in op.inputs:
        before = trace.tensors[tensor].shape
        if len(before) == len(shape) and before[dim] == size:
            return Step(Dim(tensor, dim))
    for tensor in op.inputs:
        before = trace.tensors[tensor].shape
        same = [axis for axis, other in enumerate(before) if other == size]
        if len(same) == 1 and trace.tensors[tensor].kind != "parameter":
            return Step(Dim(tensor, same[0]))
    told = f"is the axis that {short} adds" if short == "unsqueeze" else f"is stated in {short}"
    return Step(made=True, why=f"{size} {told}")
