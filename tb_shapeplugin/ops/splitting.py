"""Rules of ops that cut a tensor into several: split, chunk, unbind; and of narrow and select."""

import itertools
from collections.abc import Iterator

from tb_shapeplugin.ops.reading import Unreadable, axes_text, axis_missing, distinct, numbers, rank, replaced, tensor, wrapped
from tb_shapeplugin.ops.rule import RULES, Outputs, Rule, one
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall, Operand, Value


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


def _size_readings(sizes: tuple[int, ...], total: int) -> Iterator[tuple[int, ...]]:
    """Sizes that add up: as stated, else one of them changed, the last one first, else equal ones; those stated last."""
    if sum(sizes) == total:
        yield sizes
        return
    for at in reversed(range(len(sizes))):
        rest = total - sum(sizes) + sizes[at]
        if rest > 0:
            yield (*sizes[:at], rest, *sizes[at + 1 :])
    if sizes and total % len(sizes) == 0:
        yield (total // len(sizes),) * len(sizes)
    yield sizes


def _split_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, dim = _place(call)
    at = wrapped(dim, x.ndim)
    readings = distinct(_size_readings(_sizes(call, x.shape[at]), x.shape[at]))
    return tuple(tuple(replaced(x.shape, at, size) for size in sizes) for sizes in readings)


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


# What cuts along a fixed axis: it, and for a shorter tensor the axis that stands in.
_FIXED_AXIS = {"hsplit": (1, 0), "vsplit": (0, 0), "dsplit": (2, 2)}


def _cut(call: OpCall) -> tuple[Operand, int, Value]:
    """What tensor_split, hsplit, vsplit and dsplit cut, along which axis, and into how many pieces or at which indices."""
    x = tensor(call, 0, "input")
    names = ("indices_or_sections", "sections", "indices", "split_size_or_sections")
    given = call.args[1] if len(call.args) > 1 else next((call.kwargs[name] for name in names if name in call.kwargs), None)
    if call.short_name == "tensor_split":
        return x, call.integer(2, "dim", 0), given
    usual, short = _FIXED_AXIS[call.short_name]
    return x, usual if x.ndim > usual else short, given


def _cut_requires(call: OpCall) -> Clash | None:
    x, dim, given = _cut(call)
    if not x.ndim:
        return rank(x, 1, f"its input {x} has {axes_text(0)}, it takes at least 1")
    if clash := axis_missing(call, x, dim):
        return clash
    at = wrapped(dim, x.ndim)
    if call.short_name == "tensor_split" or not isinstance(given, int) or given < 1 or x.shape[at] % given == 0:
        return None
    words = f"dim {at} of its input {x} is {x.shape[at]}, which is no multiple of {given} pieces"
    return Clash("split_sizes", {"size": x.shape[at]}, {"multiple_of": given}, operand=x.id, dim=at, words=words)


def _cut_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, dim, given = _cut(call)
    at = wrapped(dim, x.ndim)
    size = x.shape[at]
    if isinstance(given, int) and given > 0:
        sizes = [size // given + (1 if piece < size % given else 0) for piece in range(given)]
    else:
        edges = [0, *numbers(given), size]
        sizes = [len(range(*slice(start, stop).indices(size))) for start, stop in itertools.pairwise(edges)]
    return (tuple(replaced(x.shape, at, piece) for piece in sizes),)


RULES.register("tensor_split", "hsplit", "vsplit", "dsplit")(Rule(_cut_requires, _cut_gives))
RULES.register("split", "split_with_sizes", "unsafe_split", "unsafe_split_with_sizes")(Rule(_split_requires, _split_gives))
RULES.register("chunk", "unsafe_chunk")(Rule(_axis_requires, _chunk_gives))
RULES.register("unbind")(Rule(_unbind_requires, _unbind_gives))
RULES.register("select")(Rule(_select_requires, _select_gives))
RULES.register("narrow")(Rule(_narrow_requires, _narrow_gives))
