"""Where a failure stands, told so that it is known again in another run of the same model."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from tb_shapeplugin.record.trace import OpFact, SourceFact, Trace

_NOWHERE = SourceFact("", 0)


@dataclass(frozen=True, slots=True)
class Statement:
    """A call by its place in the code, whichever module runs it.

    Columns count from 0; both are 0 where Python doesn't tell them (before 3.11).
    """

    op: str
    file: str
    line: int
    column: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Site:
    """A call by its place in the code, its module and the how-manieth it is there: two calls in one statement are two sites."""

    statement: Statement
    module: str
    occurrence: int  # from 0, among the calls of that op at that place in that module


def statement(op: str, source: SourceFact | None) -> Statement:
    """The place in the code of a call of that op."""
    at = source or _NOWHERE
    return Statement(op, at.file, at.line, at.column, at.end_column)


class Passing:
    """Counts calls as they come, so that equal ones are told apart."""

    def __init__(self) -> None:
        self._came: Counter[tuple[Statement, str]] = Counter()

    def site(self, call: Statement, module: str) -> Site:
        """The site of the call that comes next there."""
        return Site(call, module, self._came[call, module])

    def came(self, call: Statement, module: str) -> None:
        """That call has come."""
        self._came[call, module] += 1

    def taken_back(self, call: Statement, module: str) -> None:
        """That call is as though it had never come."""
        self._came[call, module] -= 1


def sites(trace: Trace) -> tuple[Site, ...]:
    """The site of each failure of the trace, in the order of its failures.

    Example:
        >>> [(site.module, site.statement.line, site.occurrence) for site in sites(trace)]
        [('fc1', 33, 0)]
    """
    failing = {failure.op for failure in trace.failures}
    found = {index: site for index, site in _all_sites(trace, max(failing, default=-1) + 1) if index in failing}
    return tuple(found[failure.op] for failure in trace.failures)


def op_at(trace: Trace, site: Site) -> int:
    """The index of the op that ran at a site; -1 where none did.

    Example:
        >>> op_at(trace, sites(trace)[0]) == trace.failures[0].op
        True
    """
    return next((index for index, passed in _all_sites(trace, len(trace.ops)) if passed == site), -1)


def _all_sites(trace: Trace, end: int) -> Iterator[tuple[int, Site]]:
    passing = Passing()
    for index, op in enumerate(trace.ops[:end]):
        place = _place(trace, op)
        yield index, passing.site(*place)
        passing.came(*place)


def _place(trace: Trace, op: OpFact) -> tuple[Statement, str]:
    module = trace.modules[trace.calls[op.call].module].path if op.call >= 0 else ""
    return statement(op.name, trace.sources[op.source] if op.source >= 0 else None), module
