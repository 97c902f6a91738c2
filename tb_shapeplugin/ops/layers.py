"""Rules of modules whose own Python check fails: norms that fix their rank, Transformer."""

import re

from tb_shapeplugin.ops.attention import layout_clash
from tb_shapeplugin.ops.normalization import feature_clash
from tb_shapeplugin.ops.reading import axes_text, rank, tensor
from tb_shapeplugin.ops.rule import RULES, Rule
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall

_NORM_AXES: dict[str, dict[str, tuple[int, ...]]] = {
    "BatchNorm": {"1d": (2, 3), "2d": (4,), "3d": (5,)},
    "InstanceNorm": {"1d": (2, 3), "2d": (3, 4), "3d": (4, 5)},
}
_NORMS = tuple(f"{lazy}{family}{n}d" for lazy in ("", "Lazy") for family in _NORM_AXES for n in (1, 2, 3))


def _norm_requires(call: OpCall) -> Clash | None:
    x = tensor(call, 0, "input")
    found = re.fullmatch(r"(?:Lazy)?(\w+Norm)(\dd)", call.short_name)
    if not found:
        return None
    taken = _NORM_AXES[found[1]][found[2]]
    if x.ndim not in taken:
        need = min(taken, key=lambda ndim: abs(ndim - x.ndim)) if found[1] == "BatchNorm" else taken[-1]
        words = f"its input {x} has {axes_text(x.ndim)}, it takes {' or '.join(map(str, taken))}"
        return rank(x, need, words)
    declared = call.kwargs.get("num_features")
    dim = 1 if found[1] == "BatchNorm" or x.ndim == taken[-1] else 0
    return feature_clash(x, dim, declared, None) if isinstance(declared, int) else None


def _transformer_requires(call: OpCall) -> Clash | None:
    source, target = tensor(call, 0, "src"), tensor(call, 1, "tgt")
    if source.ndim not in (2, 3):
        return rank(source, 3)
    if target.ndim != source.ndim:
        return rank(target, source.ndim, f"tgt {target} has {axes_text(target.ndim)}, src {source} has {source.ndim}")
    batch = 0 if call.kwargs.get("batch_first") is True else 1
    if source.ndim == 3 and (clash := layout_clash("batch", target, batch, source, batch, "tgt", "src")):
        return clash
    width = call.kwargs.get("d_model")
    for x, name in ((source, "src"), (target, "tgt")):
        if isinstance(width, int) and x.shape[-1] != width:
            words = f"the last dim of {name} {x} is {x.shape[-1]}, d_model is {width}"
            return Clash("attn_layout", {"width": x.shape[-1]}, {"width": width}, operand=x.id, dim=x.ndim - 1, words=words)
    return None


def _adaptive_softmax_requires(call: OpCall) -> Clash | None:
    """AdaptiveLogSoftmaxWithLoss: vectors[n, width] and n class numbers."""
    x, target = tensor(call, 0, "input_"), tensor(call, 1, "target_")
    if target.ndim > 1:
        words = f"the target {target} has {axes_text(target.ndim)}, it takes 1: flatten words and vectors before"
        return Clash("loss_target_shape", {"ndim": target.ndim}, {"ndim": 1}, operand=target.id, other=x.id, words=words)
    if x.ndim != target.ndim + 1:
        return rank(x, target.ndim + 1, f"its input {x} has {axes_text(x.ndim)}, for the target {target} it takes {target.ndim + 1}")
    if not target.ndim or x.shape[0] == target.shape[0]:
        return None
    words = f"dim 0 of the target {target} is {target.shape[0]}, of the input {x} it is {x.shape[0]}"
    return Clash("loss_target_shape", {"rows": target.shape[0]}, {"rows": x.shape[0]}, target.id, 0, x.id, 0, words)


RULES.register("AdaptiveLogSoftmaxWithLoss")(Rule(_adaptive_softmax_requires))
RULES.register(*_NORMS)(Rule(_norm_requires))
RULES.register("Transformer")(Rule(_transformer_requires))
