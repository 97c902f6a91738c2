"""conv_kernel: a kernel or pooling window is larger than the padded map."""

import re

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, said, told
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace

KIND = "conv_kernel"
_SAID = re.compile(r"input size per channel: \((\d+)[^)]*\)\. Kernel size: \((\d+)")
_NOTHING_LEFT = re.compile(r"Given input size: \(([^)]+)\)\. Calculated output size: \(([^)]+)\)")


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation by input and kernel, else by torch's words."""
    if clash is not None:
        return told(failure, clash, trace) if clash.kind == KIND else None
    if found := _SAID.search(failure.message):
        got, want = int(found[1]), int(found[2])
        return said(KIND, failure, trace, f"its padded input is {got} long, the kernel {want}", {"size": got}, {"min_size": want})
    if found := _NOTHING_LEFT.search(failure.message):
        words = f"nothing is left of its input {found[1]}: the output would be {found[2]}"
        return said(KIND, failure, trace, words, {"size": int(re.findall(r"\d+", found[1])[-1])})
    return None
