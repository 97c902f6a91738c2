"""What holds for the dtypes and devices of operands, whatever their shapes."""

from collections.abc import Iterable

from tb_shapeplugin.ops import dtype_needs as needs
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall, Operand

_BITS = {
    "float16": 16, "bfloat16": 16, "float32": 32, "float64": 64, "complex32": 32, "complex64": 64, "complex128": 128,
    "bool": 8, "uint8": 8, "int8": 8, "int16": 16, "int32": 32, "int64": 64,
}  # fmt: skip
_RANK = ("bool", "int", "float", "complex")  # what promotion goes up by
_BRACKETS = ("__getitem__", "__setitem__", "index_put", "index_put_")


def bits_of(dtype: str) -> int | None:
    """Bits of one element, None for a dtype that isn't known.

    Example:
        >>> bits_of("bfloat16")
        16
    """
    return _BITS.get(dtype)


def family_of(dtype: str) -> str:
    """``float``, ``int``, ``complex`` or ``bool``.

    Example:
        >>> family_of("bfloat16"), family_of("uint8")
        ('float', 'int')
    """
    plain = dtype.removeprefix("b")
    return next((name for name in ("float", "complex", "int", "bool") if name in plain or dtype == name), dtype)


def sized(dtype: str) -> dict[str, int]:
    """A dtype as the field's number: its bits, under the word of its family.

    Example:
        >>> sized("int32")
        {'int_bits': 32}
    """
    return {f"{family_of(dtype)}_bits": bits_of(dtype) or 0}


def different_dtypes(faulty: Operand, other: Operand, told: str = "") -> Clash:
    """The clash of two dtypes; the numbers are their bits."""
    words = told or f"{faulty} is {faulty.dtype}, {other} is {other.dtype}"
    return Clash("dtype", sized(faulty.dtype), sized(other.dtype), operand=faulty.id, other=other.id, words=words)


def _instead(operand: Operand, dtype: str, words: str) -> Clash:
    return Clash("dtype", sized(operand.dtype), sized(dtype), operand=operand.id, words=words)


def dtype_clash(call: OpCall) -> Clash | None:
    """The clash of operands whose dtypes the op may not take (together); eager has the last word.

    Example:
        >>> x, weight = Operand(0, (2, 4), "float64"), Operand(1, (3, 4), "float32", kind="parameter")
        >>> dtype_clash(OpCall("torch.nn.functional.linear", (x, weight))).got
        {'float_bits': 64}
    """
    questions = (_picking, _indexing, _written, _one_family, _unequal)
    return next((clash for question in questions if (clash := question(call))), None)


def _picking(call: OpCall) -> Clash | None:
    """Do indices, targets and masks have a dtype that may number or pick?"""
    if call.short_name not in needs.PICKING:
        return None
    position, name, word, taken = needs.PICKING[call.short_name]
    operand = call.operand(position, name)
    if operand is None or operand.dtype in taken or _is_probabilities(call, operand):
        return None
    return _instead(operand, taken[0], f"the {word} {operand} is {operand.dtype}, it has to be {taken[0]}")


def _is_probabilities(call: OpCall, target: Operand) -> bool:
    """Cross entropy also takes a floating target of the prediction's shape; nll_loss on the CPU takes uint8 classes."""
    scores = call.operand(0, "input")
    floating = family_of(target.dtype) == "float" and scores is not None and scores.shape == target.shape
    return (call.short_name == "cross_entropy" and floating) or (
        call.short_name in ("cross_entropy", "nll_loss") and target.dtype == "uint8"
    )


def _indexing(call: OpCall) -> Clash | None:
    if call.short_name not in _BRACKETS:
        return None
    given = call.get(1, "index")
    entries = given if isinstance(given, tuple) else (given,)
    for entry in entries:
        if isinstance(entry, Operand) and entry.dtype not in needs.INDEXING:
            return _instead(entry, "int64", f"the index {entry} is {entry.dtype}, it has to be int64, or bool where it is a mask")
    return None


