"""How the user wrote an operand of a call: ``z`` in ``torch.cat([s2, z], dim=1)``."""

import ast

_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.MatMult: "matmul",
    ast.Pow: "pow",
}
_LIBRARIES = ("torch", "F", "nn.functional", "torch.nn.functional", "functional")
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
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return None
    found = [operands for node in ast.walk(tree) if (operands := _operands(node, call))]
    if len(found) != 1 or position >= len(found[0]):
        return None
    text = ast.unparse(found[0][position])
    if len(text) > _LONGEST:
        return None
    return text if isinstance(found[0][position], (ast.Name, ast.Attribute, ast.Call, ast.Subscript)) else f"({text})"


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
