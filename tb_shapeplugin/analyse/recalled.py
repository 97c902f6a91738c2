"""A recorded op as the call it was: its literals read back into values, its tensors into operands."""

import ast
import re

from tb_shapeplugin.record.trace import OpFact, Trace
from tb_shapeplugin.record.values import Opaque, OpCall, Operand, Value

_TENSOR = re.compile(r"%(\d+)")
_FIRST_NAMES = ("self", "instance")  # what a method's first parameter is called where the functions say input


def operand_of(tensor: int, trace: Trace) -> Operand:
    """A tensor of the trace as an operand."""
    fact = trace.tensors[tensor]
    device = "" if fact.device == "cpu" else fact.device
    return Operand(tensor, fact.shape, fact.dtype, device, fact.kind, fact.name)


def recalled(op: OpFact, trace: Trace) -> OpCall:
    """The call that an op of the trace was; arguments whose literal can't be read are left out.

    Example:
        >>> recalled(trace.ops[0], trace).get(1, "start_dim")
        1
    """
    operands = tuple(operand_of(tensor, trace) for tensor in op.inputs)
    values = {}
    for name, text in op.arguments:
        try:
            values["input" if name in _FIRST_NAMES else name] = _read(text, operands)
        except (SyntaxError, ValueError, IndexError):
            continue
    numbered = [name for name in values if name.isdigit()]
    if not numbered:
        return OpCall(op.name, (), values)
    names = list(values)
    last = names.index(numbered[-1])
    return OpCall(op.name, tuple(values[name] for name in names[: last + 1]), {name: values[name] for name in names[last + 1 :]})


def _read(text: str, operands: tuple[Operand, ...]) -> Value:
    """A literal such as ``(%0, 1)`` or ``(:, 1:)``."""
    source = _TENSOR.sub(r"_\1", text)
    if ":" in text and text.startswith(("(", "[")) and not text.startswith("{"):
        source = source[1:-1]
    node = ast.parse(f"_[{source}]", mode="eval").body
    assert isinstance(node, ast.Subscript)
    return _value(node.slice, operands)


def _value(node: ast.expr, operands: tuple[Operand, ...]) -> Value:
    if isinstance(node, (ast.Tuple, ast.List)):
        return tuple(_value(item, operands) for item in node.elts)
    if isinstance(node, ast.Name) and node.id.startswith("_"):
        return operands[int(node.id[1:])]
    if isinstance(node, ast.Slice):
        return Opaque("slice", ast.unparse(node))
    if isinstance(node, ast.Constant) and node.value is Ellipsis:
        return Opaque("ellipsis", "...")
    if isinstance(node, (ast.Attribute, ast.Name)):
        return Opaque("name", ast.unparse(node))
    value: Value = ast.literal_eval(node)
    return value