def _written(call: OpCall) -> Clash | None:
    short, target = call.short_name, call.operand(0, "input")
    if target is None:
        return None
    if short in needs.WRITTEN:
        source = call.get(needs.WRITTEN[short], "src")
        if isinstance(source, Operand) and source.ndim and source.dtype != target.dtype:
            return different_dtypes(source, target, f"{source} is written into {target}, their dtypes differ")
    if short in needs.IN_PLACE:
        higher = next((other for other in call.operands()[1:] if _promotes(other, target)), None)
        if higher is not None:
            return different_dtypes(
                higher, target, f"the result would be {higher.dtype}, {target} that it is written into is {target.dtype}"
            )
    return None


def _promotes(other: Operand, target: Operand) -> bool:
    ranks = [_RANK.index(family_of(operand.dtype)) for operand in (other, target) if family_of(operand.dtype) in _RANK]
    return len(ranks) == 2 and ranks[0] > ranks[1]


def _one_family(call: OpCall) -> Clash | None:
    """Ops of floating, real or whole numbers alone, and arithmetic that booleans have none of."""
    short, operands = call.short_name, call.operands()
    if not operands:
        return None
    first, family = operands[0], family_of(operands[0].dtype)
    if short in needs.FLOATING and family in ("int", "bool"):
        return _instead(first, "float32", f"{first} is {first.dtype}, {short} takes floating-point numbers")
    if short in needs.REAL and family == "complex":
        return _instead(first, "float32", f"{first} is {first.dtype}, {short} takes real numbers")
    if short in needs.NO_BOOLEANS and (mask := _of_family(operands, "bool")):
        return _instead(mask, "float32", f"{mask} is bool, {short} takes numbers: `~` turns a mask around")
    if short in needs.WHOLE and (fraction := _of_family(operands, "float")):
        return _instead(fraction, "bool", f"{fraction} is {fraction.dtype}, {short} takes booleans or integers")
    return None


def _of_family(operands: Iterable[Operand], family: str) -> Operand | None:
    return next((operand for operand in operands if family_of(operand.dtype) == family), None)


def _unequal(call: OpCall) -> Clash | None:
    """Ops whose operands have to be of one dtype: the odd one is what differs from the parameters, else from most."""
    short = call.short_name
    if short in needs.ONE_DTYPE:
        operands = _at(call, needs.ONE_DTYPE[short])
    elif short in needs.ONE_FLOATING_DTYPE:
        operands = tuple(operand for operand in call.operands() if family_of(operand.dtype) in ("float", "complex"))
    else:
        return None
    if len({operand.dtype for operand in operands}) < 2:
        return None
    usual = _usual(operands)
    return different_dtypes(next(operand for operand in operands if operand.dtype != usual.dtype), usual)


def _usual(operands: tuple[Operand, ...]) -> Operand:
    """The one whose dtype the others should have: a parameter, else of the dtype that most have, float32 or the first of equally many."""
    fixed = next((operand for operand in operands if operand.kind in ("parameter", "buffer")), None)
    if fixed is not None:
        return fixed
    dtypes = [operand.dtype for operand in operands]
    return max(operands, key=lambda operand: (dtypes.count(operand.dtype), operand.dtype == "float32"))


def _at(call: OpCall, positions: tuple[int, ...]) -> tuple[Operand, ...]:
    if not positions:
        return call.operands()
    return tuple(value for at in positions if at < len(call.args) and isinstance(value := call.args[at], Operand))


def device_clash(call: OpCall) -> Clash | None:
    """The clash of operands on different devices; a scalar on the CPU goes along with any."""
    operands = [operand for operand in call.operands() if operand.ndim or operand.device not in ("", "cpu")]
    devices = {operand.device or "cpu": operand for operand in operands}
    if len(devices) < 2:
        return None
    first, second = list(devices)[:2]
    words = f"its operands are on {len(devices)} devices, {first} and {second}, they have to be on 1"
    a, b = devices[first], devices[second]
    odd, usual = (a, b) if b.kind in ("parameter", "buffer") and a.kind not in ("parameter", "buffer") else (b, a)
    return Clash("device", {"devices": len(devices)}, {"devices": 1}, operand=odd.id, other=usual.id, words=words)
