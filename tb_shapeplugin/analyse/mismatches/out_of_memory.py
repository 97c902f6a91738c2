"""out_of_memory: an allocation failed."""

import re

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, first_line, said
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace

KIND = "out_of_memory"
_SAID = re.compile(r"out of memory|not enough memory|can't allocate memory", re.IGNORECASE)


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation in torch's own words."""
    if failure.error in ("OutOfMemoryError", "MemoryError") or (failure.error == "RuntimeError" and _SAID.search(failure.message)):
        return said(KIND, failure, trace, first_line(failure))
    return None
