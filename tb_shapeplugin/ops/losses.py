"""Rules of losses: prediction and target have to fit, what comes out is a scalar unless nothing is reduced."""

from tb_shapeplugin.ops.broadcasting import broadcast_clash, combined
from tb_shapeplugin.ops.reading import axes_text, rank, replaced, tensor
from tb_shapeplugin.ops.rule import RULES, Outputs, Rule, any_of, one
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall, Operand

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
    return None


def _classes_gives(call: OpCall) -> tuple[Outputs, ...]:
    scores, _ = _pair(call)
    return _reduced(call, replaced(scores.shape, 1) if scores.ndim > 1 else ())


def _reduced(call: OpCall, *unreduced: tuple[int, ...]) -> tuple[Outputs, ...]:
    return any_of(unreduced) if call.kwargs.get("reduction", "mean") == "none" else one(())


def _equal_requires(call: OpCall) -> Clash | None:
    """Binary cross entropy takes a target of the prediction's very shape."""
    scores, target = _pair(call)
    if scores.shape == target.shape:
        return None
    if scores.ndim == target.ndim:
        dim = next(at for at in range(scores.ndim) if scores.shape[at] != target.shape[at])
        return _target_clash("scores" if dim == 0 else "size", target, dim, scores, dim)
    words = f"the target {target} has {axes_text(target.ndim)}, the prediction {scores} has {scores.ndim}"
    want = {"ndim": scores.ndim}
    return Clash("loss_target_shape", {"ndim": target.ndim}, want, operand=target.id, other=scores.id, words=words)


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
        if clash := broadcast_clash(later, operands[0], kind="loss_target_shape"):
            return clash
    return None


def _ctc_requires(call: OpCall) -> Clash | None:
    scores = tensor(call, 0, "log_probs")
    batch = scores.shape[1] if scores.ndim == 3 else 1
    for position, name in ((2, "input_lengths"), (3, "target_lengths")):
        lengths = call.get(position, name)
        count = lengths.numel if isinstance(lengths, Operand) else len(lengths) if isinstance(lengths, tuple) else batch
        if count != batch:
            words = f"{name} holds {count} lengths, the batch of {scores} is {batch}"
            operand = lengths.id if isinstance(lengths, Operand) else -1
            return Clash("seq_lengths", {"lengths": count}, {"batch": batch}, operand, 0, scores.id, 1, words)
    return None


def _ctc_gives(call: OpCall) -> tuple[Outputs, ...]:
    return _reduced(call, tensor(call, 0, "log_probs").shape[1:2])


def _ranking_gives(call: OpCall) -> tuple[Outputs, ...]:
    return _reduced(call, *combined([operand.shape for operand in call.operands()[:3]]))


RULES.register("cross_entropy", "nll_loss")(Rule(_classes_requires, _classes_gives))
RULES.register("binary_cross_entropy", "binary_cross_entropy_with_logits")(Rule(_equal_requires, _broadcast_gives))
RULES.register(*_ELEMENTWISE.split())(Rule(_broadcast_requires, _broadcast_gives))
RULES.register("cosine_embedding_loss")(Rule(_cosine_requires, _cosine_gives))
RULES.register("margin_ranking_loss", "triplet_margin_loss")(Rule(_ranking_requires, _ranking_gives))
RULES.register("ctc_loss")(Rule(_ctc_requires, _ctc_gives))
