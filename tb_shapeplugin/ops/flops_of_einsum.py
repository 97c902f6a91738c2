"""FLOPs of einsum, which inference mode hears of as a whole; elsewhere its products are ops of their own."""

from collections.abc import Sequence

from tb_shapeplugin.ops.flops import FORMULAS, Arguments, multiply_accumulates
from tb_shapeplugin.record.values import Shape


@FORMULAS.register("aten.einsum")
def einsum(args: Arguments, _outputs: Sequence[Shape]) -> int | None:
    """Of two operands, one product along the axes that both have and the output hasn't; None of more, which have many orders.

    Axes of one operand alone are summed before, and without an axis in common there is nothing to contract: from ATen's ``Linear.cpp``.

    Args: the equation, the list of operands.

    Example:
        >>> einsum(["ij,jk->ik", [(2, 3), (3, 4)]], [])
        48
    """
    equation, operands = args[:2]
    if len(operands) < 2:
        return 0
    if len(operands) > 2:
        return None
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = [_sizes(term, shape) for term, shape in zip(left.split(","), operands, strict=True)]
    kept = set(right.replace(".", "")) if arrow else {name for name in "".join(left.split(",")) if left.count(name) == 1}
    spread = not arrow or "..." in right
    output = {name for term in terms for name in term if (spread if name.startswith(".") else name in kept)}
    first, second = terms
    contracted = [first[name] for name in first if name not in output and min(first[name], second.get(name, 1)) > 1]
    return multiply_accumulates(*(max(first.get(name, 1), second.get(name, 1)) for name in output), *contracted) if contracted else 0


def _sizes(term: str, shape: Shape) -> dict[str, int]:
    """Sizes by letter; the axes of an ellipsis are counted from its end."""
    before, dots, after = term.partition("...")
    rest = len(shape) - len(before) - len(after)
    names = (*before, *(f".{back}" for back in range(rest, 0, -1)), *after) if dots else tuple(term)
    return dict(zip(names, shape, strict=True))
