"""rnn_input: the last axis of the input isn't a recurrent layer's input_size."""

import re

from tb_shapeplugin.analyse.mismatches.explanation import of_kind_or_said

KIND = "rnn_input"
_SAID = (
    re.compile(r"must be equal to input_size\. Expected (?P<want>\d+), got (?P<got>\d+)"),
    re.compile(r"input has inconsistent input_size: got (?P<got>\d+),? expected (?P<want>\d+)"),
)

explain = of_kind_or_said(KIND, _SAID, "input_size", "the last dim of its input is {got}, input_size is {want}")
