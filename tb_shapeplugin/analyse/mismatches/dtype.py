"""dtype: operands of different dtypes, or of one that the op doesn't take."""

import re

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, first_line, said, told
from tb_shapeplugin.ops.dtypes_and_devices import dtype_clash, family_of, sized
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace

KIND = "dtype"
_SAID = re.compile(
    r"same dtype|scalar type|dtypes? match|[Ee]xpected dtype|Found dtype|type \([^)]+\) and (?:bias|weight) type \([^)]+\) should be"
    r"|can't be cast to the desired output type|could not infer output dtype|not implemented for '|Expected both inputs to be"
    r"|must be long, (?:int, )?byte or bool|to be equal to src\.dtype|bool tensors? is not supported|match weight dtype"
    r"|dtypes? of (?:input|attn_mask|query)|[Ee]xpected .* to have dtype|share same datatype|[Mm]ixed dtype|Type promoting not supported"
    r"|dtypes must be the same|attn_mask dtype|index tensor of type|boolean masks?, but got|be a boolean tensor|target dtype|dtype to be"
    r"|floating point (?:and|or|dtype)|for complex types|Unsupported dtype"
)
_TYPE_WORDS = re.compile(r"(?i)type|bool|complex|floating|integ|half|double|long|int")
_NAMES = {
    "double": "float64", "float": "float32", "half": "float16", "bfloat16": "bfloat16", "long": "int64", "int": "int32", "short": "int16",
    "char": "int8", "byte": "uint8", "bool": "bool", "complexfloat": "complex64", "complexdouble": "complex128", "complexhalf": "complex32",
    "float64": "float64", "float32": "float32", "float16": "float16", "int64": "int64", "int32": "int32", "complex<float>": "complex64",
    "complex<double>": "complex128", "unsigned char": "uint8", "long int": "int64",
}  # fmt: skip
_NAME = re.compile(
    r"\b(?:torch\.)?(?:c10::)?(complex<(?:float|double)>|Complex(?:Float|Double|Half)|BFloat16|bfloat16|Double|double|Float|float(?:64|32|16)?"
    r"|Half|Long|long int|Int|int(?:64|32)?|Short|Char|unsigned char|Byte|Bool)(?:Tensor)?(?!\w)"
)
_WANT_FIRST = re.compile(r"[Ee]xpected .* (?:but|found|got)|for the destination and")
_EXPECTED_LAST = re.compile(r"[Ff]ound .* but expected")
_WHOLE_WANTED = re.compile(r"\"(?:bitwise|bincount|gcd|lcm|lshift|rshift)|integral")


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation by the operands' dtypes, else by the names in torch's words."""
    if clash is not None and clash.kind == KIND and (not failure.message or _TYPE_WORDS.search(failure.message)):
        return told(failure, clash, trace)
    if not _SAID.search(failure.message):
        return None
    by_operands = dtype_clash(failure.call)
    if by_operands is not None:
        return told(failure, by_operands, trace)
    names = list(dict.fromkeys(_NAMES[name.lower()] for name in _NAME.findall(failure.message)))
    if len(names) < 2:
        return _of_one(failure, trace, names)
    first, second = names[:2]
    want_first = _WANT_FIRST.search(failure.message) and not _EXPECTED_LAST.search(failure.message)
    got, want = (second, first) if want_first else (first, second)
    return said(KIND, failure, trace, f"one operand is {got}, {want} is needed", sized(got), sized(want))


def _of_one(failure: Failure, trace: Trace, names: list[str]) -> Explanation:
    """Torch names the dtype that it doesn't take, or none: then the first operand has it."""
    operands = failure.call.operands()
    given = names[0] if names else operands[0].dtype if operands else ""
    if not given:
        return said(KIND, failure, trace, first_line(failure))
    want = "int64" if _WHOLE_WANTED.search(failure.message) else "float32"
    if sized(given) == sized(want):
        return said(KIND, failure, trace, first_line(failure))
    taken = "integers" if want == "int64" else "floating-point numbers" if family_of(given) != "float" else want
    words = f"one operand is {given}, {failure.call.short_name} takes {taken}"
    return said(KIND, failure, trace, words, sized(given), sized(want))
