"""Operands that have to be equally long: one padded, cropped, resized or stretched to the other's size."""

from collections.abc import Iterator

from tb_shapeplugin.fixes.adaptation import Adaptation, cropped, expanded, lengthened, resampled
from tb_shapeplugin.fixes.delivery import at_input, at_operand
from tb_shapeplugin.fixes.situation import Candidate, Situation
from tb_shapeplugin.record.values import OpCall, Operand, Shape

_MOST_PADDING = 2  # that makes up for a remainder, and no other mistake


def levelled_operand(situation: Situation) -> Iterator[Candidate]:
    """Either side of a skip, or of a sum, brought to the size of the other one."""
    clash = situation.clash
    if situation.kind == "loss_target_shape":
        yield from _fewer_targets(situation)
    elif situation.kind == "matmul_dims":
        yield from _inner_dims(situation)
    if situation.kind not in ("cat", "broadcast", "stack_ragged") or clash is None or clash.other < 0:
        return
    one, other = situation.operand(clash.operand), situation.operand(clash.other)
    if one is None or other is None or (one.ndim != other.ndim and situation.kind != "broadcast"):
        return
    for x, like in ((one, other), (other, one)):
        for step in _towards(x, _beside(x.shape, like.shape), clash.dim if x.id == clash.operand else clash.other_dim, situation.call):
            candidate = at_operand(situation, x, step, step.effort)
            if candidate is not None:
                yield candidate


def _inner_dims(situation: Situation) -> Iterator[Candidate]:
    """Either factor of a product with its inner dim cropped, or filled, to the other's."""
    clash = situation.clash
    if clash is None or min(clash.operand, clash.other, clash.dim, clash.other_dim) < 0:
        return
    for own, dim, other, other_dim in (
        (clash.operand, clash.dim, clash.other, clash.other_dim),
        (clash.other, clash.other_dim, clash.operand, clash.dim),
    ):
        x, like = situation.operand(own), situation.operand(other)
        if x is None or like is None:
            continue
        size = like.shape[other_dim]
        step = cropped(x.shape, dim, size, 2.1) if size < x.shape[dim] else lengthened(x.shape, dim, size, 2.2)
        candidate = at_operand(situation, x, step, step.effort)
        yield from ([] if candidate is None else [candidate])


def _fewer_targets(situation: Situation) -> Iterator[Candidate]:
    """The surplus of targets, or of predictions, left out."""
    clash, (got, want) = situation.clash, situation.numbers()
    if clash is None or clash.dim != 0 or got is None or want is None:
        return
    for operand in situation.call.operands()[:2]:
        if operand.ndim and operand.shape[0] == max(got, want) > min(got, want) > 0:
            step = cropped(operand.shape, 0, min(got, want), 1.8)
            name = situation.input_name(operand.id)
            at = at_operand(situation, operand, step, step.effort + 0.1)
            yield from ([] if name is None else [at_input(name, step, step.effort)])
            yield from ([] if at is None else [at])


def _beside(shape: Shape, like: Shape) -> Shape:
    """The other shape with as many axes, lined up from the last one as broadcasting does."""
    return (*shape[: len(shape) - len(like)], *like[max(0, len(like) - len(shape)) :])


def _towards(x: Operand, like: Shape, dim: int, call: OpCall) -> Iterator[Adaptation]:
    joined = call.get(1, "dim", 0) if call.short_name == "cat" else None
    skipped = joined % x.ndim if isinstance(joined, int) else -1
    unequal = [at for at in range(x.ndim) if x.shape[at] != like[at] and at != skipped]
    stretched = [at for at in unequal if 1 in (x.shape[at], like[at])] if call.short_name not in ("cat", "stack") else []
    differing = [at for at in unequal if at not in stretched] or unequal
    after = tuple(like[at] if at in differing else size for at, size in enumerate(x.shape))
    spatial = range(2, x.ndim)
    floating = x.dtype.startswith(("float", "bfloat"))
    if x.ndim in (3, 4, 5) and differing and all(at in spatial for at in differing) and floating:
        pad = [value for at in reversed(spatial) for value in (0, after[at] - x.shape[at])]
        gaps = [after[at] - x.shape[at] for at in differing]
        effort = 1.05 if min(gaps) > 0 and max(gaps) <= _MOST_PADDING else 1.8
        yield Adaptation("pad", {"pad": pad}, after, f"F.pad({pad})", effort, _padding_cost(gaps))
        yield resampled(x.shape, after[2:], 1.2)
    elif len(differing) == 1 and x.shape[differing[0]] == 1:
        yield expanded(x.shape, differing[0], after[differing[0]], 0.8 if call.short_name != "stack" else 1.8)
    elif len(differing) == 1 and differing[0] == dim and after[dim] < x.shape[dim] and after[dim] > 1:
        yield cropped(x.shape, dim, after[dim], 1.8)
    elif len(differing) == 1 and differing[0] == dim and after[dim] > x.shape[dim] > 1 and call.short_name != "stack":
        yield lengthened(x.shape, dim, after[dim], 2.0)


def _padding_cost(gaps: list[int]) -> str:
    """What a padding by so many entries an axis does; a negative one crops."""
    return "crops it" if max(gaps) < 0 else "adds zeros" if min(gaps) > 0 else "adds zeros along one axis, crops another"
