"""The calls that one may have been meant as which names an axis that its operand doesn't have."""

from collections.abc import Iterator

from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall, Value


def with_other_axes(call: OpCall, clash: Clash) -> Iterator[OpCall]:
    """The call with each axis that there is in the place of the one that is missing, the nearest first.

    Args:
        call: a call for which an axis is missing.
        clash: what its rule says of it.

    Example:
        >>> x = Operand(0, (2, 16, 20), "float32")
        >>> call = OpCall("torch.Tensor.transpose", (x, 1, 4))
        >>> [other.args[1:] for other in with_other_axes(call, requires(call))]
        [(1, 2), (1, 0)]
    """
    operand = next((operand for operand in call.operands() if operand.id == clash.operand), None)
    need = clash.want.get("ndim")
    if clash.kind != "rank" or operand is None or need is None or operand.ndim >= need:
        return
    named = [value for value in (*call.args[1:], *call.kwargs.values()) if isinstance(value, int) and not isinstance(value, bool)]
    missing = next((dim for dim in (need - 1, -need) if _stands_in(call, dim)), None)
    if missing is None:
        return
    axes = range(operand.ndim - 1, -1, -1) if missing > 0 else range(operand.ndim)
    for axis in axes:
        if axis not in (dim % operand.ndim for dim in named if dim != missing and -operand.ndim <= dim < operand.ndim):
            yield _replaced(call, missing, axis)


def _stands_in(call: OpCall, number: int) -> bool:
    return any(_is(value, number) or (isinstance(value, tuple) and any(_is(item, number) for item in value)) for value in _arguments(call))


def _arguments(call: OpCall) -> tuple[Value, ...]:
    return (*call.args[1:], *call.kwargs.values())


def _is(value: Value, number: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value == number


def _replaced(call: OpCall, number: int, other: int) -> OpCall:
    def change(value: Value) -> Value:
        if isinstance(value, tuple):
            return tuple(other if _is(item, number) else item for item in value)
        return other if _is(value, number) else value

    return OpCall(call.name, (*call.args[:1], *map(change, call.args[1:])), {name: change(value) for name, value in call.kwargs.items()})
