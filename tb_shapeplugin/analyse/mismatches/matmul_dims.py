"""matmul_dims: the inner dims of a matrix product or einsum differ."""

import re

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, said, told
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace

KIND = "matmul_dims"
_SAID = (
    re.compile(r"mat1 and mat2 shapes cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\)"),
    re.compile(r"size mismatch, got input \(\d+\), mat \(\d+x(\d+)\), vec \((\d+)\)"),
    re.compile(r"has size (\d+) for operand \d+ which does not broadcast with previously seen size (\d+)"),
    re.compile(r"inconsistent tensor size, expected tensor \[(\d+)\] and src \[(\d+)\]"),
)


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation by the factors' shapes, else by torch's words."""
    if clash is not None:
        return told(failure, clash, trace) if clash.kind == KIND else None
    for form in _SAID:
        if found := form.search(failure.message):
            got, want = int(found[1]), int(found[2])
            return said(KIND, failure, trace, f"its factors' inner dims are {got} and {want}", {"inner": got}, {"inner": want})
    return None
