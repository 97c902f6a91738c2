"""loss_target_range: a class number lies outside the classes; every shape is right."""

import re

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, said, told
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace

KIND = "loss_target_range"
_SAID = re.compile(r"Target (-?\d+) is out of bounds")


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation by the target's values where they are known, else by the class number that torch states."""
    if clash is not None and clash.kind == KIND:
        return told(failure, clash, trace)
    found = _SAID.search(failure.message)
    if not found:
        return None
    scores = failure.call.operand(0, "input")
    classes = scores.shape[1 if scores.ndim > 1 else 0] if scores is not None and scores.ndim else None
    words = f"the target holds class {found[1]}"
    if classes is not None:
        words += f", the prediction has {classes} classes, numbered from 0 to {classes - 1}"
    return said(KIND, failure, trace, words, {"label": int(found[1])}, {"below": classes} if classes is not None else None)
