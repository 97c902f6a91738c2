"""A number that the code states: the attribute that holds it, or the argument that it stands in."""

import ast
import re

from tb_shapeplugin.record.trace import ModuleFact, OpFact, Trace

_OWN_ARGUMENTS = (  # of torch's own layers, which the user's line doesn't spell out: beginning of the op's name, argument
    ("adaptive", "output_size"),
    ("interpolate", "size"),
    ("unflatten", "unflattened_size"),
    ("fold", "output_size"),
)

_MAKING = ("zeros", "ones", "empty", "rand", "randn", "full")
_LISTING = (*_MAKING, "view", "reshape", "expand", "broadcast_to", "new_zeros", "new_ones", "new_empty", "split")
_LONGEST_EXPRESSION = 60


def stated(trace: Trace, op: OpFact, size: int, position: int = -1) -> str:
    """Where the code states a size that an op gives: the expression that stands there, or the attribute or argument that holds it.

    Args:
        trace: the run.
        op: an op of it.
        size: of one of its outputs.
        position: which of the sizes that the call lists it is, -1 where it lists none.

    Example:
        >>> stated(trace, trace.ops[3], 64, 2)
        '64 is self.width'
    """
    short = short_name(op)
    module = module_of(trace, op)
    if short == "unsqueeze":
        return f"{size} is the axis that unsqueeze adds"
    if short == "stack":
        return f"{size} tensors are stacked" if size == len(op.inputs) else f"{size} is what stack gives"
    own = next((argument for start, argument in _OWN_ARGUMENTS if short.startswith(start)), "")
    if module is not None and own and _holds(module.attributes.get(own), size):
        return f"{size} is {module.path or module.type}'s {own}"
    written = expression(trace.sources[op.source].code if op.source >= 0 else "", op.name.rpartition(".")[2], position)
    if written and not written.isdigit():
        return f"{size} is {written}"
    listed = op.name.rpartition(".")[2] in _LISTING and position >= 0  # of several sizes in a row an attribute may be another one
    if module is not None and not listed and (told := _of_attribute(trace, op, module, size)):
        return told
    return f"{size} is stated in {short}" if _holds_text(op, size) else f"{size} is what {short} gives"


def expression(code: str, call: str, position: int) -> str:
    """What stands at that place of the sizes that a call in the statement lists; "" where that isn't certain, or no size stands there.

    Example:
        >>> expression("h = self.q(x).view(b, t, self.heads, -1)", "view", 2)
        'self.heads'
    """
    if call not in _LISTING or position < 0:
        return ""
    try:
        tree = ast.parse(code.rstrip(":"))
    except SyntaxError:
        return ""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _called(node) == call]
    listed = [sizes for node in calls if (sizes := _listed(node)) is not None and position < len(sizes)]
    found = {told for sizes in listed if not (told := ast.unparse(sizes[position])).startswith("-")}
    told = found.pop() if len(found) == 1 else ""
    return told if len(told) <= _LONGEST_EXPRESSION else ""


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id if isinstance(node.func, ast.Name) else ""


def _listed(node: ast.Call) -> list[ast.expr] | None:
    """The sizes that a call lists, one by one or in brackets; None where they are unpacked from something."""
    given = node.args
    if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name) and node.func.value.id == "torch":
        given = given if node.func.attr in _MAKING else given[1:]
    brackets = given[0] if given and isinstance(given[0], (ast.Tuple, ast.List)) else None
    sizes = brackets.elts if brackets is not None else given
    return None if any(isinstance(size, ast.Starred) for size in sizes) else sizes


def _of_attribute(trace: Trace, op: OpFact, module: ModuleFact, size: int) -> str:
    """The module's attribute of that size which the statement names."""
    holding = [name for name, value in module.attributes.items() if _holds(value, size)]
    code = trace.sources[op.source].code if op.source >= 0 else ""
    named = next((name for name in holding if re.search(rf"\bself\.{re.escape(name)}\b", code)), None)
    if named is not None:
        value = module.attributes[named]
        return f"{size} is self.{named}" if value == size else f"{size} stands in self.{named} = {value}"
    return ""


def _holds(value: int | str | bool | tuple[int, ...] | None, size: int) -> bool:
    if isinstance(value, tuple):
        return size in value
    return not isinstance(value, bool) and value == size


def _holds_text(op: OpFact, size: int) -> bool:
    return any(re.search(rf"(?<![\w%.]){size}\b", text) for _, text in op.arguments)


def short_name(op: OpFact) -> str:
    """What a sentence calls an op: the last part of its name, brackets in words."""
    short = op.name.rpartition(".")[2]
    return {"__getitem__": "indexing", "__setitem__": "the assignment"}.get(short, short)


def module_of(trace: Trace, op: OpFact) -> ModuleFact | None:
    """The module that an op ran in, None outside any."""
    return trace.modules[trace.calls[op.call].module] if op.call >= 0 else None
