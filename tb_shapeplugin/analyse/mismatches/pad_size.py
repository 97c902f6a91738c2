"""pad_size: a padding is longer than its mode allows."""

import re

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, said, told
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace

KIND = "pad_size"
_SAID = re.compile(r"[Pp]adding.*\((\d+), (\d+)\) at dimension (\d+) of input \[([\d, ]*)\]")


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation by input and padding, else by torch's words."""
    if clash is not None:
        return told(failure, clash, trace) if clash.kind == KIND else None
    if found := _SAID.search(failure.message):
        size = [int(size) for size in re.findall(r"\d+", found[4])][int(found[3])]
        pad = max(int(found[1]), int(found[2]))
        return said(KIND, failure, trace, f"its input is {size} long, it is padded by {pad}", {"pad": pad}, {"below": size})
    return None
