"""broadcast: operands of an elementwise op, an expand or an in-place op don't broadcast."""

import re

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, pair_said, said, told
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace

KIND = "broadcast"
_SAID = (
    re.compile(r"size of tensor a \((?P<got>\d+)\) must match the size of tensor b \((?P<want>\d+)\)"),
    re.compile(r"expanded size of the tensor \((?P<want>\d+)\) must match the existing size \((?P<got>\d+)\)"),
)


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation by the operands' shapes, else by torch's words."""
    if clash is not None:
        return told(failure, clash, trace) if clash.kind == KIND else None
    pair = pair_said(failure.message, _SAID)
    if pair is None:
        return None
    return said(KIND, failure, trace, f"{pair[0]} meets {pair[1]}, and neither is 1", {"size": pair[0]}, {"size": pair[1]})
