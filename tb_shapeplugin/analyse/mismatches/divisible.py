"""divisible: a size has to be a multiple of another one: groups, heads, patches, pixel shuffle."""

import re

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, first_line, said, told
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace

KIND = "divisible"
_PAIR = (
    re.compile(r"=(\d+) is not divisible by (\d+)"),
    re.compile(r"divisible by num_groups, but got input of shape \[\d+, (\d+)[^\]]*\] and num_groups ?= ?(\d+)"),
)
_SAID = re.compile(r"divisible by|a multiple of")
_STATED = re.compile(r"(\w+) \((\d+)\) (?:must|has to|should) be (?:divisible by|a multiple of) (\w+) \((\d+)\)")
_NAMED = re.compile(r"(\w+) (?:must|has to|should) be (?:divisible by|a multiple of) (\w+)")  # of a constructor


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation by the operands, else by torch's words; what those only name are a constructor's arguments."""
    if clash is not None:
        return told(failure, clash, trace) if clash.kind == KIND else None
    for form in _PAIR:
        if found := form.search(failure.message):
            got, want = int(found[1]), int(found[2])
            return said(KIND, failure, trace, f"{got} is no multiple of {want}", {"size": got}, {"multiple_of": want})
    if pair := _named(failure):
        (word, got), (other, want) = pair
        words = f"{word} is {got}, which is no multiple of {other} {want}"
        return said(KIND, failure, trace, words, {word: got}, {"multiple_of": want})
    if _SAID.search(failure.message) and failure.call.name.startswith("torch."):
        return said(KIND, failure, trace, first_line(failure))
    return None


def _named(failure: Failure) -> tuple[tuple[str, int], tuple[str, int]] | None:
    """The two numbers that torch names, with their names."""
    if found := _STATED.search(failure.message):
        return (found[1], int(found[2])), (found[3], int(found[4]))
    found = _NAMED.search(failure.message)
    if not found:
        return None
    got, want = failure.call.kwargs.get(found[1]), failure.call.kwargs.get(found[2])
    return ((found[1], got), (found[2], want)) if isinstance(got, int) and isinstance(want, int) else None
