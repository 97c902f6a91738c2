"""A recorded op as the call it was: its literals read back into values, its tensors into operands."""

import ast
import re
from collections.abc import Mapping
from dataclasses import replace

from tb_shapeplugin.record.trace import OpFact, Trace
from tb_shapeplugin.record.values import Opaque, OpCall, Operand, Shape, Value

_TENSOR = re.compile(r"%(\d+)")
_FIRST_NAMES = ("self", "instance", "tensor")  # what the first parameter may be called where the rules say input
_OTHER_NAMES = {"key": "index", "vec2": "other"}  # and others


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
    values: dict[str, Value] = {}
    for position, (name, text) in enumerate(op.arguments):
        try:
            value = _read(text, operands)
        except (SyntaxError, ValueError, IndexError):
            continue
        values[_rules_name(name, position, value)] = value
    numbered = [name for name in values if name.isdigit()]
    if not numbered:
        return OpCall(op.name, (), values)
    names = list(values)
    last = names.index(numbered[-1])
    return OpCall(op.name, tuple(values[name] for name in names[: last + 1]), {name: values[name] for name in names[last + 1 :]})


def with_shapes(call: OpCall, shapes: Mapping[int, Shape]) -> OpCall:
    """The call with other shapes for some of its operands, by id.

    Example:
        >>> str(with_shapes(OpCall("torch.relu", (Operand(0, (4, 3), "float32"),)), {0: (5, 3)}).args[0])
        'f32[5,3]'
    """

    def change(value: Value) -> Value:
        if isinstance(value, Operand):
            return replace(value, shape=shapes[value.id]) if value.id in shapes else value
        return tuple(map(change, value)) if isinstance(value, tuple) else value

    return OpCall(call.name, tuple(map(change, call.args)), {name: change(value) for name, value in call.kwargs.items()})


def _rules_name(name: str, position: int, value: Value) -> str:
    """What the rules call an argument: ``x.max(y)`` is recorded under the names of ``x.max(dim)``."""
    if position == 0 and name in _FIRST_NAMES:
        return "input"
    if name == "dim" and isinstance(value, Operand):
        return "other"
    return _OTHER_NAMES.get(name, name)


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
