"""view_numel: view, reshape or unflatten would change the number of elements."""

import re

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, said, told
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace

KIND = "view_numel"
_SAID = re.compile(r"shape '\[([-\d, ]*)\]' is invalid for input of size (\d+)")


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation by input and target, else by torch's words."""
    if clash is not None:
        return told(failure, clash, trace) if clash.kind == KIND else None
    found = _SAID.search(failure.message)
    if not found:
        return None
    got, known, free = int(found[2]), 1, False
    for size in map(int, re.findall(r"-?\d+", found[1])):
        known, free = (known, True) if size == -1 else (known * size, free)
    words = f"{got} elements are viewed as [{found[1]}], which takes {'a multiple of ' if free else ''}{known}"
    return said(KIND, failure, trace, words, {"numel": got}, {"multiple_of" if free else "numel": known})
