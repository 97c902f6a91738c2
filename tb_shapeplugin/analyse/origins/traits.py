"""Who gave a tensor what isn't a size: its number of axes, its dtype, its device, the order of its elements, its values."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from tb_shapeplugin.analyse.origins.recalled import with_shapes
from tb_shapeplugin.analyse.origins.stated import short_name
from tb_shapeplugin.base.units import compact_type
from tb_shapeplugin.ops.reading import axes_text, product
from tb_shapeplugin.ops.rules import requires
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, OpFact, TensorFact, Trace

_LONGEST = 10_000
_TURNING = ("transpose", "permute", "t", "T", "mT", "H", "mH", "adjoint", "movedim", "moveaxis", "swapaxes", "swapdims", "rot90")
_VIEWS = ("__getitem__", "expand", "expand_as", "unfold", "narrow", "select", "split", "chunk", "unbind", "as_strided", "diagonal")
_SAME_VALUES = (
    *("view", "view_as", "reshape", "reshape_as", "flatten", "unflatten", "ravel", "squeeze", "unsqueeze", "permute", "transpose", "t"),
    *("contiguous", "clone", "detach", "to", "long", "int", "cpu", "cuda", "expand", "repeat", "__getitem__", "narrow", "chunk", "split"),
    *("T", "unbind", "cat", "stack"),
)
_KEEPDIM = (
    *("mean", "sum", "amax", "amin", "max", "min", "median", "prod", "std", "var", "norm", "vector_norm", "logsumexp"),
    *("argmax", "argmin", "any", "all"),
)

Same: TypeAlias = Callable[[TensorFact, TensorFact], bool]


@dataclass(frozen=True, slots=True)
class Giver:
    """Where a trait comes from: the tensor that first had it, and what is said of it."""

    tensor: int
    why: str


def _first_with(trace: Trace, tensor: int, same: Same) -> int:
    """Back through the ops whose input has the trait already, to the tensor that got it first."""
    for _ in range(_LONGEST):
        fact = trace.tensors[tensor]
        if fact.producer < 0:
            return tensor
        op = trace.ops[fact.producer]
        earlier = next((i for i in op.inputs if trace.tensors[i].kind != "parameter" and same(trace.tensors[i], fact)), None)
        if earlier is None:
            return tensor
        tensor = earlier
    return tensor


def named(fact: TensorFact) -> str:
    """A given tensor in words: its kind and its name.

    Example:
        >>> named(TensorFact((3,), "float32", "cpu", 0, -1, "buffer", "mean"))
        'buffer mean'
    """
    return f"{fact.kind} {fact.name or compact_type(fact.dtype, fact.shape)}"


def _maker(trace: Trace, tensor: int) -> OpFact | None:
    producer = trace.tensors[tensor].producer
    return trace.ops[producer] if producer >= 0 else None


def giver_of_axes(trace: Trace, tensor: int) -> Giver:
    """Who gave a tensor its number of axes."""
    first = _first_with(trace, tensor, lambda a, b: len(a.shape) == len(b.shape))
    fact, op = trace.tensors[first], _maker(trace, first)
    has = axes_text(len(fact.shape))
    if op is None:
        return Giver(first, f"{named(fact)} has {has}")
    before = len(trace.tensors[op.inputs[0]].shape) if op.inputs else len(fact.shape)
    if before == len(fact.shape) or not op.inputs:
        return Giver(first, f"{short_name(op)} gives {has}")
    return Giver(first, f"{short_name(op)} gives {has}, was given {before}{_axes_note(trace, op, fact)}")


def _axes_note(trace: Trace, op: OpFact, fact: TensorFact) -> str:
    """What makes this op change the number of axes, where people are surprised by it."""
    short = op.name.rpartition(".")[2]
    before = trace.tensors[op.inputs[0]].shape
    arguments = dict(op.arguments)
    if short in _KEEPDIM and "dim" in arguments and arguments.get("keepdim") != "True":
        return f" (keepdim isn't set, dim {arguments['dim'].strip('()[]')} goes)"
    if short == "squeeze" and "dim" not in arguments:
        return f" (every axis of 1 goes{', the batch of 1, too' if before[:1] == (1,) else ''})"
    if short == "__getitem__" and len(fact.shape) < len(before):
        return " (an index that is a number drops its axis)"
    return ""


def dropped_axis(trace: Trace, failure: Failure, clash: Clash) -> Giver | None:
    """The reduction without keepdim, or the squeeze, before an op that would run had it left an axis of 1; None where none did."""
    for tensor in (clash.operand, clash.other):
        operand = next((operand for operand in failure.call.operands() if operand.id == tensor), None)
        if operand is None:
            continue
        first = _first_with(trace, tensor, lambda a, b: len(a.shape) == len(b.shape))
        op = _maker(trace, first)
        gone = _axes_gone(trace, op) if op is not None else ()
        kept = list(operand.shape)
        for axis in gone:
            kept.insert(axis, 1)
        call = with_shapes(failure.call, {tensor: tuple(kept)})
        others = [other for other in call.operands() if other.id != tensor]
        level = not others or max(other.ndim for other in others) == len(kept)
        if op is not None and gone and level and requires(call) is None:
            dims = f"dim {gone[0]}" if len(gone) == 1 else f"dims {', '.join(map(str, gone))}"
            return Giver(first, f"{short_name(op)} drops {dims}; as {compact_type(operand.dtype, kept)} it would fit")
    return None


def _axes_gone(trace: Trace, op: OpFact) -> tuple[int, ...]:
    """The axes that a reduction or a squeeze drops, ascending."""
    short, arguments = op.name.rpartition(".")[2], dict(op.arguments)
    if short not in (*_KEEPDIM, "squeeze") or not op.inputs or not op.outputs:
        return ()
    before, after = trace.tensors[op.inputs[0]].shape, trace.tensors[op.outputs[0]].shape
    if short == "squeeze":
        gone = tuple(axis for axis, size in enumerate(before) if size == 1)
        return gone if len(before) == len(after) + len(gone) else ()
    dims = [int(dim) for dim in re.findall(r"-?\d+", arguments.get("dim", arguments.get("1", "")))]
    return tuple(sorted(dim % len(before) for dim in dims)) if len(before) == len(after) + len(dims) else ()


def giver_of_count(trace: Trace, tensor: int) -> Giver:
    """Who gave a tensor so many elements."""
    return Giver(_first_with(trace, tensor, lambda a, b: product(a.shape) == product(b.shape)), "")


def giver_of_dtype(trace: Trace, tensor: int) -> Giver:
    """Who gave a tensor its dtype."""
    first = _first_with(trace, tensor, lambda a, b: a.dtype == b.dtype)
    fact, op = trace.tensors[first], _maker(trace, first)
    if op is not None:
        return Giver(first, f"{short_name(op)} gives {fact.dtype}")
    usual = ", as numpy's arrays of floats are" if fact.dtype == "float64" and fact.kind in ("input", "constant") else ""
    return Giver(first, f"{named(fact)} is {fact.dtype}{usual}")


def giver_of_device(trace: Trace, tensor: int) -> Giver:
    """Who put a tensor on its device."""
    first = _first_with(trace, tensor, lambda a, b: a.device == b.device)
    fact, op = trace.tensors[first], _maker(trace, first)
    if op is not None:
        return Giver(first, f"{short_name(op)} gives it on {fact.device}")
    left = ", it is neither parameter nor buffer, so .to() leaves it there" if fact.kind == "constant" else ""
    return Giver(first, f"{named(fact)} is on {fact.device}{left}")


def giver_of_layout(trace: Trace, tensor: int) -> Giver | None:
    """Who laid a tensor's elements out in another order than its axes say; None where no such op is met."""
    for _ in range(_LONGEST):
        op = _maker(trace, tensor)
        if op is None:
            return None
        short = op.name.rpartition(".")[2]
        short = short if short.endswith("__") else short.removesuffix("_")
        if short in _TURNING or (short in _VIEWS and _shares_storage(trace, op, tensor)):
            return Giver(tensor, f"no size is wrong: {short_name(op)} only changes the order in which the same elements are read")
        if short in ("contiguous", "reshape") or not op.inputs:
            return None
        shape = trace.tensors[tensor].shape
        before = next((i for i in op.inputs if trace.tensors[i].kind != "parameter" and trace.tensors[i].shape == shape), None)
        if before is None:
            before = op.inputs[0] if _shares_storage(trace, op, tensor) else None
        if before is None:
            return None
        tensor = before
    return None


def _shares_storage(trace: Trace, op: OpFact, tensor: int) -> bool:
    return bool(op.inputs) and trace.tensors[op.inputs[0]].storage == trace.tensors[tensor].storage


def giver_of_values(trace: Trace, tensor: int) -> Giver:
    """Who made a tensor's values: back through what only moves, picks or converts them."""
    for _ in range(_LONGEST):
        op = _maker(trace, tensor)
        if op is None:
            return Giver(tensor, "")
        if not op.inputs:
            return Giver(tensor, "")
        if op.name.rpartition(".")[2] not in _SAME_VALUES:
            return Giver(tensor, f"{short_name(op)} computes it")
        tensor = op.inputs[0]
    return Giver(tensor, "")
