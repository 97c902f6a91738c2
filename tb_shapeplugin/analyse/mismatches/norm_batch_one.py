"""norm_batch_one: a norm in training sees one value per channel, whose variance is nothing."""

import re

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, said, told
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace

KIND = "norm_batch_one"
_SAID = re.compile(
    r"Expected more than 1 (?:value per channel|spatial element) when training, got input size (?:torch\.Size\()?(\[[\d, ]*\])"
)


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation by the input's shape, or by torch's words."""
    if clash is not None and clash.kind == KIND:
        return told(failure, clash, trace)
    if found := _SAID.search(failure.message):
        words = f"its input {found[1]} has 1 value per channel, in training it needs more than 1 (2 or more)"
        return said(KIND, failure, trace, words, {"values": 1}, {"min_values": 2})
    return None
