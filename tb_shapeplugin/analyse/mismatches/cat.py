"""cat: the joined tensors differ on an axis other than the joined one."""

import re

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, said, told
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace

KIND = "cat"
_SAID = re.compile(r"Sizes of tensors must match except in dimension \d+\. Expected size (\d+) but got size (\d+)")


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation by the pieces' shapes, else by torch's words."""
    if clash is not None:
        return told(failure, clash, trace) if clash.kind == KIND else None
    if found := _SAID.search(failure.message):
        want, got = int(found[1]), int(found[2])
        return said(KIND, failure, trace, f"one piece has {got} where another has {want}", {"size": got}, {"size": want})
    return None
