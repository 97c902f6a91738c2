"""Where each call of a module, and each module never called, stands among the rows of a Record's modules."""

from collections.abc import Sequence

from tb_shapeplugin.record.record import Record


def row_order(record: Record) -> list[tuple[int, int]]:
    """(module, call) of every row: calls as they began, call = -1 for a module never called.

    A module never called stands where the tree has it: behind the sibling registered before it, else behind its
    parent. One whose parts were called (a ModuleList) stands before the first of them.

    Example:
        >>> row_order(record)  # root, first part, a part never called, second part
        [(0, 0), (1, 1), (2, -1), (3, 2)]
    """
    called = record.calls.module.tolist()
    anchors = _anchors(record.modules.parent.tolist(), called, record.calls.parent.tolist())
    rank = {module: rank for rank, module in enumerate(anchors)}
    uncalled = sorted(set(anchors) - set(called), key=lambda module: (anchors[module], rank[module]))
    rows: list[tuple[int, int]] = []
    begun = 0
    for module in uncalled:
        rows += ((called[call], call) for call in range(begun, anchors[module]))
        begun = anchors[module]
        rows.append((module, -1))
    return rows + [(called[call], call) for call in range(begun, len(called))]


def _anchors(parents: Sequence[int], called: Sequence[int], callers: Sequence[int]) -> dict[int, int]:
    """Per module, in tree order, the call before which it stands: its own first one where it was called."""
    ends = _block_ends(callers)
    first_call = {module: call for call, module in reversed(list(enumerate(called)))}
    first_inside = _first_inside(parents, first_call)
    children: dict[int, list[int]] = {}
    for module, parent in enumerate(parents):
        children.setdefault(parent, []).append(module)
    anchors: dict[int, int] = {}
    behind = {-1: 0}  # per parent, the call before which its next part never called stands
    waiting = list(reversed(children.get(-1, [])))
    while waiting:
        module = waiting.pop()
        anchor = first_inside.get(module, behind[parents[module]])
        anchors[module] = anchor
        own = first_call.get(module)
        behind[module] = anchor if own is None else own + 1
        _move_behind(module, ends[own] if own is not None else anchor, parents, first_call, ends, behind)
        waiting += reversed(children.get(module, []))
    return anchors


def _move_behind(
    module: int, end: int, parents: Sequence[int], first_call: dict[int, int], ends: Sequence[int], behind: dict[int, int]
) -> None:
    """Let later siblings stand behind the module's rows; through parents that weren't called, theirs too."""
    parent = parents[module]
    while True:
        own = first_call.get(parent)
        # A part called from elsewhere doesn't carry its siblings out of their parent's rows.
        last = ends[own] if own is not None else end
        behind[parent] = max(behind[parent], min(end, last))
        if parent < 0 or own is not None:
            return
        parent = parents[parent]


def _block_ends(callers: Sequence[int]) -> list[int]:
    """Per call, the first later call that isn't inside it."""
    sizes = [1] * len(callers)
    for call in range(len(callers) - 1, -1, -1):
        if callers[call] >= 0:
            sizes[callers[call]] += sizes[call]
    return [call + size for call, size in enumerate(sizes)]


def _first_inside(parents: Sequence[int], first_call: dict[int, int]) -> dict[int, int]:
    """Per module, the first call of it, or, where it has none, of a module below it."""
    below: dict[int, int] = {}
    for module, call in first_call.items():
        above = parents[module]
        while above >= 0 and below.get(above, call + 1) > call:
            below[above] = call
            above = parents[above]
    return {**below, **first_call}
