"""Rules of losses with margins or variances: their targets number classes, or go along with every score."""

from tb_shapeplugin.ops.broadcasting import broadcast_clash, clashing_dims
from tb_shapeplugin.ops.reading import axes_text, rank, tensor
from tb_shapeplugin.ops.reduction import reduced
from tb_shapeplugin.ops.rule import RULES, Outputs, Rule, one
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall, Operand, Shape


def _reduced(call: OpCall, unreduced: Shape) -> tuple[Outputs, ...]:
    return one(unreduced if call.kwargs.get("reduction", "mean") == "none" else ())


def _pair(call: OpCall) -> tuple[Operand, Operand]:
    return tensor(call, 0, "input"), tensor(call, 1, "target")


def _unequal(word: str, target: Operand, dim: int, scores: Operand, scores_dim: int) -> Clash | None:
    got, want = target.shape[dim], scores.shape[scores_dim]
    if got == want:
        return None
    words = f"dim {dim} of the target {target} is {got}, dim {scores_dim} of the prediction {scores} is {want}"
    return Clash("loss_target_shape", {word: got}, {word: want}, target.id, dim, scores.id, scores_dim, words)


def _other_axes(target: Operand, want: int, scores: Operand) -> Clash:
    words = f"the target {target} has {axes_text(target.ndim)}, for the prediction {scores} it takes {want}"
    return Clash("loss_target_shape", {"ndim": target.ndim}, {"ndim": want}, operand=target.id, other=scores.id, words=words)


def _class_requires(call: OpCall) -> Clash | None:
    """multi_margin_loss: scores[n, classes] and n class numbers."""
    scores, target = _pair(call)
    if scores.ndim > 2:
        return rank(scores, 2, f"the prediction {scores} has {axes_text(scores.ndim)}, it takes 2 (batch, classes), or 1 without a batch")
    if scores.ndim == 2 and target.ndim == 1:
        return _unequal("rows", target, 0, scores, 0)
    if target.ndim > 1:
        return _other_axes(target, max(0, scores.ndim - 1), scores)
    if target.numel != 1:
        return Clash("loss_target_shape", {"rows": target.numel}, {"rows": 1}, target.id, 0, scores.id, -1, _for_one(target, scores))
    return None


def _for_one(target: Operand, scores: Operand) -> str:
    return f"the target {target} holds {target.numel} class numbers, the prediction {scores} is of 1 sample"


def _class_gives(call: OpCall) -> tuple[Outputs, ...]:
    scores, target = _pair(call)
    return _reduced(call, scores.shape[:1] if scores.ndim == 2 else target.shape)


def _labels_requires(call: OpCall) -> Clash | None:
    """Losses of several labels: the target has the prediction's very shape."""
    scores, target = _pair(call)
    if scores.ndim > 2 and call.short_name == "multilabel_margin_loss":
        return rank(scores, 2, f"the prediction {scores} has {axes_text(scores.ndim)}, it takes 2 (batch, classes), or 1 without a batch")
    if call.short_name == "multilabel_soft_margin_loss":
        return broadcast_clash(target, scores, kind="loss_target_shape")
    if target.ndim != scores.ndim:
        return _other_axes(target, scores.ndim, scores)
    clashes = (_unequal("rows" if dim == 0 else "size", target, dim, scores, dim) for dim in range(scores.ndim))
    return next((clash for clash in clashes if clash), None)


def _labels_gives(call: OpCall) -> tuple[Outputs, ...]:
    return _reduced(call, tensor(call, 0, "input").shape[:-1])


def _gaussian_requires(call: OpCall) -> Clash | None:
    """gaussian_nll_loss: target as the prediction; a variance as well, one a row, or one for all."""
    scores, target = _pair(call)
    if clash := broadcast_clash(target, scores, kind="loss_target_shape"):
        return clash
    variance = call.operand(2, "var")
    if variance is None or variance.shape in (scores.shape, scores.shape[:-1], (*scores.shape[:-1], 1), ()) or not scores.ndim:
        return None
    if variance.ndim != scores.ndim:
        words = f"the variance {variance} has {axes_text(variance.ndim)}, the prediction {scores} has {scores.ndim}"
        got, want = {"ndim": variance.ndim}, {"ndim": scores.ndim}
        return Clash("loss_target_shape", got, want, operand=variance.id, other=scores.id, words=words)
    dim = next(at for at in range(scores.ndim) if variance.shape[at] != scores.shape[at])
    got, want = {"size": variance.shape[dim]}, {"size": scores.shape[dim]}
    words = f"dim {dim} of the variance {variance} is {variance.shape[dim]}, of the prediction {scores} it is {scores.shape[dim]}"
    return Clash("loss_target_shape", got, want, variance.id, dim, scores.id, dim, words)


def _gaussian_gives(call: OpCall) -> tuple[Outputs, ...]:
    return _reduced(call, tensor(call, 0, "input").shape)


def _triplet(call: OpCall) -> tuple[Operand, Operand, Operand]:
    return tensor(call, 0, "anchor"), tensor(call, 1, "positive"), tensor(call, 2, "negative")


def _triplet_requires(call: OpCall) -> Clash | None:
    anchor, positive, negative = _triplet(call)
    for other, name in ((positive, "positive"), (negative, "negative")):
        if other.ndim != anchor.ndim:
            words = f"the {name} {other} has {axes_text(other.ndim)}, the anchor {anchor} has {anchor.ndim}"
            got, want = {"ndim": other.ndim}, {"ndim": anchor.ndim}
            return Clash("loss_target_shape", got, want, operand=other.id, other=anchor.id, words=words)
        if clash := broadcast_clash(other, anchor, kind="loss_target_shape"):
            return clash
    return _distances_clash(negative, positive, swapped=call.kwargs.get("swap", False) is True)


def _distances_clash(negative: Operand, positive: Operand, swapped: bool) -> Clash | None:
    """The clash of the two distances to one anchor; negative and positive themselves meet only where the anchor may be swapped."""
    if swapped:
        return broadcast_clash(negative, positive, kind="loss_target_shape")
    for dim, other in clashing_dims(negative.shape[:-1], positive.shape[:-1]):
        got, want = negative.shape[dim], positive.shape[other]
        words = f"dim {dim} of the negative {negative} is {got}, dim {other} of the positive {positive} is {want}, and neither is 1"
        return Clash("loss_target_shape", {"size": got}, {"size": want}, negative.id, dim, positive.id, other, words)
    return None


def _triplet_gives(call: OpCall) -> tuple[Outputs, ...]:
    anchor, positive, negative = _triplet(call)
    widest = max((anchor, positive, negative), key=lambda operand: operand.numel)
    return _reduced(call, reduced(widest.shape, (-1,), False) if widest.ndim else ())


RULES.register("multi_margin_loss")(Rule(_class_requires, _class_gives))
RULES.register("multilabel_margin_loss", "multilabel_soft_margin_loss")(Rule(_labels_requires, _labels_gives))
RULES.register("gaussian_nll_loss")(Rule(_gaussian_requires, _gaussian_gives))
RULES.register("triplet_margin_loss", "triplet_margin_with_distance_loss")(Rule(_triplet_requires, _triplet_gives))
