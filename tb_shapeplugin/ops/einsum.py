"""Rule of einsum."""

from typing import TypeAlias

from tb_shapeplugin.ops.reading import Unreadable, axes_text, distinct, rank
from tb_shapeplugin.ops.rule import RULES, Outputs, Rule, any_of
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall, Operand

# The names of an operand's axes, or the output's: a letter each; what an ellipsis stands for is counted from its end.
Names: TypeAlias = tuple[str, ...]


def _written(call: OpCall) -> tuple[list[tuple[str, Operand]], str | None]:
    """The operands with what is written for them, and what is written for the output, if anything."""
    equation = call.get(0, "equation")
    given = call.args[1] if len(call.args) == 2 and isinstance(call.args[1], tuple) else call.args[1:]
    operands = [item for item in given if isinstance(item, Operand)]
    if not isinstance(equation, str):
        raise Unreadable("einsum without an equation")
    left, arrow, right = equation.replace(" ", "").partition("->")
    letters = left.split(",")
    if len(letters) != len(operands):
        raise Unreadable(f"einsum of {len(letters)} terms with {len(operands)} tensors")
    return list(zip(letters, operands, strict=True)), right if arrow else None


def _named(written: str, count: int) -> Names:
    """The names of so many axes; an ellipsis takes up those that no letter names."""
    before, dots, after = written.partition("...")
    rest = max(0, count - len(before) - len(after)) if dots else 0
    return (*before, *(f"...{back}" for back in range(rest, 0, -1)), *after)


def _terms(call: OpCall) -> tuple[list[tuple[Names, Operand]], Names]:
    """The operands with the names of their axes, and the output's names."""
    written, right = _written(call)
    terms = [(_named(letters, operand.ndim), operand) for letters, operand in written]
    spread = max(sum(name.startswith(".") for name in names) for names, _ in terms)
    if right is None:
        flat = [name for names, _ in terms for name in names]
        right = "..." + "".join(sorted(name for name in set(flat) if len(name) == 1 and flat.count(name) == 1))
    return terms, _named(right, spread + len(right.replace("...", "")))


def _requires(call: OpCall) -> Clash | None:
    for written, operand in _written(call)[0]:
        named = len(written.replace("...", ""))
        if operand.ndim < named or (operand.ndim != named and "..." not in written):
            return rank(operand, named, f"{operand} has {axes_text(operand.ndim)}, the term {written!r} names {named}")
    seen: dict[str, tuple[Operand, int]] = {}
    for names, operand in _terms(call)[0]:
        for dim, name in enumerate(names):
            first, first_dim = seen.setdefault(name, (operand, dim))
            got, want = operand.shape[dim], first.shape[first_dim]
            if got != want and 1 not in (got, want):
                return _clash(name, operand, dim, first, first_dim)
    return None


def _clash(name: str, operand: Operand, dim: int, first: Operand, first_dim: int) -> Clash:
    got, want = operand.shape[dim], first.shape[first_dim]
    if len(name) == 1:
        words = f"{name!r} is {got} in {operand} and {want} in {first}"
        return Clash("matmul_dims", {"inner": got}, {"inner": want}, operand.id, dim, first.id, first_dim, words)
    words = f"of the axes that '...' stands for, dim {dim} of {operand} is {got}, dim {first_dim} of {first} is {want}, and neither is 1"
    return Clash("broadcast", {"size": got}, {"size": want}, operand.id, dim, first.id, first_dim, words)


def _gives(call: OpCall) -> tuple[Outputs, ...]:
    terms, output = _terms(call)
    sizes: dict[str, list[int]] = {}
    for names, operand in terms:
        for name, size in zip(names, operand.shape, strict=False):
            sizes.setdefault(name, []).append(size)
    choices = {name: distinct(size for size in found if size != 1) or (1,) for name, found in sizes.items()}
    first = tuple(choices.get(name, (1,))[0] for name in output)
    last = tuple(choices.get(name, (1,))[-1] for name in output)
    return any_of(distinct((first, last)))


RULES.register("einsum")(Rule(_requires, _gives))
