"""seq_lengths: a list of lengths doesn't match the batch: packing, CTC."""

import re

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, said, told
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace

KIND = "seq_lengths"
_SAID = re.compile(r"equal to batch_size, but got (\d+) \(batch_size=(\d+)\)")
_CTC = re.compile(r"(?:input|target)_lengths must be of size batch_size|Expected .*_lengths to have value at most")


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation by lengths and batch, else by torch's words."""
    if clash is not None and clash.kind == KIND:
        return told(failure, clash, trace)
    if found := _SAID.search(failure.message):
        got, want = int(found[1]), int(found[2])
        return said(KIND, failure, trace, f"there are {got} lengths for a batch of {want}", {"lengths": got}, {"batch": want})
    if _CTC.search(failure.message):
        return said(KIND, failure, trace, failure.message.strip().splitlines()[0])
    return None
