"""view_stride: the sizes are right, but the elements don't lie in memory as view needs them."""

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, said
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace
from tb_shapeplugin.record.values import Operand

KIND = "view_stride"
_SAID = ("view size is not compatible with input tensor's size and stride", "Cannot view a tensor with")


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation of a view whose numbers of elements agree; the sizes on both sides are equal."""
    if not any(words in failure.message for words in _SAID) or (clash is not None and clash.kind != KIND):
        return None
    x = failure.call.args[0] if failure.call.args else None
    if not isinstance(x, Operand):
        return said(KIND, failure, trace, "its input isn't contiguous; use reshape, or contiguous() before")
    words = f"the sizes fit, but {x} isn't contiguous in memory; use reshape, or contiguous() before"
    first = x.shape[0] if x.shape else 1
    return said(KIND, failure, trace, words, {"rows": first}, {"rows": first})
