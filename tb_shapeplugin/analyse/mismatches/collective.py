"""collective: ranks contribute unequal shapes."""

import re

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, first_line, said, told
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace

KIND = "collective"
# How the backends and torch's own checks state two shapes, or two counts of rows; this rank's first.
_SHAPES = (
    re.compile(r"ProcessGroup\w*::\w+: invalid tensor size at index \d+ \(expected \((?P<got>[\d, ]*)\), got \((?P<want>[\d, ]*)\)"),
    re.compile(r"mismatch between collectives.*?TensorShape=\[(?P<got>[\d, ]*)\].*?TensorShape=\[(?P<want>[\d, ]*)\]", re.DOTALL),
    re.compile(r"Check failed: outputs\[0\]\.sizes.*\((?P<want>[\d ]+) vs\. (?P<got>[\d ]+)\)"),
    re.compile(r"Check failed: outputShape\[0\] \* worldSize == inputShape\[0\] \((?P<want>\d+) vs\. (?P<got>\d+)\)"),
    re.compile(r"op\.preamble\.length <= op\.nbytes\. (?P<got>\d+) vs (?P<want>\d+)"),
)
_OTHER_RANK = re.compile(r"with sizes \[(?P<got>[\d, ]*)\] appears not to match (?:sizes|strides) of the same param in process (\d+)")
_SAID = re.compile(
    r"mismatch between collectives|times (?:the )?world size|world_size times|equally across group size|Split sizes doesn't match"
    r"|must be a multiple of group_size|monitoredBarrier|Number of tensor inputs and outputs|invalid (?:in|out)put tensor list"
    r"|collective mismatch|input and output tensors must have the same size|tensors? must have (?:the same|identical) (?:shape|size)"
)


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation by parts and places, else by the shapes that the backend states."""
    if clash is not None and clash.kind == KIND:
        return told(failure, clash, trace)
    for form in _SHAPES:
        if found := form.search(failure.message):
            return _unequal(failure, trace, _sizes(found["got"]), _sizes(found["want"]))
    if found := _OTHER_RANK.search(failure.message):
        words = f"a parameter is {_sizes(found['got'])} on this rank, on rank {found[2]} it has another shape"
        return said(KIND, failure, trace, words)
    if _SAID.search(failure.message):
        return said(KIND, failure, trace, first_line(failure))
    return None


def _unequal(failure: Failure, trace: Trace, part: list[int], other: list[int]) -> Explanation:
    dim = next((at for at, (a, b) in enumerate(zip(part, other, strict=False)) if a != b), -1)
    word = "ndim" if dim < 0 else "rows" if dim == 0 else "size"
    got, want = (len(part), len(other)) if dim < 0 else (part[dim], other[dim])
    words = f"one rank gives {part}, another one takes or gives {other}; every rank has to give the same shape"
    return said(KIND, failure, trace, words, {word: got}, {word: want})


def _sizes(text: str) -> list[int]:
    return [int(size) for size in re.findall(r"\d+", text)]
