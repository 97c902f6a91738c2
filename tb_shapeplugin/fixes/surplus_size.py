"""A view that states one size too many: without it the elements, or the axes that are wanted later, come out right."""

from collections.abc import Iterator

from tb_shapeplugin.analyse.origins.recalled import recalled
from tb_shapeplugin.fixes.situation import Candidate, Situation
from tb_shapeplugin.ops.reading import Unreadable, listed, replaced
from tb_shapeplugin.ops.viewing import filled
from tb_shapeplugin.record.finding import Fix
from tb_shapeplugin.record.trace import OpFact
from tb_shapeplugin.record.values import Shape

_VIEWS = ("view", "reshape")
_KINDS = ("view_numel", "rank", "broadcast", "matmul_dims", "attn_layout", "linear_in_features", "norm_features", "cat")
_EFFORT, _UPSTREAM = 0.95, 0.2


def surplus_size(situation: Situation) -> Iterator[Candidate]:
    """The failing view, or one before the failing call, with one of its sizes left out."""
    if situation.kind not in _KINDS:
        return
    for target, shape in _shorter(situation, situation.op) if not situation.in_torchs_code else ():
        if shape:
            yield _candidate(situation, situation.op, target, _EFFORT)
    for op in situation.written_before():
        for target, shape in _shorter(situation, op):
            if shape and situation.replay.runs({op.outputs[0]: shape}):
                yield _candidate(situation, op, target, _EFFORT + _UPSTREAM)


def _shorter(situation: Situation, op: OpFact) -> Iterator[tuple[Shape, Shape | None]]:
    """The target with each size left out, the last one first, and the shape that the view then gives; None where it gives none."""
    call = situation.call if op is situation.op else recalled(op, situation.trace)
    x = next(iter(call.operands()), None)
    if call.short_name not in _VIEWS or x is None:
        return
    try:
        target = listed(call, 1, "shape", "size")
    except Unreadable:
        return
    for at in reversed(range(1, len(target))):
        shorter = replaced(target, at)
        yield shorter, filled(x.numel, shorter) if shorter.count(-1) <= 1 and 0 not in shorter else None


def _candidate(situation: Situation, op: OpFact, target: Shape, effort: float) -> Candidate:
    name = op.name.rpartition(".")[2]
    line = situation.trace.sources[op.source].line if op.source >= 0 else situation.finding.line
    where = f" in line {line}" if line != situation.finding.line else ""
    change = situation.call_change(op, arguments=list(target))
    return Candidate(Fix(f"{name}({', '.join(map(str, target))}){where}", (change,)), effort, reshapes=True)
