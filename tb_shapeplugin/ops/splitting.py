"""Rules of ops that cut a tensor into several: split, chunk, unbind; and of narrow and select."""

from tb_shapeplugin.ops.reading import Unreadable, axis_missing, numbers, replaced, tensor, wrapped
from tb_shapeplugin.ops.rule import RULES, Outputs, Rule, one
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall, Operand


def _sizes(call: OpCall, size: int) -> tuple[int, ...]:
    given = call.get(1, "split_size_or_sections") if "split_size" not in call.kwargs else call.kwargs["split_size"]
    if given is None:
        given = call.kwargs.get("split_sizes")
    if isinstance(given, int) and given > 0:
        return tuple(min(given, size - start) for start in range(0, size, given)) or (0,)
    return numbers(given if isinstance(given, tuple) else None)


def _place(call: OpCall, position: int = 2) -> tuple[Operand, int]:
    return tensor(call, 0, "input"), call.integer(position, "dim", 0)


def _split_requires(call: OpCall) -> Clash | None:
    x, dim = _place(call)
    if clash := axis_missing(call, x, dim):
        return clash
    at = wrapped(dim, x.ndim)
    sizes = _sizes(call, x.shape[at])
    if sum(sizes) == x.shape[at]:
        return None
    total = " + ".join(map(str, sizes))
    words = f"dim {at} of its input {x} is {x.shape[at]}, the split sizes add up to {sum(sizes)} = {total}"
    return Clash("split_sizes", {"size": x.shape[at]}, {"sum": sum(sizes)}, operand=x.id, dim=at, words=words)


def _split_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, dim = _place(call)
    at = wrapped(dim, x.ndim)
    return (tuple(replaced(x.shape, at, size) for size in _sizes(call, x.shape[at])),)


def _axis_requires(call: OpCall) -> Clash | None:
    return axis_missing(call, *_place(call))


def _chunk_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, dim = _place(call)
    at, parts = wrapped(dim, x.ndim), call.integer(1, "chunks", 1)
    each = -(-x.shape[at] // max(1, parts))
    sizes = [min(each, x.shape[at] - start) for start in range(0, x.shape[at], max(1, each))] or [0] * parts
    return (tuple(replaced(x.shape, at, size) for size in sizes),)


def _unbind_requires(call: OpCall) -> Clash | None:
    return axis_missing(call, *_place(call, 1))


def _unbind_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, dim = _place(call, 1)
    at = wrapped(dim, x.ndim)
    return ((replaced(x.shape, at),) * x.shape[at],)


def _select_requires(call: OpCall) -> Clash | None:
    x, dim, index = tensor(call, 0, "input"), call.integer(1, "dim", 0), call.integer(2, "index", 0)
    if clash := axis_missing(call, x, dim):
        return clash
    return index_outside(x, wrapped(dim, x.ndim), index)


def index_outside(x: Operand, dim: int, index: int) -> Clash | None:
    """The clash of a plain index beyond its axis."""
    size = x.shape[dim]
    if -size <= index < size:
        return None
    words = f"index {index} lies outside dim {dim} of {x}, which has {size}"
    return Clash("index_range", {"index": index}, {"below": size}, operand=x.id, dim=dim, words=words)


def _select_gives(call: OpCall) -> tuple[Outputs, ...]:
    x = tensor(call, 0, "input")
    return one(replaced(x.shape, wrapped(call.integer(1, "dim", 0), x.ndim)))


def _narrow(call: OpCall) -> tuple[Operand, int, int, int]:
    x, dim = tensor(call, 0, "input"), call.integer(1, "dim", 0)
    start, length = call.get(2, "start"), call.get(3, "length")
    if not isinstance(start, int) or not isinstance(length, int):
        raise Unreadable("narrow without plain ints")
    return x, dim, start, length


def _narrow_requires(call: OpCall) -> Clash | None:
    x, dim, start, length = _narrow(call)
    if clash := axis_missing(call, x, dim):
        return clash
    at = wrapped(dim, x.ndim)
    begin = start if start >= 0 else start + x.shape[at]
    if begin + length <= x.shape[at]:
        return None
    words = f"dim {at} of its input {x} is {x.shape[at]}, {length} from {start} on need {begin + length}"
    return Clash("index_range", {"size": x.shape[at]}, {"min_size": begin + length}, operand=x.id, dim=at, words=words)


def _narrow_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, dim, _, length = _narrow(call)
    return one(replaced(x.shape, wrapped(dim, x.ndim), length))


RULES.register("split", "split_with_sizes")(Rule(_split_requires, _split_gives))
RULES.register("chunk")(Rule(_axis_requires, _chunk_gives))
RULES.register("unbind")(Rule(_unbind_requires, _unbind_gives))
RULES.register("select")(Rule(_select_requires, _select_gives))
RULES.register("narrow")(Rule(_narrow_requires, _narrow_gives))
