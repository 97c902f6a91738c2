"""Operands that have to be equally long: one padded, cropped, resized or stretched to the other's size."""

from collections.abc import Iterator

from tb_shapeplugin.fixes.adaptation import Adaptation, cropped, expanded
from tb_shapeplugin.fixes.delivery import at_operand
from tb_shapeplugin.fixes.situation import Candidate, Situation
from tb_shapeplugin.record.values import OpCall, Operand

_MOST_PADDING = 2  # that makes up for a remainder, and no other mistake


def levelled_operand(situation: Situation) -> Iterator[Candidate]:
    """Either side of a skip, or of a sum, brought to the size of the other one."""
    clash = situation.clash
    if situation.kind not in ("cat", "broadcast", "stack_ragged") or clash is None or clash.other < 0:
        return
    pair = [situation.operand(clash.operand), situation.operand(clash.other)]
    if pair[0] is None or pair[1] is None or pair[0].ndim != pair[1].ndim:
        return
    for x, like in ((pair[0], pair[1]), (pair[1], pair[0])):
        for step in _towards(x, like, clash.dim if x.id == clash.operand else clash.other_dim, situation.call):
            candidate = at_operand(situation, x, step, step.effort)
            if candidate is not None:
                yield candidate


def _towards(x: Operand, like: Operand, dim: int, call: OpCall) -> Iterator[Adaptation]:
    joined = call.get(1, "dim", 0) if call.short_name == "cat" else None
    skipped = joined % x.ndim if isinstance(joined, int) else -1
    differing = [at for at in range(x.ndim) if x.shape[at] != like.shape[at] and at != skipped]
    after = tuple(like.shape[at] if at in differing else size for at, size in enumerate(x.shape))
    spatial = range(2, x.ndim)
    floating = x.dtype.startswith(("float", "bfloat"))
    if x.ndim in (3, 4, 5) and differing and all(at in spatial for at in differing) and floating:
        pad = [value for at in reversed(spatial) for value in (0, after[at] - x.shape[at])]
        gaps = [after[at] - x.shape[at] for at in differing]
        effort = 1.05 if min(gaps) > 0 and max(gaps) <= _MOST_PADDING else 1.8
        yield Adaptation("pad", {"pad": pad}, after, f"F.pad({pad})", effort)
        yield Adaptation("interpolate", {"size": list(after[2:])}, after, f"F.interpolate(size={tuple(after[2:])})", 1.2)
    elif len(differing) == 1 and x.shape[differing[0]] == 1:
        yield expanded(x.shape, differing[0], after[differing[0]])
    elif len(differing) == 1 and differing[0] == dim and after[dim] < x.shape[dim] and after[dim] > 1:
        yield cropped(x.shape, dim, after[dim], 1.8)
    elif len(differing) == 1 and differing[0] == dim and after[dim] > x.shape[dim] > 1 and call.short_name != "stack":
        pad = [0, 0] * (x.ndim - 1 - dim) + [0, after[dim] - x.shape[dim]]
        yield Adaptation("pad_to", {"dim": dim, "to": after[dim]}, after, f"F.pad({pad})", 2.0)
