"""loss_target_shape: prediction and target don't fit the loss."""

import re

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, said, told
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace

KIND = "loss_target_shape"
_ROWS = re.compile(r"input batch_size \((\d+)\) to match target batch_size \((\d+)\)")
_SIZES = re.compile(r"Expected target size \[([\d, ]*)\], got \[([\d, ]*)\]")


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation by prediction and target, else by torch's words."""
    if clash is not None:
        return told(failure, clash, trace) if clash.kind == KIND else None
    if found := _ROWS.search(failure.message):
        want, got = int(found[1]), int(found[2])
        return said(KIND, failure, trace, f"the target has {got} rows, the prediction {want}", {"rows": got}, {"rows": want})
    if found := _SIZES.search(failure.message):
        needed, given = ([int(size) for size in re.findall(r"\d+", group)] for group in found.groups())
        want, got = next(((a, b) for a, b in zip(needed, given, strict=False) if a != b), (len(needed), len(given)))
        return said(KIND, failure, trace, f"the target is {given}, it should be {needed}", {"size": got}, {"size": want})
    return None
