"""out_of_memory: an allocation failed; and what the model is known to take."""

import re

from tb_shapeplugin.analyse.memory import peak_terms
from tb_shapeplugin.analyse.mismatches.explanation import Explanation, first_line, said
from tb_shapeplugin.base.units import bytes_text
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.memory import TERMS
from tb_shapeplugin.record.trace import Failure, Trace

KIND = "out_of_memory"
_SAID = re.compile(r"out of memory|not enough memory|can't allocate memory", re.IGNORECASE)
_STEP, _FORWARD = "a training step, the optimizer's state not counted,", "the forward"


def runs_out(error: str, message: str) -> bool:
    """Is that an error, by the name of its type and its text, of an allocation that failed?

    Example:
        >>> runs_out("RuntimeError", "DefaultCPUAllocator: can't allocate memory")
        True
    """
    return error in ("OutOfMemoryError", "MemoryError") or (error == "RuntimeError" and _SAID.search(message) is not None)


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation in torch's own words, with the peak that is predicted for the model, where there is one."""
    if not runs_out(failure.error, failure.message):
        return None
    return said(KIND, failure, trace, first_line(failure) + _predicted(trace))


def _predicted(trace: Trace) -> str:
    if trace.memory is None or not trace.memory.iterations:
        return ""
    peak = peak_terms(trace.memory.iterations[-1])
    what = _STEP if len(trace.memory.iterations) > 1 else _FORWARD
    terms = ", ".join(f"{term} {bytes_text(peak[term])}" for term in TERMS if peak.get(term))
    return f"; {what} takes {bytes_text(sum(peak.values()))} at its peak: {terms}" if terms else ""
