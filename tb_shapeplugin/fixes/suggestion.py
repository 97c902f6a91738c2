"""What can only be said, not tried: other checkpoints, collate functions, guards of a compiler, labels counted from 1."""

from collections.abc import Iterator

from tb_shapeplugin.fixes.situation import Candidate, Situation
from tb_shapeplugin.record.finding import Fix


def suggestion(situation: Situation) -> Iterator[Candidate]:
    """The way out in words, for the kinds whose repair lies outside the run."""
    for text in _texts(situation):
        yield Candidate(Fix(text), effort=9.0)


def _batch_of_targets(situation: Situation) -> str:
    """Which argument has to be as long as the predictions are many."""
    name = None if situation.clash is None else situation.input_name(situation.clash.operand)
    _, want = situation.numbers()
    if name is None or want is None:
        return "as many targets as predictions"
    return f"argument {name}: dim 0 should be {want}" if isinstance(name, str) else f"args[{name}]: dim 0 should be {want}"


def _classes(situation: Situation) -> Iterator[str]:
    """Labels that begin at 1 count from 0 instead; where a class 0 is among them, there are more classes than outputs."""
    got, want = situation.finding.got.get("label"), situation.finding.want.get("below")
    if got is None or want is None:
        return
    target = None if situation.clash is None else situation.operand(situation.clash.operand)
    lowest = None if target is None else target.low
    if got == want and (lowest is None or lowest > 0):
        yield "labels that count from 0: y - 1"
    if got >= want and (lowest is None or lowest <= 0):
        yield f"{got + 1} classes in the layer that makes the prediction, it has {want}"


def _texts(situation: Situation) -> Iterator[str]:
    kind, got, want = situation.kind, situation.finding.got, situation.finding.want
    if kind == "state_dict" and "missing" in want:
        yield "rename the checkpoint's keys to the model's, such as {k.removeprefix('module.'): v for k, v in state.items()}"
    elif kind == "state_dict":
        yield "build the model with the checkpoint's sizes and replace that layer after loading"
        yield "drop the keys whose shapes differ before loading, and pass strict=False"
    elif kind == "stack_ragged":
        yield "DataLoader(…, collate_fn=…) that pads the items, or keeps them as a list"
    elif kind == "compile_guard":
        yield "take the size from x.size(…) instead of a constant, or let the table broadcast"
    elif kind == "loss_target_range":
        yield from _classes(situation)
    elif kind == "seq_lengths":
        yield "pass the lengths that belong to this batch: lengths[:x.size(0)]"
    elif kind == "loss_target_shape" and situation.clash is not None and situation.clash.dim == 0:
        yield _batch_of_targets(situation)
    elif kind == "attn_layout" and "batch" in got and "batch" in want:
        low, high = sorted((got["batch"], want["batch"]))
        yield f"expand the one of batch {low} along its batch axis: .expand(-1, {high}, -1)"
    elif kind == "rnn_state":
        yield "make the state from the input, x.new_zeros(…, x.size(0), …), or leave it out: zeros are the default"
