"""stack_ragged: the items of a batch have different sizes, as collate meets them."""

import re

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, first_line, said, told
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace

KIND = "stack_ragged"
_SAID = re.compile(r"stack expects each tensor to be equal size, but got \[([\d, ]*)\] at entry 0 and \[([\d, ]*)\] at entry \d+")
_LENGTH = re.compile(r"expected sequence of length (?P<want>\d+) at dim \d+ \(got (?P<got>\d+)\)")
_LISTS = "each element in list of batch should be of equal size"
_ARRAYS = re.compile(r"input arrays must have the same shape|inhomogeneous shape|could not broadcast input array from shape")


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation by the items' shapes, else by torch's words."""
    if clash is not None:
        return told(failure, clash, trace) if clash.kind == KIND else None
    if found := _SAID.search(failure.message):
        first, other = ([int(size) for size in re.findall(r"\d+", group)] for group in found.groups())
        want, got = next(((a, b) for a, b in zip(first, other, strict=False) if a != b), (len(first), len(other)))
        return said(KIND, failure, trace, f"the first item is {first}, another one {other}", {"size": got}, {"size": want})
    if found := _LENGTH.search(failure.message):
        got, want = int(found["got"]), int(found["want"])
        return said(KIND, failure, trace, f"the first row holds {want}, another one {got}", {"length": got}, {"length": want})
    if _LISTS in failure.message:
        return _lists(failure, trace)
    if _ARRAYS.search(failure.message):
        return said(KIND, failure, trace, first_line(failure))
    return None


def _lists(failure: Failure, trace: Trace) -> Explanation:
    given = failure.call.args[0] if failure.call.args else ()
    lengths = [length for length in given if isinstance(length, int)] if isinstance(given, tuple) else []
    odd = next((length for length in lengths if length != lengths[0]), None)
    if odd is None:
        return said(KIND, failure, trace, first_line(failure))
    words = f"the first item of the batch is a list of {lengths[0]}, another one of {odd}"
    return said(KIND, failure, trace, words, {"length": odd}, {"length": lengths[0]})
