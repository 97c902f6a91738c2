"""Another index in brackets that the user wrote: the last entry for one that isn't there, an axis kept or dropped, all of an axis."""

import re
from collections.abc import Iterator
from dataclasses import replace
from types import EllipsisType
from typing import TypeAlias

from tb_shapeplugin.analyse.origins.recalled import recalled
from tb_shapeplugin.fixes.delivery import shown
from tb_shapeplugin.fixes.situation import Candidate, Situation
from tb_shapeplugin.ops.indexing import placed_entries
from tb_shapeplugin.ops.rules import gives
from tb_shapeplugin.record.finding import Fix
from tb_shapeplugin.record.trace import OpFact
from tb_shapeplugin.record.values import Opaque, OpCall, Value

Entry: TypeAlias = int | slice | EllipsisType | None

_BRACKETS = "__getitem__"
_ALL = Opaque("slice", ":")
_SLICE = re.compile(r"(-?\d*):(-?\d*)(?::(-?\d*))?")
_NO_SHAPES = ("dtype", "device", "loss_target_range", "norm_batch_one", "state_dict", "call_signature", "user_error")
_UPSTREAM = 1.15  # effort of an index before the failing call
_MOST = 6  # candidates of one pair of brackets


def written_index(situation: Situation) -> Iterator[Candidate]:
    """The failing brackets with an entry that there is; else brackets before the failing call, after which it would run."""
    if situation.kind == "index_range" and situation.call.short_name == _BRACKETS:
        yield from _inside(situation)
    elif situation.kind not in _NO_SHAPES:
        for op in situation.written_before():
            if op.name.rpartition(".")[2] == _BRACKETS:
                yield from _other_shapes(situation, op)


def _inside(situation: Situation) -> Iterator[Candidate]:
    """The last entry, or the first one, where the one that is asked for lies outside: ``x[:, 40]`` of seven columns."""
    entries = list(placed_entries(situation.call))
    for place, (x, axis, entry) in enumerate(entries):
        size = x.shape[axis] if axis < x.ndim else 0
        if not isinstance(entry, int) or isinstance(entry, bool) or not size or -size <= entry < size:
            continue
        alone = not isinstance(situation.call.get(1, "index"), tuple)
        for inside, effort in ((size - 1 if alone else -1, 1.0), (0, 1.1)):
            others = tuple(inside if at == place else own for at, (_, _, own) in enumerate(entries))
            yield from _candidate(situation, situation.op, others, effort)


def _other_shapes(situation: Situation, op: OpFact) -> Iterator[Candidate]:
    """Each entry of the brackets otherwise: a number as a piece of one, a piece as a number, all of the axis."""
    call = recalled(op, situation.trace)
    entries = tuple(entry for _, _, entry in placed_entries(call))
    before = tuple(situation.trace.tensors[output].shape for output in op.outputs)
    beside = list(_beside(situation, op))
    found: list[tuple[Value, ...]] = []
    for place, entry in enumerate(entries):
        as_beside = [own[place] for own in beside if place < len(own) and isinstance(own[place], Opaque)]
        for other in dict.fromkeys((*as_beside, *_others(entry))):
            changed = (*entries[:place], other, *entries[place + 1 :])
            outputs = next(iter(gives(OpCall(call.name, (call.operands()[0], changed)))), ())
            if len(outputs) == 1 and outputs != before and 0 not in outputs[0] and situation.replay.runs({op.outputs[0]: outputs[0]}):
                found.append(changed)
    for changed in found[:_MOST]:
        yield from _candidate(situation, op, changed, _UPSTREAM)


def _beside(situation: Situation, op: OpFact) -> Iterator[tuple[Value, ...]]:
    """The entries of the other brackets in the same statement: ``x[:, 1::2]`` beside ``x[:, 0]``."""
    trace = situation.trace
    for other in trace.ops[: situation.failure.op]:
        same = other is not op and other.name == op.name and other.source >= 0 and other.call == op.call
        if same and op.source >= 0 and trace.sources[other.source].line == trace.sources[op.source].line:
            yield tuple(entry for _, _, entry in placed_entries(recalled(other, trace)))


def _others(entry: Value) -> Iterator[Value]:
    if isinstance(entry, int) and not isinstance(entry, bool):
        yield Opaque("slice", f"{entry}:{entry + 1}" if entry != -1 else "-1:")
        yield _ALL
    elif isinstance(entry, Opaque) and entry.type == "slice":
        start = (_SLICE.fullmatch(entry.text) or [None, None])[1]
        yield int(start) if start else 0
        if entry.text != ":":
            yield _ALL


def _candidate(situation: Situation, op: OpFact, entries: tuple[Value, ...], effort: float) -> Iterator[Candidate]:
    """None where an entry is a tensor, or anything else that a change can't hold."""
    read = [_read(entry) for entry in entries]
    index = tuple(entry for known, entry in read if known)
    if len(index) < len(entries):
        return
    value = index[0] if len(index) == 1 else index
    here = op is situation.op
    name = shown(situation, situation.call.operands()[0]) if here else ""
    text = f"{name}[{', '.join(_text(entry) for entry in entries)}]"
    line = situation.trace.sources[op.source].line if op.source >= 0 else situation.finding.line
    where = "" if here else f" in line {line}"
    fix = Fix(text + where, (situation.call_change(op, argument=1, value=value),))
    yield replace(Candidate(fix, effort), reshapes=True)


def _read(entry: Value) -> tuple[bool, Entry]:
    """Whether an entry can be written down by itself, and as what Python takes it."""
    if entry is None or (isinstance(entry, int) and not isinstance(entry, bool)):
        return True, entry
    if isinstance(entry, Opaque) and entry.text == "...":
        return True, ...
    found = _SLICE.fullmatch(entry.text) if isinstance(entry, Opaque) and entry.type == "slice" else None
    return found is not None, slice(*(int(part) if part else None for part in found.groups())) if found else None


def _text(entry: Value) -> str:
    return entry.text if isinstance(entry, Opaque) else str(entry)
