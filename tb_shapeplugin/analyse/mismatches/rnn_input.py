"""rnn_input: the last axis of the input isn't a recurrent layer's input_size."""

import re

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, pair_said, said, told
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace

KIND = "rnn_input"
_SAID = (
    re.compile(r"must be equal to input_size\. Expected (?P<want>\d+), got (?P<got>\d+)"),
    re.compile(r"input has inconsistent input_size: got (?P<got>\d+),? expected (?P<want>\d+)"),
)


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation by the input's width, else by torch's words."""
    if clash is not None:
        return told(failure, clash, trace) if clash.kind == KIND else None
    pair = pair_said(failure.message, _SAID)
    if pair is None:
        return None
    got, want = pair
    words = f"the last dim of its input is {got}, input_size is {want}"
    return said(KIND, failure, trace, words, {"input_size": got}, {"input_size": want})
