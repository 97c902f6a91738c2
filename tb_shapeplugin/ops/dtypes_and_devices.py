"""What holds for the dtypes and devices of operands, whatever their shapes."""

from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall, Operand

_BITS = {
    "float16": 16, "bfloat16": 16, "float32": 32, "float64": 64, "complex32": 32, "complex64": 64, "complex128": 128,
    "bool": 8, "uint8": 8, "int8": 8, "int16": 16, "int32": 32, "int64": 64,
}  # fmt: skip

# Ops that take only operands of one dtype, most others promote; with the positions that count, where not all do.
_ALL: tuple[int, ...] = ()
_ONE_DTYPE: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("linear", "bilinear", "matmul", "__matmul__", "__rmatmul__", "mm", "spmm", "bmm", "mv", "dot"), _ALL),
    **dict.fromkeys(("addmm", "baddbmm"), _ALL),
    **dict.fromkeys((f"conv{kind}{n}d" for kind in ("", "_transpose") for n in (1, 2, 3)), _ALL),
    **dict.fromkeys(("einsum", "lerp"), _ALL),
    "scaled_dot_product_attention": (0, 1, 2),
    **dict.fromkeys(("index_add", "index_add_", "index_copy", "index_copy_"), (0, 3)),
}
_WRITTEN = {"__setitem__": 2, "scatter": 3, "scatter_": 3, "scatter_add": 3, "scatter_add_": 3, "masked_scatter": 2, "masked_scatter_": 2}
# Where an op takes indices, what they are called, and the dtypes that it takes them in.
_LONG, _INTS = ("int64",), ("int64", "int32")
_INDICES: dict[str, tuple[int, str, tuple[str, ...]]] = {
    "embedding": (0, "input", _INTS),
    "index_select": (2, "index", _INTS),
    **dict.fromkeys(("gather", "scatter", "scatter_", "scatter_add", "scatter_add_"), (2, "index", _LONG)),
    **dict.fromkeys(("cross_entropy", "nll_loss"), (1, "target", _LONG)),
}


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


def different_dtypes(faulty: Operand, other: Operand, told: str = "") -> Clash:
    """The clash of two dtypes; the numbers are their bits."""
    got, want = bits_of(faulty.dtype) or 0, bits_of(other.dtype) or 0
    words = told or f"{faulty} is {faulty.dtype}, {other} is {other.dtype}"
    got_word, want_word = f"{family_of(faulty.dtype)}_bits", f"{family_of(other.dtype)}_bits"
    return Clash("dtype", {got_word: got}, {want_word: want}, operand=faulty.id, other=other.id, words=words)


def dtype_clash(call: OpCall) -> Clash | None:
    """The clash of operands whose dtypes the op doesn't take together, None where it does or nobody knows."""
    short = call.short_name
    if short in _ONE_DTYPE:
        operands = _compared(call, _ONE_DTYPE[short])
        fixed = next((operand for operand in operands if operand.kind in ("parameter", "buffer")), operands[0] if operands else None)
        odd = next((operand for operand in operands if fixed and operand.dtype != fixed.dtype), None)
        return different_dtypes(odd, fixed) if odd and fixed else None
    if short in _INDICES:
        position, name, taken = _INDICES[short]
        index = call.operand(position, name)
        if index is not None and index.dtype not in taken and not _is_probabilities(call, index):
            words = f"the {'target' if name == 'target' else 'index'} {index} is {index.dtype}, it has to be int64"
            return Clash("dtype", {f"{family_of(index.dtype)}_bits": bits_of(index.dtype) or 0}, {"int_bits": 64}, index.id, words=words)
    if short in _WRITTEN:
        target, source = call.operand(0, "input"), call.get(_WRITTEN[short], "src")
        if target and isinstance(source, Operand) and source.ndim and source.dtype != target.dtype:
            return different_dtypes(source, target, f"{source} is written into {target}, their dtypes differ")
    return None


def _is_probabilities(call: OpCall, target: Operand) -> bool:
    """Cross entropy also takes a floating target of the prediction's shape; nll_loss on the CPU takes uint8 classes."""
    scores = call.operand(0, "input")
    floating = family_of(target.dtype) == "float" and scores is not None and scores.shape == target.shape
    return (call.short_name == "cross_entropy" and floating) or (
        call.short_name in ("cross_entropy", "nll_loss") and target.dtype == "uint8"
    )


def _compared(call: OpCall, positions: tuple[int, ...]) -> tuple[Operand, ...]:
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
