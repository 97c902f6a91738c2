"""attn_layout: query, key and value differ in batch, length or width."""

import re

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, said, told
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace

KIND = "attn_layout"
_WIDTH = re.compile(r"was expecting embedding dimension of (\d+), but got (\d+)")
_EQUAL = re.compile(
    r"(batch|feature) number of src and tgt must be equal|key's sequence and batch dims|key shape .* does not match value shape"
)


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation by the operands, else by torch's words."""
    if clash is not None:
        return told(failure, clash, trace) if clash.kind == KIND else None
    if found := _WIDTH.search(failure.message):
        want, got = int(found[1]), int(found[2])
        return said(KIND, failure, trace, f"its input is {got} wide, embed_dim is {want}", {"width": got}, {"width": want})
    if _EQUAL.search(failure.message):
        return said(KIND, failure, trace, failure.message.strip().splitlines()[0])
    return None
