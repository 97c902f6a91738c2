"""Rules of batch, layer, group, instance, RMS and local response norm."""

from collections.abc import Iterator

from tb_shapeplugin.ops.reading import axes_text, distinct, numbers, product, rank, replaced, tensor
from tb_shapeplugin.ops.rule import RULES, Outputs, Rule, any_of
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall, Operand, Shape


def feature_clash(x: Operand, dim: int, want: int, other: Operand | None, word: str = "num_features") -> Clash | None:
    """The clash of a tensor whose features at that dim aren't as many as the norm was declared for."""
    got = x.shape[dim]
    if got == want:
        return None
    words = f"dim {dim} of its input {x} holds {got} features, {word} is {want}"
    return Clash(
        "norm_features",
        {"features": got},
        {"features": want},
        operand=x.id,
        dim=dim,
        other=other.id if other else -1,
        other_dim=0 if other else -1,
        words=words,
    )


def _statistics(call: OpCall, names: dict[str, int]) -> Operand | None:
    found = (call.operand(position, name) for name, position in names.items())
    return next((operand for operand in found if operand is not None and operand.ndim == 1), None)


def _features_clash(call: OpCall, names: dict[str, int], x: Operand, declared: str = "num_features") -> Clash | None:
    """The clash of features at dim 1 with the first of the norm's tensors that isn't made for as many; all of them are vectors."""
    for name, position in names.items():
        held = call.operand(position, name)
        if held is not None and held.numel != x.shape[1]:
            return feature_clash(x, 1, held.numel, held, declared)
    return None


_BATCH = {"running_mean": 1, "running_var": 2, "weight": 3, "bias": 4}
_INSTANCE = {"weight": 3, "bias": 4, "running_mean": 1, "running_var": 2}
_GROUP = {"weight": 2, "bias": 3}


def _channels_first(x: Operand, declared: Operand | None) -> tuple[Outputs, ...]:
    if declared is None or x.ndim < 2 or x.shape[1] == declared.shape[0]:
        return any_of((x.shape,))
    return any_of((x.shape, replaced(x.shape, 1, declared.shape[0])))


def _batch_requires(call: OpCall) -> Clash | None:
    x = tensor(call, 0, "input")
    if not x.numel:
        return None
    if x.ndim < 2:
        return rank(x, 2, f"its input {x} has {axes_text(x.ndim)}, it takes at least 2 (batch, features)")
    if call.get(5, "training", False) is True:
        values = product(x.shape[:1] + x.shape[2:])
        if values == 1:
            words = f"its input {x} has 1 value per channel, in training it needs more than 1 (2 or more)"
            return Clash("norm_batch_one", {"values": 1}, {"min_values": 2}, operand=x.id, dim=0, words=words)
    return _features_clash(call, _BATCH, x)


def _batch_gives(call: OpCall) -> tuple[Outputs, ...]:
    return _channels_first(tensor(call, 0, "input"), _statistics(call, _BATCH))


def _instance_requires(call: OpCall) -> Clash | None:
    x = tensor(call, 0, "input")
    if x.ndim < 3:
        return rank(x, 3, f"its input {x} has {axes_text(x.ndim)}, it takes at least 3 (batch, channels, space)")
    if call.get(5, "use_input_stats", True) is True and product(x.shape[2:]) == 1:
        words = f"its input {x} has 1 value per channel and sample, it needs more than 1 (2 or more)"
        return Clash("norm_batch_one", {"values": 1}, {"min_values": 2}, operand=x.id, dim=2, words=words)
    return _features_clash(call, _INSTANCE, x)


def _instance_gives(call: OpCall) -> tuple[Outputs, ...]:
    return _channels_first(tensor(call, 0, "input"), _statistics(call, _INSTANCE))


