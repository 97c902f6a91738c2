"""linear_in_features: the last axis of the input isn't as long as a Linear layer was declared for."""

import re
from dataclasses import replace

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, said, told, types_of
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace
from tb_shapeplugin.record.values import Operand

KIND = "linear_in_features"
_SAID = re.compile(r"mat1 and mat2 shapes cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\)")


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation of a failing linear; the weight is shown transposed, so that the clashing numbers face each other."""
    if clash is not None and clash.kind == KIND:
        return told(failure, clash, trace, _facing(failure))
    found = _SAID.search(failure.message)
    if clash is None and found and failure.call.short_name.lower() == "linear":
        got, want = int(found[1]), int(found[2])
        words = f"the last dim of its input is {got}, in_features is {want}"
        return said(KIND, failure, trace, words, {"in_features": got}, {"in_features": want})
    return None


def _facing(failure: Failure) -> str:
    x, weight, *_ = failure.call.operands()
    turned: Operand = replace(weight, shape=weight.shape[::-1]) if weight.ndim == 2 else weight
    return types_of(x, turned)
