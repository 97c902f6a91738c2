"""call_signature: a wrong number or kind of arguments; also a tuple where one tensor belongs."""

import re

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, subject
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, SignatureFact, Trace
from tb_shapeplugin.record.values import Operand, Value

KIND = "call_signature"
_COUNTS = re.compile(r"takes (?:from \d+ to )?(\d+) positional arguments? but (\d+) (?:was|were) given")
_NO_TENSOR = re.compile(
    r"(?:argument '\w+'.* must be (?:a )?Tensor,? (?:but got|not) |invalid combination of arguments - got \()(tuple|list|dict|NoneType)"
)
_NO_ATTRIBUTE = re.compile(r"'(tuple|list|dict|NoneType)' object has no attribute '(\w+)'")
_TENSOR_WORDS = frozenset(
    "dim ndim shape size dtype device view reshape flatten permute transpose squeeze unsqueeze mean sum contiguous to float "  # noqa: SIM905  one word each reads better than forty quotes
    "requires_grad is_nested is_sparse data numel t".split()
)


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation by the signature beside what was given, or by the value that is no tensor."""
    if failure.signature is not None:
        return _misfit(failure, failure.signature, trace)
    if found := _NO_TENSOR.search(failure.message):
        return _no_tensor(failure, found[1], trace)
    found = _NO_ATTRIBUTE.search(failure.message)
    if found and found[2] in _TENSOR_WORDS:
        return _no_tensor(failure, found[1], trace)
    return None


def _misfit(failure: Failure, signature: SignatureFact, trace: Trace) -> Explanation:
    counts = _COUNTS.search(failure.message)
    if counts:
        want, got = int(counts[1]), int(counts[2])
    else:
        got, want = signature.gave, signature.gave + len(signature.missing) - len(signature.unexpected)
    problems = [f"{', '.join(signature.missing)} missing"] if signature.missing else []
    problems += [f"unknown {', '.join(signature.unexpected)}"] if signature.unexpected else []
    details = f" ({'; '.join(problems)})" if problems else ""
    words = f"{signature.callable} takes {signature.signature}, it was given {signature.given}{details}"
    path = trace.modules[failure.module].path if failure.module >= 0 else ""
    return Explanation(KIND, f"{path}: {words}" if path else words, {"arguments": got}, {"arguments": want})


def _no_tensor(failure: Failure, given: str, trace: Trace) -> Explanation:
    value = next((arg for arg in (*failure.call.args, *failure.call.kwargs.values()) if isinstance(arg, tuple)), None)
    if given in ("tuple", "list") and value is not None:
        words = f"its input is a {given} of {len(value)} values {_listed(value)}, it takes 1 tensor"
        return Explanation(KIND, f"{subject(failure, trace)}: {words}", {"values": len(value)}, {"values": 1}, _listed(value))
    words = f"{'None' if given == 'NoneType' else f'a {given}'} is used where 1 tensor belongs"
    return Explanation(KIND, f"{subject(failure, trace)}: {words}")


def _listed(value: Value) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_listed, value[:6]))})"
    return str(value) if isinstance(value, Operand) else type(value).__name__
