"""index_range: an index lies outside its table; every shape is right."""

import re

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, first_line, said, told
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace

KIND = "index_range"
_SAID = re.compile(r"index (-?\d+) is out of bounds for (?:dimension|axis) (\d+) with size (\d+)")
_SILENT = "index out of range in self"
_NEGATIVE = re.compile(r"non-negative|not be negative")


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation by the numbers that torch or the call states; an embedding states none."""
    known = clash is not None and clash.kind != KIND  # a module that takes its argument apart wants another one
    if not known and (found := _SAID.search(failure.message)):
        got, size = int(found[1]), int(found[3])
        words = f"index {got} lies outside dim {found[2]}, which has {size}"
        return said(KIND, failure, trace, words, {"max_index": got}, {"below": size})
    if clash is not None and clash.kind == KIND:
        return told(failure, clash, trace)
    if _NEGATIVE.search(failure.message):
        return said(KIND, failure, trace, first_line(failure))
    if _SILENT not in failure.message:
        return None
    weight = failure.call.operand(1, "weight")
    rows = weight.shape[0] if weight is not None and weight.ndim else None
    words = "an index lies outside the table" + (f", whose {rows} rows are numbered from 0 to {rows - 1}" if rows else "")
    return said(KIND, failure, trace, words, None, {"num_embeddings": rows} if rows else None)
