"""Rules of distances and similarities between vectors: cosine_similarity, pairwise_distance, cdist, pdist."""

from tb_shapeplugin.ops.broadcasting import broadcast_clash, clashing_dims, combined
from tb_shapeplugin.ops.reading import axes_text, axis_missing, rank, tensor
from tb_shapeplugin.ops.reduction import reduced
from tb_shapeplugin.ops.rule import RULES, Outputs, Rule, any_of, one
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall, Operand


def _pair(call: OpCall) -> tuple[Operand, Operand]:
    return tensor(call, 0, "x1"), tensor(call, 1, "x2")


def _similar_requires(call: OpCall) -> Clash | None:
    first, second = _pair(call)
    longest = first if first.ndim >= second.ndim else second
    return broadcast_clash(second, first) or axis_missing(call, longest, call.integer(2, "dim", 1))


def _similar_gives(call: OpCall) -> tuple[Outputs, ...]:
    first, second = _pair(call)
    dim = call.integer(2, "dim", 1)
    return any_of(tuple(reduced(shape, (dim,), False) for shape in combined([first.shape, second.shape])))


def _distance_requires(call: OpCall) -> Clash | None:
    first, second = _pair(call)
    return broadcast_clash(second, first)


def _distance_gives(call: OpCall) -> tuple[Outputs, ...]:
    first, second = _pair(call)
    keep = call.get(4, "keepdim", False) is True
    shapes = combined([first.shape, second.shape])
    return any_of(tuple(reduced(shape, (-1,), keep) if shape else () for shape in shapes))


def _all_pairs_requires(call: OpCall) -> Clash | None:
    first, second = _pair(call)
    for x in (first, second):
        if x.ndim < 2:
            return rank(x, 2, f"{x} has {axes_text(x.ndim)}, it takes at least 2 (vectors, width)")
    got, want = second.shape[-1], first.shape[-1]
    if got != want:
        words = f"the last dim of {second} is {got}, of {first} it is {want}: vectors of another width"
        return Clash("matmul_dims", {"inner": got}, {"inner": want}, second.id, second.ndim - 1, first.id, first.ndim - 1, words)
    for dim, other in clashing_dims(second.shape[:-2], first.shape[:-2]):
        got, want = second.shape[dim], first.shape[other]
        words = f"batch dim {dim} of {second} is {got}, batch dim {other} of {first} is {want}, and neither is 1"
        return Clash("broadcast", {"size": got}, {"size": want}, second.id, dim, first.id, other, words)
    return None


def _all_pairs_gives(call: OpCall) -> tuple[Outputs, ...]:
    first, second = _pair(call)
    batches = combined([first.shape[:-2], second.shape[:-2]])
    return any_of(tuple(batch + first.shape[-2:-1] + second.shape[-2:-1] for batch in batches))


def _own_pairs_requires(call: OpCall) -> Clash | None:
    x = tensor(call, 0, "input")
    return rank(x, 2, f"its input {x} has {axes_text(x.ndim)}, it takes 2 (vectors, width)") if x.ndim != 2 else None


def _own_pairs_gives(call: OpCall) -> tuple[Outputs, ...]:
    count = (*tensor(call, 0, "input").shape, 0)[0]
    return one((count * (count - 1) // 2,))


RULES.register("cosine_similarity")(Rule(_similar_requires, _similar_gives))
RULES.register("pairwise_distance")(Rule(_distance_requires, _distance_gives))
RULES.register("cdist")(Rule(_all_pairs_requires, _all_pairs_gives))
RULES.register("pdist")(Rule(_own_pairs_requires, _own_pairs_gives))
