"""Rules of losses: prediction and target have to fit, what comes out is a scalar unless nothing is reduced."""

from dataclasses import replace

from tb_shapeplugin.ops.broadcasting import broadcast_clash, combined
from tb_shapeplugin.ops.reading import axes_text, numbers, rank, replaced, tensor
from tb_shapeplugin.ops.rule import RULES, Outputs, Rule, any_of, one
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall, Operand, Value

_ELEMENTWISE = "mse_loss l1_loss smooth_l1_loss huber_loss kl_div soft_margin_loss poisson_nll_loss hinge_embedding_loss"


def _pair(call: OpCall) -> tuple[Operand, Operand]:
    return tensor(call, 0, "input"), tensor(call, 1, "target")


def _target_clash(word: str, target: Operand, dim: int, scores: Operand, scores_dim: int, extra: str = "") -> Clash:
    got, want = target.shape[dim], scores.shape[scores_dim]
    words = f"dim {dim} of the target {target} is {got}, dim {scores_dim} of the prediction {scores} is {want}{extra}"
    return Clash("loss_target_shape", {word: got}, {word: want}, target.id, dim, scores.id, scores_dim, words)


def _classes_requires(call: OpCall) -> Clash | None:
    """Cross entropy takes class numbers without the class axis, or probabilities of the prediction's very shape."""
    scores, target = _pair(call)
    if scores.ndim == 0:
        return rank(scores, 2, "the prediction is a scalar, it takes at least the class axis")
    probabilities = scores.shape == target.shape and target.dtype.startswith(("float", "bfloat"))
    if probabilities and call.short_name == "cross_entropy":
        return None
    want = max(scores.ndim - 1, 0)
    if target.ndim != want:
        words = f"the target {target} has {axes_text(target.ndim)}, class numbers for the prediction {scores} have {want}"
        return Clash("loss_target_shape", {"ndim": target.ndim}, {"ndim": want}, operand=target.id, other=scores.id, words=words)
    axes = [0, *range(2, scores.ndim)] if scores.ndim > 1 else []
    for dim, scores_dim in enumerate(axes):
        if target.shape[dim] != scores.shape[scores_dim]:
            word = "rows" if dim == 0 else "size"
            return _target_clash(word, target, dim, scores, scores_dim)
    return _class_weights_clash(call, scores)


def _class_weights_clash(call: OpCall, scores: Operand) -> Clash | None:
    weight, at = call.operand(2, "weight"), 1 if scores.ndim > 1 else 0
    if weight is None or weight.numel == scores.shape[at]:
        return None
    words = f"{weight} weighs {weight.numel} classes, dim {at} of the prediction {scores} holds {scores.shape[at]}"
    got, want = {"classes": weight.numel}, {"classes": scores.shape[at]}
    return Clash("loss_target_shape", got, want, weight.id, 0, scores.id, at, words)


def _classes_gives(call: OpCall) -> tuple[Outputs, ...]:
    scores, _ = _pair(call)
    return _reduced(call, replaced(scores.shape, 1) if scores.ndim > 1 else ())


def _reduced(call: OpCall, *unreduced: tuple[int, ...]) -> tuple[Outputs, ...]:
    return any_of(unreduced) if call.kwargs.get("reduction", "mean") == "none" else one(())


def _equal_requires(call: OpCall) -> Clash | None:
    """Binary cross entropy takes a target of the prediction's very shape."""
    scores, target = _pair(call)
    if scores.shape == target.shape:
        return _weights_clash(call, scores)
    if scores.ndim == target.ndim:
        dim = next(at for at in range(scores.ndim) if scores.shape[at] != target.shape[at])
        return _target_clash("scores" if dim == 0 else "size", target, dim, scores, dim)
    words = f"the target {target} has {axes_text(target.ndim)}, the prediction {scores} has {scores.ndim}"
    want = {"ndim": scores.ndim}
    return Clash("loss_target_shape", {"ndim": target.ndim}, want, operand=target.id, other=scores.id, words=words)


def _weights_clash(call: OpCall, scores: Operand) -> Clash | None:
    """Weights of binary cross entropy have to lie beside the prediction."""
    for position, name in ((2, "weight"), (6, "pos_weight")):
        weights = call.operand(position, name)
        clash = None if weights is None else broadcast_clash(weights, scores)
        if clash is not None:
            return replace(clash, words=f"{name}: {clash.words}")
    return None


def _broadcast_requires(call: OpCall) -> Clash | None:
    scores, target = _pair(call)
    return broadcast_clash(target, scores, kind="loss_target_shape")


def _broadcast_gives(call: OpCall) -> tuple[Outputs, ...]:
    scores, target = _pair(call)
    return _reduced(call, *combined([scores.shape, target.shape]))


