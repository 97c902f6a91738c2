"""What the code of a statement says: how an operand is written, ``z`` in ``torch.cat([s2, z], dim=1)``, which calls it makes."""

import ast

_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.MatMult: "matmul",
    ast.Pow: "pow",
}
_LIBRARIES = ("torch", "F", "nn.functional", "torch.nn.functional", "functional", "nn.utils.rnn", "torch.nn.utils.rnn", "rnn")
_LONGEST = 24  # characters of an operand that is worth repeating


def operand_text(code: str, call: str, position: int) -> str | None:
    """The text of one operand of the only call of that name in a statement; None where it can't be told, or is long.

    Args:
        code: a statement, or part of one.
        call: the last part of the function's name; ``add`` stands for ``+`` too.
        position: counts operands from 0, a method's object being the first; within the list of a joining call.

    Example:
        >>> operand_text("y = torch.cat([s2, z], dim=1)", "cat", 1), operand_text("return a + self.b(x)", "add", 0)
        ('z', 'a')
    """
    found = [operands for node in _nodes(code) if (operands := _operands(node, call))]
    if len(found) != 1 or position >= len(found[0]):
        return None
    text = ast.unparse(found[0][position])
    if len(text) > _LONGEST:
        return None
    return text if isinstance(found[0][position], (ast.Name, ast.Attribute, ast.Call, ast.Subscript)) else f"({text})"


def calls_of(code: str, name: str) -> list[ast.Call]:
    """The calls of that name in a statement, or in the head of one, the innermost of a chain last; none where it can't be read.

    Example:
        >>> [ast.unparse(call) for call in calls_of("if x.view(2, 3).any():", "view")]
        ['x.view(2, 3)']
    """
    calls = (node for node in _nodes(code) if isinstance(node, ast.Call))
    return [call for call in calls if name == getattr(call.func, "attr", getattr(call.func, "id", ""))]


def _nodes(code: str) -> list[ast.AST]:
    for text in (code, f"{code} pass"):  # the head of a statement stands without what it leads to
        try:
            return list(ast.walk(ast.parse(text)))
        except SyntaxError:
            continue
    return []


def _operands(node: ast.AST, call: str) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and _OPERATORS.get(type(node.op)) == call:
        return [node.left, node.right]
    if isinstance(node, ast.Assign) and call == "__setitem__" and isinstance(node.targets[0], ast.Subscript):
        return [node.targets[0].value, node.targets[0].slice, node.value]
    if isinstance(node, ast.Subscript) and call == "__getitem__":
        return [node.value, node.slice]
    if not isinstance(node, ast.Call) or not isinstance(node.func, (ast.Attribute, ast.Name)):
        return []
    if isinstance(node.func, ast.Name):
        return _listed(node.args) if node.func.id == call else []
    if node.func.attr != call:
        return []
    owner = ast.unparse(node.func.value)
    return _listed(node.args) if owner in _LIBRARIES else [node.func.value, *node.args]


def _listed(args: list[ast.expr]) -> list[ast.expr]:
    return args[0].elts if args and isinstance(args[0], (ast.List, ast.Tuple)) else args
