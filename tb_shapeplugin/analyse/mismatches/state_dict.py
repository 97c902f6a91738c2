"""state_dict: a checkpoint's keys or shapes differ from the model's."""

import re

from tb_shapeplugin.analyse.mismatches.explanation import Explanation, said
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace

KIND = "state_dict"
_SHAPES = re.compile(
    r"size mismatch for (\S+): copying a param with shape torch\.Size\(\[([\d, ]*)\]\) from checkpoint, "
    r"the shape in current model is torch\.Size\(\[([\d, ]*)\]\)"
)
_KEYS = re.compile(r"(Missing|Unexpected) key\(s\) in state_dict: (.*?)(?:\. ?\n|\.\s*$|$)", re.DOTALL)


def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
    """The explanation by the shapes, else by the keys, that load_state_dict states."""
    if "loading state_dict" not in failure.message:
        return None
    shapes = _SHAPES.findall(failure.message)
    if shapes:
        return _by_shape(failure, trace, shapes)
    keys = {which: re.findall(r'"([^"]+)"', names) for which, names in _KEYS.findall(failure.message)}
    missing, unexpected = keys.get("Missing", []), keys.get("Unexpected", [])
    parts = [f"{len(missing)} keys missing, {missing[0]} first"] if missing else []
    parts += [f"{len(unexpected)} keys unexpected, {unexpected[0]} first"] if unexpected else []
    words = f"the checkpoint's keys differ from the model's: {'; '.join(parts)}"
    return said(KIND, failure, trace, words, {"unexpected": len(unexpected)}, {"missing": len(missing)})


def _by_shape(failure: Failure, trace: Trace, shapes: list[tuple[str, str, str]]) -> Explanation:
    name, stored, current = shapes[0]
    has, needs = ([int(size) for size in re.findall(r"\d+", text)] for text in (stored, current))
    at = next((dim for dim, (a, b) in enumerate(zip(has, needs, strict=False)) if a != b), -1)
    got, want = (has[at], needs[at]) if at >= 0 else (len(has), len(needs))
    word = "ndim" if at < 0 else "out_features" if at == 0 and len(has) == 2 else "size"
    more = f", and {len(shapes) - 1} more" if len(shapes) > 1 else ""
    words = f"{name} is {has} in the checkpoint and {needs} in the model{more}"
    return said(KIND, failure, trace, words, {word: got}, {word: want})
