"""dtype: operands of different dtypes, or of one that the op doesn't take."""

import re

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, first_line, said, told
from tb_shapeplugin.ops.dtypes_and_devices import bits_of, dtype_clash, family_of
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace

KIND = "dtype"
_SAID = re.compile(
    r"same dtype|scalar type|dtypes? match|[Ee]xpected dtype|Found dtype|type \(\S+\) and (?:bias|weight) type \(\S+\) should be the same"
    r"|can't be cast to the desired output type|could not infer output dtype|not implemented for '|Expected both inputs to be"
    r"|must be long, (?:int, )?byte or bool|to be equal to src\.dtype|with a bool tensor is not supported|should have the same dtype"
    r"|dtype of (?:input|attn_mask|query)|[Ee]xpected .* to have dtype"
)
_NAMES = {
    "double": "float64", "float": "float32", "half": "float16", "bfloat16": "bfloat16", "long": "int64", "int": "int32", "short": "int16",
    "char": "int8", "byte": "uint8", "bool": "bool", "complexfloat": "complex64", "complexdouble": "complex128", "complexhalf": "complex32",
    "float64": "float64", "float32": "float32", "float16": "float16", "int64": "int64", "int32": "int32",
}  # fmt: skip
_NAME = re.compile(
    r"\b(?:torch\.)?(?:c10::)?(Complex(?:Float|Double|Half)|BFloat16|bfloat16|Double|double|Float|float(?:64|32|16)?"
    r"|Half|Long|Int|int(?:64|32)?|Short|Char|Byte|Bool)(?:Tensor)?\b"
)
_WANT_FIRST = re.compile(r"[Ee]xpected .* (?:but|found|got)|for the destination and")
_EXPECTED_LAST = re.compile(r"[Ff]ound .* but expected")


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation by the operands' dtypes, else by the names in torch's words."""
    if clash is not None and clash.kind == KIND:
        return told(failure, clash, trace)
    if not _SAID.search(failure.message):
        return None
    by_operands = dtype_clash(failure.call)
    if by_operands is not None:
        return told(failure, by_operands, trace)
    names = list(dict.fromkeys(_NAMES[name.lower()] for name in _NAME.findall(failure.message)))
    if len(names) < 2:
        return said(KIND, failure, trace, first_line(failure))
    first, second = names[:2]
    want_first = _WANT_FIRST.search(failure.message) and not _EXPECTED_LAST.search(failure.message)
    got, want = (second, first) if want_first else (first, second)
    words = f"one operand is {got}, {want} is needed"
    return said(KIND, failure, trace, words, _bits(got), _bits(want))


def _bits(dtype: str) -> dict[str, int]:
    return {f"{family_of(dtype)}_bits": bits_of(dtype) or 0}
