"""conv_channels: the channel axis isn't as long as a convolution was declared for."""

import re

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, said, told
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace

KIND = "conv_channels"
_SAID = re.compile(r"to have (\d+) channels, but got (\d+) channels")


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation by input and weight, else by torch's words."""
    if clash is not None:
        return told(failure, clash, trace) if clash.kind == KIND else None
    if found := _SAID.search(failure.message):
        want, got = int(found[1]), int(found[2])
        words = f"its input holds {got} channels, in_channels is {want}"
        return said(KIND, failure, trace, words, {"channels": got}, {"channels": want})
    return None
