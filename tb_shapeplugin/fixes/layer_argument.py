"""The failing layer's own argument: the side that the number comes in at, the table's length, the order of its axes."""

from collections.abc import Iterator
from dataclasses import replace

from tb_shapeplugin.fixes.layer_text import called, layer_fix
from tb_shapeplugin.fixes.situation import Candidate, Situation
from tb_shapeplugin.ops.reading import product
from tb_shapeplugin.record.finding import Fix
from tb_shapeplugin.record.trace import ModuleFact

_IN_SIDE = ("in_features", "in1_features", "in2_features", "in_channels", "num_features", "num_channels", "input_size", "embed_dim")
_HIDES = "hides labels that count from 1, if that is the mistake"


def layer_argument(situation: Situation) -> Iterator[Candidate]:
    """The failing layer declared for what it gets."""
    layer = situation.layer
    if layer is not None:
        yield from _in_side(situation, layer)
        yield from _normalised(situation, layer)
        yield from _grouped(situation, layer)
        yield from _unflattened(situation, layer)
        yield from _table(situation, layer)
        yield from _batch_first(situation, layer)
        yield from _batch_of_one(situation, layer)
        yield from _padded(situation, layer)
    yield from _classes(situation)


def _in_side(situation: Situation, layer: ModuleFact) -> Iterator[Candidate]:
    got, want = situation.numbers()
    for name in _IN_SIDE:
        if got and want and layer.attributes.get(name) == want:
            axis_of_width = situation.kind == "norm_features" and name == "num_features"
            yield Candidate(layer_fix(layer, name, got, own=True), 1.0 if not axis_of_width else 1.1)
            return
    if situation.kind == "rnn_state" and got and "hidden" in situation.finding.got and layer.attributes.get("hidden_size") == want:
        yield Candidate(layer_fix(layer, "hidden_size", got, own=True), 1.0, reshapes=True)


def _normalised(situation: Situation, layer: ModuleFact) -> Iterator[Candidate]:
    declared = layer.attributes.get("normalized_shape")
    x = situation.call.operand(0, "input")
    if isinstance(declared, tuple) and x is not None and x.ndim >= len(declared):
        yield Candidate(layer_fix(layer, "normalized_shape", x.shape[-len(declared) :], own=True), 1.1)


def _grouped(situation: Situation, layer: ModuleFact) -> Iterator[Candidate]:
    groups, channels = layer.attributes.get("num_groups"), layer.attributes.get("num_channels")
    got, _ = situation.numbers()
    if situation.kind == "divisible" and isinstance(groups, int) and isinstance(channels, int) and got and got != channels:
        yield Candidate(layer_fix(layer, "num_channels", got, own=True))
        return
    if situation.kind == "divisible" and isinstance(groups, int) and got:
        fitting = max(size for size in range(1, groups + 1) if got % size == 0)
        yield Candidate(layer_fix(layer, "num_groups", fitting, own=True))


def _unflattened(situation: Situation, layer: ModuleFact) -> Iterator[Candidate]:
    declared = layer.attributes.get("unflattened_size")
    x = situation.call.operand(0, "input") or situation.call.operand(0, "self")
    dim = layer.attributes.get("dim")
    if isinstance(declared, tuple) and x is not None and isinstance(dim, int) and -x.ndim <= dim < x.ndim:
        for sizes in refitted(declared, x.shape[dim]):
            yield Candidate(layer_fix(layer, "unflattened_size", sizes, own=True), 0.9)


def refitted(sizes: tuple[int, ...], whole: int) -> Iterator[tuple[int, ...]]:
    """The sizes with equal ones, or a single one, changed so that they multiply up to ``whole``.

    Example:
        >>> list(refitted((14, 14), 49))
        [(7, 7)]
    """
    for size in dict.fromkeys(sizes):
        count = sizes.count(size)
        rest = product(other for other in sizes if other != size)
        root = round((whole / rest) ** (1 / count)) if rest > 0 and whole % rest == 0 else 0
        if count > 1 and root > 0 and root**count * rest == whole:
            yield tuple(root if other == size else other for other in sizes)
    for at in range(len(sizes)):
        rest = product(sizes[:at] + sizes[at + 1 :])
        if rest > 0 and whole % rest == 0:
            yield (*sizes[:at], whole // rest, *sizes[at + 1 :])


def _table(situation: Situation, layer: ModuleFact) -> Iterator[Candidate]:
    if situation.kind == "index_range" and "num_embeddings" in layer.attributes:
        highest = max((operand.high for operand in situation.call.operands() if operand.high is not None), default=None)
        if highest is not None:
            yield Candidate(layer_fix(layer, "num_embeddings", highest + 1, own=True))


def _batch_first(situation: Situation, layer: ModuleFact) -> Iterator[Candidate]:
    now = layer.attributes.get("batch_first")
    if isinstance(now, bool) and situation.kind in ("mask_shape", "attn_layout", "rnn_state", "seq_lengths"):
        yield Candidate(layer_fix(layer, "batch_first", not now, own=True), 0.9)


def _batch_of_one(situation: Situation, layer: ModuleFact) -> Iterator[Candidate]:
    if situation.kind == "norm_batch_one":
        change = {"module": layer.path, "attr": "training", "value": False}
        cost = "normalises with the running statistics, which then stay as they are"
        yield Candidate(Fix(f"{called(layer.path) or 'model'}.eval()", (change,), cost=cost))


def _padded(situation: Situation, layer: ModuleFact) -> Iterator[Candidate]:
    """A reflecting pad no longer than the axis allows."""
    padding, x = layer.attributes.get("padding"), situation.call.operand(0, "input")
    if situation.kind == "pad_size" and isinstance(padding, tuple) and x is not None:
        room = 0 if layer.type.startswith("Circular") else 1
        allowed = tuple(min(value, x.shape[-1 - at // 2] - room) for at, value in enumerate(padding))
        yield Candidate(layer_fix(layer, "padding", allowed, own=True), reshapes=True)


def _classes(situation: Situation) -> Iterator[Candidate]:
    """A class more at the layer whose scores a loss gets: it runs, though it is seldom what is meant."""
    if situation.kind != "loss_target_range":
        return
    highest = max((operand.high for operand in situation.call.operands() if operand.high is not None), default=None)
    scores = situation.call.operand(0, "input")
    if highest is None or scores is None:
        return
    for op in situation.makers(scores.id):
        module = situation.module_of(op)
        name = next((name for name in ("out_features", "out_channels") if module and name in module.attributes), None)
        if module is not None and name is not None:
            candidate = Candidate(layer_fix(module, name, highest + 1, own=False), 1.5, reshapes=True)
            yield replace(candidate, fix=replace(candidate.fix, cost=f"{candidate.fix.cost}; {_HIDES}".lstrip("; ")))
            return
