"""divisible: a size has to be a multiple of another one: groups, heads, patches, pixel shuffle."""

import ast
import re

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, first_line, said, told
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace

KIND = "divisible"
_PAIR = (
    re.compile(r"=(\d+) is not divisible by (\d+)"),
    re.compile(r"\((\d+)\) (?:must|has to|should) be (?:divisible by|a multiple of) \w+ \((\d+)\)"),
    re.compile(r"divisible by num_groups, but got input of shape \[\d+, (\d+)[^\]]*\] and num_groups ?= ?(\d+)"),
)
_SAID = re.compile(r"divisible by|a multiple of")


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation by the operands, else by torch's words; a constructor's numbers are read from the statement."""
    if clash is not None:
        return told(failure, clash, trace) if clash.kind == KIND else None
    for form in _PAIR:
        if found := form.search(failure.message):
            got, want = int(found[1]), int(found[2])
            return said(KIND, failure, trace, f"{got} is no multiple of {want}", {"size": got}, {"multiple_of": want})
    if not _SAID.search(failure.message) or not failure.call.name.startswith("torch."):
        return None
    numbers = _constructed_with(failure, trace)
    words = first_line(failure) + (f" ({numbers[0]} and {numbers[1]})" if numbers else "")
    got_want = ({"size": numbers[0]}, {"multiple_of": numbers[1]}) if numbers else (None, None)
    return said(KIND, failure, trace, words, *got_want)


def _constructed_with(failure: Failure, trace: Trace) -> tuple[int, int] | None:
    """The size and the number that it isn't a multiple of, where the statement that builds the layer spells them out."""
    if not failure.call.name.endswith(".__init__") or trace.ops[failure.op].source < 0:
        return None
    layer = failure.call.name.split(".")[-2]
    try:
        tree = ast.parse(trace.sources[trace.ops[failure.op].source].code)
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == layer:
            numbers = [item.value for item in (*node.args, *(k.value for k in node.keywords)) if isinstance(item, ast.Constant)]
            sizes = [number for number in numbers if isinstance(number, int) and not isinstance(number, bool)]
            return next(((size, by) for size in sizes for by in sizes[1:] if by > 1 and size % by), None)
    return None
