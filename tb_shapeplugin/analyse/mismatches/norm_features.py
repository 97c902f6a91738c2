"""norm_features: a normalisation sees another number of features than it was declared for."""

import re

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, said, told
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace

KIND = "norm_features"
_SAID = re.compile(r"(?:running_mean|running_var|weight|bias) should contain (\d+) elements not (\d+)")
_MODULE_SAID = re.compile(r"to match num_features \((\d+)\), but got: (\d+)")


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation by input and parameters, else by torch's words."""
    if clash is not None:
        return told(failure, clash, trace) if clash.kind == KIND else None
    pair = None
    if found := _SAID.search(failure.message):
        pair = int(found[1]), int(found[2])
    elif found := _MODULE_SAID.search(failure.message):
        pair = int(found[2]), int(found[1])
    if pair is None:
        return None
    got, want = pair
    return said(KIND, failure, trace, f"its input holds {got} features, it takes {want}", {"features": got}, {"features": want})
