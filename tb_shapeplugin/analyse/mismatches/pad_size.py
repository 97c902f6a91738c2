"""pad_size: a padding is longer than its mode allows, or than leads to the size that is asked for."""

import re

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, said, told
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace

KIND = "pad_size"
_SAID = re.compile(r"[Pp]adding.*\((\d+), (\d+)\) at dimension (\d+) of input \[([\d, ]*)\]")

_ASKED = (
    re.compile(r"requested an output size of \((?P<asked>[\d, ]+)\), but valid sizes range from \[[\d, ]+\] to \[(?P<most>[\d, ]+)\]"),
    re.compile(r"invalid output_size \"\((?P<asked>[\d, ]+)\)\" \(dim (?P<dim>\d+) must be between \d+ and (?P<end>\d+)\)"),
)


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation by input and padding, else by torch's words."""
    if clash is not None:
        return told(failure, clash, trace) if clash.kind == KIND else None
    if found := _SAID.search(failure.message):
        size = [int(size) for size in re.findall(r"\d+", found[4])][int(found[3])]
        pad = max(int(found[1]), int(found[2]))
        return said(KIND, failure, trace, f"its input is {size} long, it is padded by {pad}", {"pad": pad}, {"below": size})
    if asked := _asked(failure.message):
        got, below = asked
        words = f"its output is asked to be {got} long, all that its input gives is below {below}"
        return said(KIND, failure, trace, words, {"size": got}, {"below": below})
    return None


def _asked(message: str) -> tuple[int, int] | None:
    """The size that a transposed convolution or an unpooling is asked for, and the bound that it has to stay below."""
    form = next((found for pattern in _ASKED if (found := pattern.search(message))), None)
    if form is None:
        return None
    sizes, named = [int(size) for size in form["asked"].split(",")], form.groupdict()
    if named.get("end"):
        return sizes[int(named["dim"])], int(named["end"])
    most = [int(size) for size in named["most"].split(",")]
    return next(((size, bound + 1) for size, bound in zip(sizes, most, strict=False) if size > bound), None)
