"""Rules of linear and bilinear."""

from collections.abc import Iterator

from tb_shapeplugin.ops.broadcasting import expand_clash
from tb_shapeplugin.ops.reading import Unreadable, axes_text, distinct, product, rank, tensor
from tb_shapeplugin.ops.rule import RULES, Outputs, Rule, any_of, one
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall, Operand, Shape


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
        return rank(weight, 2, f"its weight {weight} has {axes_text(weight.ndim)}, it takes 2 (out_features, in_features)")
    x, bias = tensor(call, 0, "input"), call.operand(2, "bias")
    clash = width_clash(x, weight, weight.shape[-1], weight.ndim - 1)
    return clash or (expand_clash(bias, x.shape[:-1] + weight.shape[:-1]) if bias else None)


def _leading(shape: Shape, width: int) -> Iterator[Shape]:
    """The axes that stay, in the readings of an input of another width: most plausible first.

    The features may be spread over the last axes (a missing flatten), stand in another axis, or be of another width.
    """
    for start in (*range(1, len(shape) - 1), 0):
        if len(shape) > 1 and product(shape[start:]) == width:
            yield shape[:start]
    yield shape[:-1]
    for dim in range(len(shape) - 1):
        if shape[dim] == width:
            yield shape[:dim] + shape[dim + 1 :]
    if len(shape) > 2:
        yield shape[:1]


def _gives(call: OpCall) -> tuple[Outputs, ...]:
    x, weight = tensor(call, 0, "input"), tensor(call, 1, "weight")
    kept = weight.shape[:-1]
    if not x.ndim or not weight.ndim or x.shape[-1] == weight.shape[-1]:
        return one(x.shape[:-1] + kept)
    return any_of(distinct(lead + kept for lead in _leading(x.shape, weight.shape[-1])))


def _bilinear_requires(call: OpCall) -> Clash | None:
    first, second, weight = tensor(call, 0, "input1"), tensor(call, 1, "input2"), tensor(call, 2, "weight")
    if weight.ndim != 3:
        raise Unreadable(f"bilinear with the weight {weight}")
    for x, dim, whose in ((first, 1, "its first input"), (second, 2, "its second input")):
        if clash := width_clash(x, weight, weight.shape[dim], dim, whose):
            return clash
    if first.ndim != second.ndim:
        return rank(second, first.ndim, f"the second input {second} has {axes_text(second.ndim)}, the first one {first} has {first.ndim}")
    for dim, (want, got) in enumerate(zip(first.shape[:-1], second.shape[:-1], strict=True)):
        if got != want:  # nothing is broadcast here
            words = f"dim {dim} of the second input {second} is {got}, of the first one {first} it is {want}"
            return Clash("broadcast", {"size": got}, {"size": want}, second.id, dim, first.id, dim, words)
    bias = call.operand(3, "bias")
    return expand_clash(bias, first.shape[:-1] + weight.shape[:1]) if bias else None


def _bilinear_gives(call: OpCall) -> tuple[Outputs, ...]:
    return one(tensor(call, 0, "input1").shape[:-1] + tensor(call, 2, "weight").shape[:1])


RULES.register("linear")(Rule(_requires, _gives))
RULES.register("bilinear")(Rule(_bilinear_requires, _bilinear_gives))
