"""rank: a tensor has more or fewer axes than the op takes, or than the code unpacks."""

import re

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, said, told
from tb_shapeplugin.ops.axes import unpacking_clash
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace

KIND = "rank"
_WANT_GOT = (
    re.compile(r"expected (\d)D(?: or \d+D)? input \(got (\d)D input\)"),
    re.compile(r"[Ee]xpected (?:input to be )?(\d)-?D(?:imensional)?\b.*\b(?:got|but got) (\d)-?D"),
    re.compile(r"dimension (\d+).*but got (\d+)-?D"),
)
_GOT_WANT = (
    re.compile(r"input\.dim\(\) = (\d+) is not equal to len\(dims\) = (\d+)"),
    re.compile(r"same number of dimensions: got (\d+) and (\d+)"),
    re.compile(r"number of dimensions in the tensor input does not match.*input\.dim\(\) = (\d+).*len\(\w+\) = (\d+)"),
)
_OUT_OF_RANGE = re.compile(r"Dimension out of range \(expected to be in range of \[(-?\d+), (-?\d+)\], but got (-?\d+)\)")
_TOO_MANY = re.compile(r"too many indices for tensor of dimension (\d+)")


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation by the operands or by what was unpacked, else by torch's words."""
    if clash is not None:
        return told(failure, clash, trace) if clash.kind == KIND else None
    if failure.call.name == "python.unpack":
        return _unpacked_pieces(failure, trace)
    pair = _pair(failure.message)
    if pair is None:
        return None
    got, want = pair
    return said(KIND, failure, trace, f"its input has {got} axes, it takes {want}", {"ndim": got}, {"ndim": want})


def _unpacked_pieces(failure: Failure, trace: Trace) -> Explanation | None:
    """What is unpacked has no name: it is what the statement's last op gave, or the module that it called."""
    expected, last = failure.call.get(1, "expected"), failure.op - 1
    if not isinstance(expected, int) or last < 0:
        return None
    here = trace.ops[failure.op]
    called = [call for call in trace.calls if call.parent == here.call and call.end_op == failure.op and call.first_op < call.end_op]
    pieces = called[-1].outputs if called else trace.ops[last].outputs
    if (not called and _line(trace, last) != _line(trace, failure.op)) or len(pieces) == expected:
        return None
    return told(failure, unpacking_clash(len(pieces), expected), trace)


def _line(trace: Trace, op: int) -> tuple[str, int] | None:
    source = trace.ops[op].source
    return (trace.sources[source].file, trace.sources[source].line) if source >= 0 else None


def _pair(message: str) -> tuple[int, int] | None:
    for form in _GOT_WANT:
        if found := form.search(message):
            return int(found[1]), int(found[2])
    for form in _WANT_GOT:
        if found := form.search(message):
            return int(found[2]), int(found[1])
    if found := _OUT_OF_RANGE.search(message):
        dim = int(found[3])
        return int(found[2]) + 1, dim + 1 if dim >= 0 else -dim
    if found := _TOO_MANY.search(message):
        return int(found[1]), int(found[1]) + 1
    return None