def _cosine_requires(call: OpCall) -> Clash | None:
    first, second, target = tensor(call, 0, "input1"), tensor(call, 1, "input2"), tensor(call, 2, "target")
    want = 2 if target.ndim == 1 else 1
    for x in (first, second):
        if x.ndim != want:
            return rank(x, want, f"its input {x} has {axes_text(x.ndim)}, a target of {target.ndim} takes {want}")
    if clash := broadcast_clash(second, first, kind="loss_target_shape"):
        return clash
    if target.ndim == 1 and target.shape[0] not in (1, first.shape[0]):
        return _target_clash("rows", target, 0, first, 0)
    return None


def _cosine_gives(call: OpCall) -> tuple[Outputs, ...]:
    return _reduced(call, tensor(call, 2, "target").shape)


def _ranking_requires(call: OpCall) -> Clash | None:
    operands = call.operands()[:3]
    for later in operands[1:]:
        if later.ndim != operands[0].ndim and call.short_name == "margin_ranking_loss":
            words = f"{later} has {axes_text(later.ndim)}, the first input {operands[0]} has {operands[0].ndim}"
            got, want = {"ndim": later.ndim}, {"ndim": operands[0].ndim}
            return Clash("loss_target_shape", got, want, operand=later.id, other=operands[0].id, words=words)
        if clash := broadcast_clash(later, operands[0], kind="loss_target_shape"):
            return clash
    return None


def _ctc_requires(call: OpCall) -> Clash | None:
    scores, targets = tensor(call, 0, "log_probs"), tensor(call, 1, "targets")
    if targets.ndim not in (1, 2):
        return rank(
            targets, 2, f"the targets {targets} have {axes_text(targets.ndim)}, they take 2 (batch, length), or 1 with all in a row"
        )
    batch = scores.shape[1] if scores.ndim == 3 else 1
    for position, name in ((2, "input_lengths"), (3, "target_lengths")):
        lengths = call.get(position, name)
        count = lengths.numel if isinstance(lengths, Operand) else len(lengths) if isinstance(lengths, tuple) else batch
        if count != batch:
            words = f"{name} holds {count} lengths, the batch of {scores} is {batch}"
            operand = lengths.id if isinstance(lengths, Operand) else -1
            return Clash("seq_lengths", {"lengths": count}, {"batch": batch}, operand, 0, scores.id, 1, words)
    return _ctc_longest(call, scores) or _ctc_blank(call, scores)


def _ctc_longest(call: OpCall, scores: Operand) -> Clash | None:
    """Lengths that reach past what they measure, where their values are known."""
    targets = tensor(call, 1, "targets")
    padded_to = targets.shape[-1] if targets.ndim == 2 else None
    for position, name, most, measured in ((2, "input_lengths", scores.shape[0], scores), (3, "target_lengths", padded_to, targets)):
        longest = _longest(call.get(position, name))
        if longest is not None and most is not None and longest[0] > most:
            words = f"{name} holds {longest[0]}, {measured} reaches to {most}"
            return Clash("seq_lengths", {"length": longest[0]}, {"length": most}, operand=longest[1], words=words)
    return None


def _longest(lengths: Value) -> tuple[int, int] | None:
    """The longest of known lengths, and the id of the tensor that holds them."""
    if isinstance(lengths, Operand):
        return None if lengths.high is None else (lengths.high, lengths.id)
    return (max(numbers(lengths)), -1) if isinstance(lengths, tuple) and lengths else None


def _ctc_blank(call: OpCall, scores: Operand) -> Clash | None:
    blank, classes = call.integer(4, "blank", 0), scores.shape[-1]
    if 0 <= blank < classes:
        return None
    words = f"blank is class {blank}, the prediction {scores} has {classes} classes, numbered from 0 to {classes - 1}"
    return Clash("loss_target_range", {"label": blank}, {"below": classes}, scores.id, scores.ndim - 1, words=words)


def _ctc_gives(call: OpCall) -> tuple[Outputs, ...]:
    return _reduced(call, tensor(call, 0, "log_probs").shape[1:2])


def _ranking_gives(call: OpCall) -> tuple[Outputs, ...]:
    return _reduced(call, *combined([operand.shape for operand in call.operands()[:3]]))


RULES.register("cross_entropy", "nll_loss")(Rule(_classes_requires, _classes_gives))
RULES.register("binary_cross_entropy", "binary_cross_entropy_with_logits")(Rule(_equal_requires, _broadcast_gives))
RULES.register(*_ELEMENTWISE.split())(Rule(_broadcast_requires, _broadcast_gives))
RULES.register("cosine_embedding_loss")(Rule(_cosine_requires, _cosine_gives))
RULES.register("margin_ranking_loss")(Rule(_ranking_requires, _ranking_gives))
RULES.register("ctc_loss")(Rule(_ctc_requires, _ctc_gives))
