"""split_sizes: the split sizes don't add up to the axis."""

import re

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, said, told
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace

KIND = "split_sizes"
_SAID = re.compile(r"to sum exactly to (\d+) .*split_sizes=\[([\d, ]*)\]")


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation by axis and sizes, else by torch's words."""
    if clash is not None:
        return told(failure, clash, trace) if clash.kind == KIND else None
    if found := _SAID.search(failure.message):
        sizes = [int(size) for size in re.findall(r"\d+", found[2])]
        got, want = int(found[1]), sum(sizes)
        words = f"the axis is {got}, the split sizes add up to {want} = {' + '.join(map(str, sizes))}"
        return said(KIND, failure, trace, words, {"size": got}, {"sum": want})
    return None
