"""Rule of einsum."""

from tb_shapeplugin.ops.reading import Unreadable, axes_text, distinct, rank
from tb_shapeplugin.ops.rule import RULES, Outputs, Rule, any_of
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall, Operand


def _terms(call: OpCall) -> tuple[list[tuple[str, Operand]], str]:
    """The operands with their letters, and the output's letters; Unreadable for other forms of the call."""
    equation = call.get(0, "equation")
    given = call.args[1] if len(call.args) == 2 and isinstance(call.args[1], tuple) else call.args[1:]
    operands = [item for item in given if isinstance(item, Operand)]
    if not isinstance(equation, str) or "..." in equation:
        raise Unreadable("einsum without a plain equation")
    left, arrow, right = equation.replace(" ", "").partition("->")
    letters = left.split(",")
    if len(letters) != len(operands):
        raise Unreadable(f"einsum of {len(letters)} terms with {len(operands)} tensors")
    if not arrow:
        flat = "".join(letters)
        right = "".join(sorted(letter for letter in set(flat) if flat.count(letter) == 1))
    return list(zip(letters, operands, strict=True)), right


def _requires(call: OpCall) -> Clash | None:
    terms, _ = _terms(call)
    seen: dict[str, tuple[Operand, int]] = {}
    for letters, operand in terms:
        if len(letters) != operand.ndim:
            return rank(operand, len(letters), f"{operand} has {axes_text(operand.ndim)}, the term {letters!r} names {len(letters)}")
        for dim, letter in enumerate(letters):
            first, first_dim = seen.setdefault(letter, (operand, dim))
            got, want = operand.shape[dim], first.shape[first_dim]
            if got != want and 1 not in (got, want):
                words = f"{letter!r} is {got} in {operand} and {want} in {first}"
                return Clash("matmul_dims", {"inner": got}, {"inner": want}, operand.id, dim, first.id, first_dim, words)
    return None


def _gives(call: OpCall) -> tuple[Outputs, ...]:
    terms, output = _terms(call)
    sizes: dict[str, list[int]] = {}
    for letters, operand in terms:
        for letter, size in zip(letters, operand.shape, strict=False):
            sizes.setdefault(letter, []).append(size)
    choices = {letter: distinct(size for size in found if size != 1) or (1,) for letter, found in sizes.items()}
    first = tuple(choices.get(letter, (1,))[0] for letter in output)
    last = tuple(choices.get(letter, (1,))[-1] for letter in output)
    return any_of(distinct((first, last)))


RULES.register("einsum")(Rule(_requires, _gives))
