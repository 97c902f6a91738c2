"""Which operands index into others, and the clash of a value that lies outside; shapes alone don't show it."""

from collections.abc import Callable
from dataclasses import dataclass

from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall, Operand


@dataclass(frozen=True, slots=True)
class Indexed:
    """An operand whose values number the entries of another one; ``ignored`` is a value that stands for none of them."""

    index: Operand
    size: int
    kind: str
    got: str  # the word for the value that lies outside
    want: str  # the word for the size
    ignored: int | None = None
    negative: bool = False  # are values from -size allowed?


def _embedding(call: OpCall) -> Indexed | None:
    index, weight = call.operand(0, "input"), call.operand(1, "weight")
    return Indexed(index, weight.shape[0], "index_range", "max_index", "num_embeddings") if index and weight and weight.ndim else None


def _class_target(call: OpCall) -> Indexed | None:
    scores, target = call.operand(0, "input"), call.operand(1, "target")
    if scores is None or target is None or not scores.ndim or "int" not in target.dtype:
        return None
    classes = scores.shape[1 if scores.ndim > 1 else 0]
    return Indexed(target, classes, "loss_target_range", "label", "below", ignored=call.integer(4, "ignore_index", -100))


def _along_axis(index_position: int) -> Callable[[OpCall], Indexed | None]:
    def indexed(call: OpCall) -> Indexed | None:
        x, dim, index = call.operand(0, "input"), call.get(1, "dim"), call.operand(index_position, "index")
        if x is None or index is None or not isinstance(dim, int) or not -x.ndim <= dim < x.ndim:
            return None
        return Indexed(index, x.shape[dim], "index_range", "max_index", "below")

    return indexed


def _one_hot(call: OpCall) -> Indexed | None:
    index, classes = call.operand(0, "input"), call.integer(1, "num_classes", -1)
    return Indexed(index, classes, "index_range", "max_index", "below") if index and classes > 0 else None


def _brackets(call: OpCall) -> Indexed | None:
    x, index = call.operand(0, "input"), call.get(1, "index")
    entry = index[0] if isinstance(index, tuple) and index else index
    if x is None or not x.ndim or not isinstance(entry, Operand) or "int" not in entry.dtype or entry.dtype == "uint8":
        return None
    return Indexed(entry, x.shape[0], "index_range", "max_index", "below", negative=True)


_INDEXED: dict[str, Callable[[OpCall], Indexed | None]] = {
    "embedding": _embedding,
    "cross_entropy": _class_target,
    "nll_loss": _class_target,
    "gather": _along_axis(2),
    "index_select": _along_axis(2),
    "scatter": _along_axis(2),
    "scatter_": _along_axis(2),
    "scatter_add": _along_axis(2),
    "scatter_add_": _along_axis(2),
    "index_add": _along_axis(2),
    "index_add_": _along_axis(2),
    "one_hot": _one_hot,
    "__getitem__": _brackets,
    "__setitem__": _brackets,
}


def indexed_by_values(call: OpCall) -> Indexed | None:
    """The operand whose values decide whether the call is right, None where there is none.

    Example:
        >>> ids, table = Operand(0, (1, 4), "int64"), Operand(1, (100, 8), "float32")
        >>> indexed_by_values(OpCall("torch.nn.functional.embedding", (ids, table))).size
        100
    """
    read = _INDEXED.get(call.short_name)
    return read(call) if read else None


def range_clash(call: OpCall) -> Clash | None:
    """The clash of an index whose known values lie outside what it indexes; None where they don't or nobody knows them."""
    indexed = indexed_by_values(call)
    if indexed is None or indexed.index.low is None or indexed.index.high is None:
        return None
    low, high, size = indexed.index.low, indexed.index.high, indexed.size
    lowest = -size if indexed.negative else 0
    if lowest <= low and high < size:
        return None
    value = high if high >= size else low
    if indexed.kind == "loss_target_range":
        words = f"the target holds class {value}, the prediction has {size} classes, numbered from {lowest} to {size - 1}"
    else:
        words = f"the index holds {value}, what it indexes has {size} entries, numbered from {lowest} to {size - 1}"
    return Clash(indexed.kind, {indexed.got: value}, {indexed.want: size}, operand=indexed.index.id, words=words)
