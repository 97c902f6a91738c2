"""norm_features: a normalisation sees another number of features than it was declared for."""

import re

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, pair_said, said, told
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace

KIND = "norm_features"
_SAID = (
    re.compile(r"(?:running_mean|running_var|weight|bias) should contain (?P<got>\d+) elements not (?P<want>\d+)"),
    re.compile(r"to match num_features \((?P<want>\d+)\), but got: (?P<got>\d+)"),
)


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation by input and parameters, else by torch's words."""
    if clash is not None:
        return told(failure, clash, trace) if clash.kind == KIND else None
    pair = pair_said(failure.message, _SAID)
    if pair is None:
        return None
    got, want = pair
    return said(KIND, failure, trace, f"its input holds {got} features, it takes {want}", {"features": got}, {"features": want})
