"""call_signature: a wrong number or kind of arguments; also a tuple, None or anything else where one tensor belongs."""

import re
from collections.abc import Mapping

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, first_line, subject
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, SignatureFact, Trace
from tb_shapeplugin.record.values import Operand, Value

KIND = "call_signature"
_CONTAINERS = ("tuple", "list", "dict")
_COUNTS = re.compile(r"takes (?:from \d+ to )?(?P<takes>\d+) positional arguments? but (?P<gave>\d+) (?:was|were) given")
_MISSING = re.compile(r"missing (?P<count>\d+) required (?:positional|keyword-only) arguments?: (?P<names>.+)")
_UNKNOWN = re.compile(r"got an unexpected keyword argument '(?P<name>\w+)'|got multiple values for (?:keyword )?argument '(?P<twice>\w+)'")
_NO_TENSOR = re.compile(
    r"argument '\w+'.* must be (?:a )?(?:Tensor|(?:tuple|list) of Tensors),? (?:but got|not) (?P<given>[\w.]+)"
    r"|invalid combination of arguments - got \((?!Tensor|Parameter)(?P<first>\w+)"
    r"|expected Tensor as element \d+ in argument \d+, but got (?P<element>[\w.]+)"
    r"|can only concatenate (?P<joined>tuple|list) \(not \"(?:Tensor|FakeTensor|Parameter)\"\)"
    r"|unsupported operand type\(s\) for .+: (?:'(?:Fake)?Tensor' and '(?P<right>\w+)'|'(?P<left>\w+)' and '(?:Fake)?Tensor')"
)
_NO_ATTRIBUTE = re.compile(r"'(tuple|list|dict|NoneType)' object has no attribute '(\w+)'")
_NO_INTEGER = re.compile(
    r"must be (?:a )?(?:tuple of )?ints?,? ?(?:but got|but found element of type|not) (?P<given>float|str|NoneType|bool)"
)
_LOSS_MADE = re.compile(r"\b\w+Loss\([^)]")
_TENSOR_WORDS = frozenset(
    "dim ndim shape size dtype device view reshape flatten permute transpose squeeze unsqueeze mean sum contiguous to float "  # noqa: SIM905  one word each reads better than forty quotes
    "requires_grad is_nested is_sparse data numel t T argmax softmax log_softmax relu backward detach cpu cuda item chunk split "
    "repeat expand long half double clone max min abs exp log pow sqrt norm std var matmul masked_fill type sigmoid tanh".split()
)


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation by the signature beside what was given, or by the value that is no tensor."""
    if failure.signature is not None:
        return _misfit(failure, failure.signature, trace)
    if found := _NO_TENSOR.search(failure.message):
        return _no_tensor(failure, next(filter(None, found.groups())), trace)
    found = _NO_ATTRIBUTE.search(failure.message)
    if found and found[2] in _TENSOR_WORDS:
        return _no_tensor(failure, found[1], trace)
    if found := _NO_INTEGER.search(failure.message):
        return Explanation(KIND, f"{subject(failure, trace)}: {found['given']} is given where an int belongs: {first_line(failure)}")
    if failure.call.short_name == "__bool__" and _LOSS_MADE.search(_code(failure, trace)):
        words = "a tensor is taken for true or false where a loss is made: make it first, then call it: nn.SomeLoss()(prediction, target)"
        return Explanation(KIND, f"{subject(failure, trace)}: {words}")
    return _by_words(failure, trace) if failure.error == "TypeError" else None


def _code(failure: Failure, trace: Trace) -> str:
    source = trace.ops[failure.op].source
    return trace.sources[source].code if source >= 0 else ""


def _misfit(failure: Failure, signature: SignatureFact, trace: Trace) -> Explanation:
    counts = _COUNTS.search(failure.message)
    if counts:
        want, got = int(counts["takes"]), int(counts["gave"])
    else:
        got, want = signature.gave, signature.gave + len(signature.missing) - len(signature.unexpected)
    problems = [f"{', '.join(signature.missing)} missing"] if signature.missing else []
    problems += [f"unknown {', '.join(signature.unexpected)}"] if signature.unexpected else []
    details = f" ({'; '.join(problems)})" if problems else ""
    words = f"{signature.callable} takes {signature.signature}, it was given {signature.given}{details}"
    path = trace.modules[failure.module].path if failure.module >= 0 else ""
    return Explanation(KIND, f"{path}: {words}" if path else words, {"arguments": got}, {"arguments": want})


def _by_words(failure: Failure, trace: Trace) -> Explanation | None:
    """Of a call whose signature nobody has at hand: a constructor's, a helper function's."""
    words = f"{subject(failure, trace)}: {first_line(failure)}"
    if found := _COUNTS.search(failure.message):
        return Explanation(KIND, words, {"arguments": int(found["gave"])}, {"arguments": int(found["takes"])})
    if found := _MISSING.search(failure.message):
        return Explanation(KIND, words, {"missing": int(found["count"])}, {"missing": 0})
    if _UNKNOWN.search(failure.message):
        return Explanation(KIND, words, {"unexpected": 1}, {"unexpected": 0})
    return None


def _no_tensor(failure: Failure, given: str, trace: Trace) -> Explanation:
    arguments = (*failure.call.args, *failure.call.kwargs.values())
    value = next((arg for arg in arguments if isinstance(arg, (tuple, Mapping)) and _holds_tensors(arg)), None)
    if given in _CONTAINERS and isinstance(value, tuple) and len(value) != 1:
        words = f"its input is a {given} of {len(value)} values {_listed(value)}, it takes 1 tensor"
        return Explanation(KIND, f"{subject(failure, trace)}: {words}", {"values": len(value)}, {"values": 1}, _listed(value))
    if given in _CONTAINERS and value is not None:
        words = f"its input is a {given} {_listed(value)}, it takes 1 tensor"
        return Explanation(KIND, f"{subject(failure, trace)}: {words}", {"tensors": 0}, {"tensors": 1}, _listed(value))
    if given in _CONTAINERS:  # nobody has it any more: no number is made up
        return Explanation(KIND, f"{subject(failure, trace)}: a {given} is used where a tensor belongs")
    if given == "Tensor":
        words = "one tensor is given where a tuple or list of tensors belongs"
        return Explanation(KIND, f"{subject(failure, trace)}: {words}", {"lists": 0}, {"lists": 1})
    name = "None" if given == "NoneType" else f"a {given}"
    return Explanation(KIND, f"{subject(failure, trace)}: {name} is used where a tensor belongs", {"tensors": 0}, {"tensors": 1})


def _holds_tensors(value: Value) -> bool:
    items = value.values() if isinstance(value, Mapping) else value if isinstance(value, tuple) else ()
    return any(isinstance(item, Operand) or _holds_tensors(item) for item in items)


def _listed(value: Value) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_listed, value[:6]))})"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_listed(item)}" for key, item in list(value.items())[:6]) + "}"
    return str(value) if isinstance(value, Operand) else type(value).__name__
