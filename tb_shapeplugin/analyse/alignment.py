"""Runs of one model side by side: their calls and ops aligned, level by level, into one tree."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import TypeAlias

from tb_shapeplugin.record.trace import Trace

_LONG = 2_000  # from here on, difflib may leave out what comes up very often: its exact answer is quadratic

# What one call did: its ops (True, index) and the calls that it made (False, index), in order.
Item: TypeAlias = tuple[bool, int]


@dataclass
class Node:
    """An op, or a call with what it did, and its index in each run that has it. The root stands for what no call did."""

    is_op: bool
    key: Hashable = None
    rows: dict[int, int] = field(default_factory=dict)  # run → index of the op or call
    parts: list["Node"] = field(default_factory=list)


def aligned(traces: Sequence[Trace]) -> Node:
    """The tree of all runs: what several of them did at one place of a call is one node."""
    root = Node(is_op=False)
    waiting: list[tuple[Node, int, int]] = []  # node, run, the call that it is in that run
    contents = [_contents(trace) for trace in traces]
    for run in range(len(traces)):
        waiting.append((root, run, -1))
        while waiting:
            node, _, call = waiting.pop()
            items = contents[run].get(call, [])
            node.parts = list(_merged(node.parts, items, traces[run], run))
            waiting += [(part, run, part.rows[run]) for part in node.parts if not part.is_op and run in part.rows]
    return root


def _contents(trace: Trace) -> dict[int, list[Item]]:
    placed: list[tuple[int, int, int, int]] = []  # position, calls before the op at it, index, parent
    placed += [(index, 1, index, op.call) for index, op in enumerate(trace.ops)]
    placed += [(call.first_op, 0, index, call.parent) for index, call in enumerate(trace.calls)]
    contents: dict[int, list[Item]] = {}
    for _, is_op, index, parent in sorted(placed):
        contents.setdefault(parent, []).append((bool(is_op), index))
    return contents


def _key(trace: Trace, item: Item) -> Hashable:
    is_op, index = item
    if not is_op:
        return trace.modules[trace.calls[index].module].path
    op = trace.ops[index]
    source = trace.sources[op.source] if op.source >= 0 else None
    return op.name, (source.file, source.line, source.column, source.end_column) if source is not None else None


def _merged(parts: list[Node], items: list[Item], trace: Trace, run: int) -> Iterator[Node]:
    """The nodes with the items of one more run: each in the node that it equals, else as a new one at its place."""
    keys = [_key(trace, item) for item in items]
    for known, given in _matches([part.key for part in parts], keys):
        if known is None and given is not None:
            yield Node(items[given][0], keys[given], {run: items[given][1]})
        elif known is not None:
            if given is not None:
                parts[known].rows[run] = items[given][1]
            yield parts[known]


def _matches(known: list[Hashable], given: list[Hashable]) -> Iterator[tuple[int | None, int | None]]:
    """Positions in both lists, in order; None where the other one has nothing equal."""
    matcher = SequenceMatcher(None, known, given, autojunk=max(len(known), len(given)) > _LONG)
    for tag, first, end, other, other_end in _opcodes(matcher, known, given):
        if tag == "equal":
            yield from zip(range(first, end), range(other, other_end), strict=True)
        else:
            yield from ((position, None) for position in range(first, end))
            yield from ((None, position) for position in range(other, other_end))


def _opcodes(matcher: SequenceMatcher[Hashable], known: list[Hashable], given: list[Hashable]) -> Iterator[tuple[str, int, int, int, int]]:
    if known == given:
        yield "equal", 0, len(known), 0, len(given)
    else:
        yield from matcher.get_opcodes()
