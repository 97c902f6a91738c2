"""Rules of embedding tables and one_hot."""

from tb_shapeplugin.ops.reading import Unreadable, axes_text, rank, tensor
from tb_shapeplugin.ops.rule import RULES, Outputs, Rule, one
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall


def _gives(call: OpCall) -> tuple[Outputs, ...]:
    return one(tensor(call, 0, "input").shape + tensor(call, 1, "weight").shape[1:])


def _one_hot_gives(call: OpCall) -> tuple[Outputs, ...]:
    classes = call.integer(1, "num_classes", -1)
    if classes < 0:
        raise Unreadable("the number of classes depends on values")
    return one((*tensor(call, 0, "input").shape, classes))


def _bags_require(call: OpCall) -> Clash | None:
    """Bags are rows of two axes, or one row that offsets cut."""
    index, offsets = tensor(call, 0, "input"), call.operand(2, "offsets")
    if index.ndim not in (1, 2):
        return rank(index, 2, f"its input {index} has {axes_text(index.ndim)}, it takes 2 (bags, length), or 1 with offsets")
    if index.ndim == 2 and offsets is not None:
        return rank(index, 1, f"its input {index} has 2 axes, whose rows are the bags; beside offsets it takes 1")
    if index.ndim == 1 and offsets is None:
        return rank(index, 2, f"its input {index} has 1 axis, without offsets it takes 2 (bags, length)")
    if offsets is not None and offsets.ndim != 1:
        return rank(offsets, 1, f"the offsets {offsets} have {axes_text(offsets.ndim)}, they take 1")
    return None


def _bags_give(call: OpCall) -> tuple[Outputs, ...]:
    index, weight, offsets = tensor(call, 0, "input"), tensor(call, 1, "weight"), call.operand(2, "offsets")
    if index.ndim == 1 and offsets is not None:
        return one((offsets.numel - (call.kwargs.get("include_last_offset") is True), weight.shape[-1]))
    return one((*index.shape[:1], weight.shape[-1]))


RULES.register("embedding_bag")(Rule(_bags_require, _bags_give))
RULES.register("embedding")(Rule(gives=_gives))
RULES.register("one_hot")(Rule(gives=_one_hot_gives))
