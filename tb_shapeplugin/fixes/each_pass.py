"""A change of one call made at each pass through its statement: the same line in every block, in every round of a loop."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from tb_shapeplugin.fixes.situation import Candidate, Change
from tb_shapeplugin.record.site import Statement, statement
from tb_shapeplugin.record.trace import OpFact, Trace

_MOST = 400  # passes
_Place = tuple[str, int]  # a module's path, and the how-manieth call of that name it is there


def at_each_pass(trace: Trace, candidate: Candidate) -> Candidate | None:
    """The candidate with its change at all passes; None where it changes anything but one call, or there is one pass only.

    A block that the run never reached is taken to call what its equals call.

    Example:
        >>> at_each_pass(trace, candidate).fix.text
        'split(24, dim=2), each time'
    """
    first = candidate.fix.changes[0] if candidate.fix.changes else {}
    if any("call" not in change or change["call"] != first.get("call") for change in candidate.fix.changes):
        return None
    known = {(path, index) for change in candidate.fix.changes for path, index in [(str(change["module"]), int(change["index"]))]}
    places = list(dict.fromkeys(_passes(trace, str(first.get("call")), known)))
    fresh = [place for place in places if place not in known]
    if not fresh or len(places) > _MOST:
        return None
    changes: tuple[Change, ...] = tuple({**first, "module": path, "index": index} for path, index in fresh)
    fix = replace(candidate.fix, text=f"{candidate.fix.text}, each time", changes=(*candidate.fix.changes, *changes))
    return replace(candidate, fix=fix)


def _passes(trace: Trace, name: str, known: set[_Place]) -> Iterator[_Place]:
    """Where the statements of the known places come by, in the order of the run; then where they would in blocks never reached."""
    calls = list(_calls(trace, name))
    statements = {stands for stands, place in calls if place in known}
    came = [place for stands, place in calls if stands in statements]
    yield from came
    reached = {path for _, (path, _) in calls}
    types = {module.path: module.type for module in trace.modules}
    for module in trace.modules:
        if module.path not in reached:
            equal = (index for path, index in came if types.get(path) == module.type)
            yield from ((module.path, index) for index in dict.fromkeys(equal))


def _calls(trace: Trace, name: str) -> Iterator[tuple[Statement, _Place]]:
    """Each call of that name with its statement and its place."""
    seen: Counter[str] = Counter()
    flat = trace.modules[0].config == "function"
    for op in trace.ops:
        if op.name.rpartition(".")[2] == name:
            path = "" if flat or op.call < 0 else trace.modules[trace.calls[op.call].module].path
            yield _statement(trace, op), (path, seen[path])
            seen[path] += 1


def _statement(trace: Trace, op: OpFact) -> Statement:
    return statement(op.name, trace.sources[op.source] if op.source >= 0 else None)
