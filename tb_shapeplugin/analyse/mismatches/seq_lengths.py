"""seq_lengths: a list of lengths doesn't match the batch: packing, CTC."""

import re

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, first_line, said, told
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace

KIND = "seq_lengths"
_SAID = re.compile(r"equal to batch_size, but got (\d+) \(batch_size=(\d+)\)")
_CTC_LONGEST = re.compile(r"(?P<which>input|target)_lengths to have value at most (?P<want>\d+), but got value (?P<got>\d+)")
_CTC_TARGETS = re.compile(r"have size (?:at least )?(?P<got>\d+) at dimension \d+, but got size (?P<want>\d+) for argument #\d+ 'targets'")
_TOTAL = re.compile(r"total_length=(?P<got>\d+) and max sequence length being (?P<want>\d+)")
_PAST_THE_END = re.compile(r"start \((?P<start>\d+)\) \+ length \((?P<length>\d+)\) exceeds dimension size \((?P<size>\d+)\)")
_AXES = re.compile(r"'lengths' argument should be a 1D CPU int64 tensor, but got (?P<got>\d+)D")
_RECURRENT = ("lstm", "gru", "rnn_tanh", "rnn_relu")
_WORDS = re.compile(
    r"(?:input|target)_lengths must be of size batch_size|`?lengths`? array must be sorted|Length of all samples has to be greater than 0"
)


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation by lengths and batch, else by torch's words."""
    if clash is not None and clash.kind == KIND:
        return told(failure, clash, trace)
    if found := _SAID.search(failure.message):
        got, want = int(found[1]), int(found[2])
        return said(KIND, failure, trace, f"there are {got} lengths for a batch of {want}", {"lengths": got}, {"batch": want})
    if found := _CTC_LONGEST.search(failure.message):
        words = f"{found['which']}_lengths holds {found['got']}, there is room for {found['want']}"
        return said(KIND, failure, trace, words, {"length": int(found["got"])}, {"length": int(found["want"])})
    if found := _CTC_TARGETS.search(failure.message):
        words = f"the target lengths need {found['got']} entries, the targets hold {found['want']}"
        return said(KIND, failure, trace, words, {"length": int(found["got"])}, {"length": int(found["want"])})
    if found := _TOTAL.search(failure.message):
        words = f"total_length is {found['got']}, the longest sequence is {found['want']}"
        return said(KIND, failure, trace, words, {"length": int(found["got"])}, {"length": int(found["want"])})
    if failure.call.short_name in _RECURRENT and (found := _PAST_THE_END.search(failure.message)):
        rows, size = int(found["start"]) + int(found["length"]), int(found["size"])
        words = f"the lengths of the packed sequence reach past its end: row {rows} of {size}; one is longer than what was padded"
        return said(KIND, failure, trace, words, {"rows": rows}, {"rows": size})
    if found := _AXES.search(failure.message):
        words = f"the lengths have {found['got']} axes, they take 1"
        return said(KIND, failure, trace, words, {"ndim": int(found["got"])}, {"ndim": 1})
    return said(KIND, failure, trace, first_line(failure)) if _WORDS.search(failure.message) else None
