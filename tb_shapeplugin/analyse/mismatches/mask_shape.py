"""mask_shape: a padding, causal, boolean or fill mask doesn't fit what it masks."""

import re

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, said, told
from tb_shapeplugin.ops.indexing import masked_by_values
from tb_shapeplugin.ops.reading import product
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace

KIND = "mask_shape"
_INDEXED = re.compile(
    r"shape of the mask \[([\d, ]*)\] at index (\d+) does not match the shape of the indexed tensor \[([\d, ]*)\] at index (\d+)"
)
_ATTENTION = re.compile(
    r"(?:shape|size) of (?:the )?(?:\w+ )?(attn_mask|key_padding_mask|mask)\b.* is \(([\d, ]*)\), but should be \(([\d, ]*)\)"
)
_VALUES = re.compile(r"value tensor of shape \[([\d, ]*)\] cannot be broadcast to indexing result of shape \[([\d, ]*)\]")


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation by mask and masked, else by torch's words."""
    if clash is not None:
        return told(failure, clash, trace) if clash.kind == KIND else None
    if found := _INDEXED.search(failure.message):
        mask, masked = (_sizes(found[at]) for at in (1, 3))
        got, want = mask[int(found[2])], masked[int(found[4])]
        return said(KIND, failure, trace, f"the mask has {got} where {masked} has {want}", {"size": got}, {"size": want})
    if found := _ATTENTION.search(failure.message):
        mask, needed = _sizes(found[2]), _sizes(found[3])
        got, want = next(((a, b) for a, b in zip(mask, needed, strict=False) if a != b), (len(mask), len(needed)))
        return said(KIND, failure, trace, f"{found[1]} is {mask}, it should be {needed}", {"length": got}, {"length": want})
    if (found := _VALUES.search(failure.message)) and masked_by_values(failure.call):
        given, taken = (_sizes(found[at]) for at in (1, 2))
        got, want = (product(sizes) for sizes in (given, taken))
        words = f"the mask picks {taken}, the values written there are {given}"
        return said(KIND, failure, trace, words, {"values": got}, {"values": want})
    return None


def _sizes(text: str) -> list[int]:
    return [int(size) for size in re.findall(r"\d+", text)]
