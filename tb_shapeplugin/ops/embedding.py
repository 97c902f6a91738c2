"""Rules of embedding tables and one_hot."""

from tb_shapeplugin.ops.reading import Unreadable, tensor
from tb_shapeplugin.ops.rule import RULES, Outputs, Rule, one
from tb_shapeplugin.record.values import OpCall


def _gives(call: OpCall) -> tuple[Outputs, ...]:
    return one(tensor(call, 0, "input").shape + tensor(call, 1, "weight").shape[1:])


def _one_hot_gives(call: OpCall) -> tuple[Outputs, ...]:
    classes = call.integer(1, "num_classes", -1)
    if classes < 0:
        raise Unreadable("the number of classes depends on values")
    return one((*tensor(call, 0, "input").shape, classes))


RULES.register("embedding")(Rule(gives=_gives))
RULES.register("one_hot")(Rule(gives=_one_hot_gives))