def _group_requires(call: OpCall) -> Clash | None:
    x, groups = tensor(call, 0, "input"), call.integer(1, "num_groups", 1)
    if x.ndim < 2:
        return rank(x, 2, f"its input {x} has {axes_text(x.ndim)}, it takes at least 2 (batch, channels)")
    if groups > 0 and x.shape[0] * x.shape[1] // groups * product(x.shape[2:]) == 1:
        words = f"its input {x} has 1 value per group, it needs more than 1 (2 or more)"
        return Clash("norm_batch_one", {"values": 1}, {"min_values": 2}, operand=x.id, dim=0, words=words)
    if clash := _features_clash(call, _GROUP, x, "num_channels"):
        return clash
    if groups > 0 and x.shape[1] % groups:
        words = f"dim 1 of its input holds {x.shape[1]} channels, which is no multiple of num_groups {groups}"
        return Clash("divisible", {"channels": x.shape[1]}, {"multiple_of": groups}, operand=x.id, dim=1, words=words)
    return None


def _group_gives(call: OpCall) -> tuple[Outputs, ...]:
    return _channels_first(tensor(call, 0, "input"), _statistics(call, _GROUP))


def _layer_requires(call: OpCall) -> Clash | None:
    x, declared = tensor(call, 0, "input"), numbers(call.get(1, "normalized_shape"))
    if x.ndim < len(declared):
        return rank(x, len(declared), f"its input {x} has {axes_text(x.ndim)}, normalized_shape {declared} takes at least {len(declared)}")
    weight = call.operand(2, "weight")
    first = x.ndim - len(declared)
    for at in reversed(range(len(declared))):
        got, want = x.shape[first + at], declared[at]
        if got != want:
            where = "the last dim" if at == len(declared) - 1 else f"dim {first + at}"
            words = f"{where} of its input {x} is {got}, normalized_shape is {want if len(declared) == 1 else declared}"
            other, other_dim = (weight.id, at) if weight else (-1, -1)
            return Clash("norm_features", {"features": got}, {"features": want}, x.id, first + at, other, other_dim, words)
    return _weight_clash(call, declared)


def _weight_clash(call: OpCall, declared: Shape) -> Clash | None:
    """The clash of a weight or bias that isn't of the declared shape."""
    for name, position in (("weight", 2), ("bias", 3)) if call.short_name == "layer_norm" else (("weight", 2),):
        held = call.operand(position, name)
        if held is None or held.shape == declared:
            continue
        if held.ndim != len(declared):
            return rank(
                held, len(declared), f"the {name} {held} has {axes_text(held.ndim)}, normalized_shape {declared} has {len(declared)}"
            )
        dim = next(at for at, size in enumerate(declared) if held.shape[at] != size)
        got, want = held.shape[dim], declared[dim]
        words = f"dim {dim} of the {name} {held} is {got}, normalized_shape is {want if len(declared) == 1 else declared}"
        return Clash("norm_features", {"features": got}, {"features": want}, held.id, dim, words=words)
    return None


def _local_requires(call: OpCall) -> Clash | None:
    x = tensor(call, 0, "input")
    return rank(x, 3, f"its input {x} has {axes_text(x.ndim)}, it takes at least 3 (batch, channels, space)") if x.ndim < 3 else None


def _local_gives(call: OpCall) -> tuple[Outputs, ...]:
    return any_of((tensor(call, 0, "input").shape,))


def _layer_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, declared = tensor(call, 0, "input"), numbers(call.get(1, "normalized_shape"))
    kept = x.shape[: max(0, x.ndim - len(declared))]
    return any_of(distinct((x.shape, kept + declared, *_swapped(x.shape, declared))))


def _swapped(shape: Shape, declared: Shape) -> Iterator[Shape]:
    """The shape with its last axis and one behind the batch swapped, where the features stand in that one."""
    if len(declared) == 1 and shape and shape[-1] != declared[0]:
        yield from (replaced(shape, dim, shape[-1])[:-1] + declared for dim in range(1, len(shape) - 1) if shape[dim] == declared[0])


RULES.register("batch_norm")(Rule(_batch_requires, _batch_gives))
RULES.register("instance_norm")(Rule(_instance_requires, _instance_gives))
RULES.register("group_norm")(Rule(_group_requires, _group_gives))
RULES.register("layer_norm", "rms_norm")(Rule(_layer_requires, _layer_gives))
RULES.register("local_response_norm")(Rule(_local_requires, _local_gives))
