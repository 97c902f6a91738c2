"""Which operands' values decide whether a call runs (indices, classes, targets), and the clash of one outside; shapes don't show it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tb_shapeplugin.ops.dtype_needs import each
from tb_shapeplugin.ops.indexing import placed_entries
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall, Operand


@dataclass(frozen=True, slots=True)
class Indexed:
    """An operand whose values number the entries of another one, or have to lie between 0 and ``size - 1``.

    ``ignored`` is a value that stands for none of them.
    """

    index: Operand
    size: int | None  # None: any number that isn't negative
    kind: str
    got: str  # the word for the value that lies outside
    want: str  # the word for the size
    ignored: int | None = None
    negative: bool = False  # are values from -size allowed?


Read = Callable[[OpCall], Iterable[Indexed]]


def _entry(index: Operand, size: int | None, *, negative: bool = False) -> Indexed:
    return Indexed(index, size, "index_range", "max_index", "below", negative=negative)


def _embedding(call: OpCall) -> Iterable[Indexed]:
    index, weight = call.operand(0, "input"), call.operand(1, "weight")
    if index and weight and weight.ndim:
        yield Indexed(index, weight.shape[0], "index_range", "max_index", "num_embeddings")


def _class_target(ignored: int | None, ignored_position: int = -1) -> Read:
    def read(call: OpCall) -> Iterable[Indexed]:
        scores, target = call.operand(0, "input"), call.operand(1, "target")
        if scores is None or target is None or not scores.ndim or "int" not in target.dtype:
            return
        classes = scores.shape[1 if scores.ndim > 1 else 0]
        passed_over = call.integer(ignored_position, "ignore_index", ignored) if ignored is not None and ignored_position >= 0 else ignored
        yield Indexed(target, classes, "loss_target_range", "label", "below", ignored=passed_over)

    return read


def _probabilities(call: OpCall) -> Iterable[Indexed]:
    """Binary cross entropy of probabilities takes targets between 0 and 1, all in between included."""
    target = call.operand(1, "target")
    if target is not None and "float" in target.dtype:
        yield Indexed(target, 2, "loss_target_range", "label", "below")


def _along_axis(index_position: int, *, negative: bool = False, name: str = "index", dim_position: int = 1) -> Read:
    def read(call: OpCall) -> Iterable[Indexed]:
        x, dim, index = call.operand(0, "input"), call.get(dim_position, "dim"), call.operand(index_position, name)
        if x is not None and index is not None and isinstance(dim, int) and -x.ndim <= dim < x.ndim:
            yield _entry(index, x.shape[dim], negative=negative)

    return read


def _one_hot(call: OpCall) -> Iterable[Indexed]:
    index, classes = call.operand(0, "tensor"), call.integer(1, "num_classes", -1)
    if index:
        yield _entry(index, classes if classes > 0 else None)


def _counted(call: OpCall) -> Iterable[Indexed]:
    if counts := call.operand(0, "input"):
        yield _entry(counts, None)


def _take(call: OpCall) -> Iterable[Indexed]:
    x, index = call.operand(0, "input"), call.operand(1, "index")
    if x and index:
        yield _entry(index, x.numel, negative=True)


def _brackets(call: OpCall) -> Iterable[Indexed]:
    for x, axis, entry in placed_entries(call):
        if isinstance(entry, Operand) and "int" in entry.dtype and entry.dtype != "uint8" and axis < x.ndim:
            yield _entry(entry, x.shape[axis], negative=True)


_INDEXED: dict[str, Read] = {
    "embedding": _embedding,
    "embedding_bag": _embedding,
    "cross_entropy": _class_target(-100, 4),
    "nll_loss": _class_target(-100, 4),
    "binary_cross_entropy": _probabilities,
    "multi_margin_loss": _class_target(None),
    "multilabel_margin_loss": _class_target(-1),
    "one_hot": _one_hot,
    "bincount": _counted,
    "take": _take,
    "take_along_dim": _along_axis(1, name="indices", dim_position=2, negative=True),
    **each("gather index_select", _along_axis(2)),
    **each("scatter scatter_ scatter_add scatter_add_ scatter_reduce scatter_reduce_", _along_axis(2)),
    **each("index_add index_add_", _along_axis(2)),
    **each("index_copy index_copy_ index_fill index_fill_", _along_axis(2, negative=True)),
    **each("__getitem__ __setitem__ index_put index_put_", _brackets),
}


def indexed_by_values(call: OpCall) -> tuple[Indexed, ...]:
    """The operands whose values decide whether the call is right.

    Example:
        >>> ids, table = Operand(0, (1, 4), "int64"), Operand(1, (100, 8), "float32")
        >>> indexed_by_values(OpCall("torch.nn.functional.embedding", (ids, table)))[0].size
        100
    """
    read = _INDEXED.get(call.short_name)
    return tuple(read(call)) if read else ()


def range_clash(call: OpCall) -> Clash | None:
    """The clash of an index whose known values lie outside what it indexes; None where they don't or nobody knows them."""
    return next((clash for indexed in indexed_by_values(call) if (clash := _outside(indexed))), None)


def _outside(indexed: Indexed) -> Clash | None:
    low, high, size = indexed.index.low, indexed.index.high, indexed.size
    if low is None or high is None:
        return None
    if size is None:
        words = f"the index holds {low}, it has to be 0 or more"
        return Clash(indexed.kind, {"min_index": low}, {"min_index": 0}, operand=indexed.index.id, words=words) if low < 0 else None
    lowest = -size if indexed.negative else 0
    if lowest <= low and high < size:
        return None
    value = high if high >= size else low
    if "float" in indexed.index.dtype:  # of fractions only the whole numbers around them are known
        beyond = f"above {size - 1} (up to {high})" if high >= size else f"below {lowest} (down to {low})"
        words = f"the target holds values {beyond}, it takes those from {lowest} to {size - 1}"
        return Clash(indexed.kind, {}, {}, operand=indexed.index.id, words=words)
    if indexed.kind == "loss_target_range":
        words = f"the target holds class {value}, the prediction has {size} classes, numbered from {lowest} to {size - 1}"
    else:
        words = f"the index holds {value}, what it indexes has {size} entries, numbered from {lowest} to {size - 1}"
    return Clash(indexed.kind, {indexed.got: value}, {indexed.want: size}, operand=indexed.index.id, words=words)
