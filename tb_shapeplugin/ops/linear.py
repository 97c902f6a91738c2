"""Rules of linear and bilinear."""

from tb_shapeplugin.ops.reading import Unreadable, rank, tensor
from tb_shapeplugin.ops.rule import RULES, Outputs, Rule, one
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall, Operand


def width_clash(x: Operand, weight: Operand, want: int, weight_dim: int, whose: str = "its input") -> Clash | None:
    """The clash of a tensor whose last dim isn't the width that a weight was made for."""
    if x.ndim == 0:
        return rank(x, 1, f"{whose} is a scalar, in_features is {want}")
    got = x.shape[-1]
    if got == want:
        return None
    words = f"the last dim of {whose} is {got}, in_features is {want}"
    return Clash(
        "linear_in_features",
        {"in_features": got},
        {"in_features": want},
        operand=x.id,
        dim=x.ndim - 1,
        other=weight.id,
        other_dim=weight_dim,
        words=words,
    )


def _requires(call: OpCall) -> Clash | None:
    weight = tensor(call, 1, "weight")
    if weight.ndim not in (1, 2):
        raise Unreadable(f"linear with the weight {weight}")
    return width_clash(tensor(call, 0, "input"), weight, weight.shape[-1], weight.ndim - 1)


def _gives(call: OpCall) -> tuple[Outputs, ...]:
    return one(tensor(call, 0, "input").shape[:-1] + tensor(call, 1, "weight").shape[:-1])


def _bilinear_requires(call: OpCall) -> Clash | None:
    first, second, weight = tensor(call, 0, "input1"), tensor(call, 1, "input2"), tensor(call, 2, "weight")
    if weight.ndim != 3:
        raise Unreadable(f"bilinear with the weight {weight}")
    for x, dim, whose in ((first, 1, "its first input"), (second, 2, "its second input")):
        if clash := width_clash(x, weight, weight.shape[dim], dim, whose):
            return clash
    return None


def _bilinear_gives(call: OpCall) -> tuple[Outputs, ...]:
    return one(tensor(call, 0, "input1").shape[:-1] + tensor(call, 2, "weight").shape[:1])


RULES.register("linear")(Rule(_requires, _gives))
RULES.register("bilinear")(Rule(_bilinear_requires, _bilinear_gives))
