"""compile_guard: torch.compile was told that a size varies, but the code pins it to a constant."""

import re

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, said, told
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace

KIND = "compile_guard"
_SAID = re.compile(r"marked (?P<what>.+?) as dynamic but your code specialized it to be a constant \((?P<value>\d+)\)", re.DOTALL)


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation by the op that pins the size, else by the size that torch states."""
    if clash is not None and clash.kind == KIND:
        return told(failure, clash, trace)
    found = _SAID.search(failure.message)
    if not found:
        return None
    value = int(found["value"])
    words = f"{found['what']} is declared variable, the code pins it to {value}"
    return said(KIND, failure, trace, words, {"size": value}, {"size": value})
