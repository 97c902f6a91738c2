"""stack_ragged: the items of a batch have different sizes, as collate meets them."""

import re

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, said, told
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace

KIND = "stack_ragged"
_SAID = re.compile(r"stack expects each tensor to be equal size, but got \[([\d, ]*)\] at entry 0 and \[([\d, ]*)\] at entry \d+")


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation by the items' shapes, else by torch's words."""
    if clash is not None:
        return told(failure, clash, trace) if clash.kind == KIND else None
    if found := _SAID.search(failure.message):
        first, other = ([int(size) for size in re.findall(r"\d+", group)] for group in found.groups())
        want, got = next(((a, b) for a, b in zip(first, other, strict=False) if a != b), (len(first), len(other)))
        return said(KIND, failure, trace, f"the first item is {first}, another one {other}", {"size": got}, {"size": want})
    return None
