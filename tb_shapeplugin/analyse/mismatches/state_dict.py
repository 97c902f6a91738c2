"""state_dict: a checkpoint's keys or shapes differ from the model's."""

import re

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, first_line, said
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace

KIND = "state_dict"
_SHAPES = re.compile(
    r"size mismatch for (\S+): copying a param with shape torch\.Size\(\[([\d, ]*)\]\) from checkpoint, "
    r"the shape in current model is torch\.Size\(\[([\d, ]*)\]\)"
)
_KEYS = re.compile(r"(Missing|Unexpected) key\(s\) in state_dict: (.*?)(?:\. ?\n|\.\s*$|$)", re.DOTALL)
_NO_DICT = "Expected state_dict to be dict-like"


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation by the shapes, else by the keys, that load_state_dict states; of an optimizer by its groups."""
    if failure.call.name.startswith("torch.optim.") and "loaded state dict" in failure.message:
        return _of_groups(failure, trace)
    if _NO_DICT in failure.message:
        return said(KIND, failure, trace, first_line(failure))
    if "loading state_dict" not in failure.message:
        return None
    keys = {which: re.findall(r'"([^"]+)"', names) for which, names in _KEYS.findall(failure.message)}
    missing, unexpected = keys.get("Missing", []), keys.get("Unexpected", [])
    parts = [f"{_keys(missing)} missing, {missing[0]} first"] if missing else []
    parts += [f"{_keys(unexpected)} unexpected, {unexpected[0]} first"] if unexpected else []
    words = f"the checkpoint's keys differ from the model's: {'; '.join(parts)}{_difference(missing, unexpected)}"
    shapes = _SHAPES.findall(failure.message)
    if shapes:
        return _by_shape(failure, trace, shapes, f"; {words}" if parts else "")
    return said(KIND, failure, trace, words, {"unexpected": len(unexpected)}, {"missing": len(missing)})


def _keys(names: list[str]) -> str:
    return f"{len(names)} key{'s' if len(names) > 1 else ''}"


def _difference(missing: list[str], unexpected: list[str]) -> str:
    """How the keys differ, where one thing explains all of them: a prefix too many or too few, another name for a part."""
    if not missing or len(missing) > len(unexpected):
        return ""
    shorter, longer = min(missing, key=len), min(unexpected, key=len)
    for has, needs, words in ((unexpected, missing, "the checkpoint's begin with"), (missing, unexpected, "only the model's begin with")):
        prefix = next((key.removesuffix(shorter if has is unexpected else longer) for key in has if key.endswith((shorter, longer))), "")
        if prefix and set(needs) <= {key.removeprefix(prefix) for key in has if key.startswith(prefix)}:
            return f"; {words} '{prefix}'"
    renamed = {(key.partition(".")[0], other.partition(".")[0]) for key, other in zip(unexpected, missing, strict=False)}
    if len(renamed) == 1 and len(missing) == len(unexpected):
        old, new = renamed.pop()
        if old != new and {key.replace(old, new, 1) for key in unexpected} == set(missing):
            return f"; what the checkpoint calls '{old}' is '{new}' in the model"
    return ""


def _of_groups(failure: Failure, trace: Trace) -> Explanation:
    counts = [failure.call.kwargs.get(word) for word in ("saved_groups", "groups")]
    saved, own = ([size for size in count if isinstance(size, int)] if isinstance(count, tuple) else [] for count in counts)
    if len(saved) != len(own):
        words = f"the saved state has {len(saved)} parameter groups, the optimizer has {len(own)}"
        return said(KIND, failure, trace, words, {"groups": len(saved)}, {"groups": len(own)})
    group = next((at for at, (a, b) in enumerate(zip(saved, own, strict=True)) if a != b), None)
    if group is None:
        return said(KIND, failure, trace, first_line(failure))
    words = f"group {group} of the saved state has {saved[group]} parameters, the optimizer's has {own[group]}"
    return said(KIND, failure, trace, words, {"parameters": saved[group]}, {"parameters": own[group]})


def _by_shape(failure: Failure, trace: Trace, shapes: list[tuple[str, str, str]], besides: str) -> Explanation:
    name, stored, current = shapes[0]
    has, needs = ([int(size) for size in re.findall(r"\d+", text)] for text in (stored, current))
    at = next((dim for dim, (a, b) in enumerate(zip(has, needs, strict=False)) if a != b), -1)
    got, want = (has[at], needs[at]) if at >= 0 else (len(has), len(needs))
    word = "ndim" if at < 0 else "out_features" if at == 0 and len(has) == 2 else "size"
    more = f", and {len(shapes) - 1} more" if len(shapes) > 1 else ""
    words = f"{name} is {has} in the checkpoint and {needs} in the model{more}{besides}"
    return said(KIND, failure, trace, words, {word: got}, {word: want})
