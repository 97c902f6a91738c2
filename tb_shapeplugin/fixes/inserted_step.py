"""A step forgotten before a layer: a flatten, an axis moved there and back, one output of several picked."""

from collections.abc import Iterator
from dataclasses import replace

from tb_shapeplugin.fixes.adaptation import Adaptation, adaptations, aligned, keeps_order, permuted, reshaped, transposed
from tb_shapeplugin.fixes.delivery import on_the_way, written
from tb_shapeplugin.fixes.layer_text import called
from tb_shapeplugin.fixes.situation import Candidate, Situation, with_shape
from tb_shapeplugin.record.finding import Fix
from tb_shapeplugin.record.values import Operand

_MOST = 4
_INDEXED = ("index_", "scatter", "gather")
_ELSEWHERE = frozenset(
    "dtype device index_range loss_target_range norm_batch_one state_dict view_numel view_stride divisible pad_size "  # noqa: SIM905  as words
    "conv_kernel split_sizes opaque".split()
)
_TIME_FIRST = ("mask_shape", "attn_layout", "rnn_state", "seq_lengths", "loss_target_shape")  # layouts in which the batch isn't first
_OF_MAPS = ("conv_channels", "norm_features")
_MAP_TURNED = 0.9  # effort that taking a side of a map for its channels adds
_BATCH_MOVED = 0.4  # effort that moving the batch axis adds
LEVELLING = ("broadcast", "mask_shape")  # kinds of which operands only have to lie beside each other


def inserted_step(situation: Situation) -> Iterator[Candidate]:
    """Steps on the first argument of the failing layer, or on an operand of a failing call, after which it would run."""
    if situation.kind in _ELSEWHERE or situation.failure.signature is not None:
        return
    yield from _around(situation)
    yield from _picked(situation)
    operands = {operand.id: operand for operand in situation.call.operands() if operand.kind not in ("parameter", "buffer")}
    for operand in operands.values():
        yield from _steps(situation, operand)


def _steps(situation: Situation, operand: Operand) -> Iterator[Candidate]:
    beside = [s for other in situation.call.operands() if other.id != operand.id for s in aligned(operand.shape, other.shape)]
    steps = [*adaptations(operand.shape), *([*beside, *_undone(situation, operand)] if situation.kind in LEVELLING else ())]
    fitting = [s for s in steps if sensible(situation, operand, s) and situation.fits(with_shape(operand, s.shape))]
    for step in sorted((favoured(situation, operand, step) for step in fitting), key=lambda step: step.effort)[:_MOST]:
        raw = situation.input_name(operand.id) is not None
        yield from on_the_way(situation, operand, step, step.effort + (0.3 if raw else 0.0))


def _undone(situation: Situation, operand: Operand) -> Iterator[Adaptation]:
    """What was joined, or taken apart, as the other operand still is."""
    for other in situation.call.operands():
        same = other.shape != operand.shape and other.numel == operand.numel
        if same and other.ndim and keeps_order(operand.shape, other.shape):
            yield reshaped(other.shape, 0.8)


def favoured(situation: Situation, operand: Operand, step: Adaptation) -> Adaptation:
    """A step that moves an axis, made more plausible where it brings the only axis that is as long as wanted to its place.

    Of maps only the first axis moved last, or the last one first, counts: that another side is as long is a coincidence.
    """
    clash, (_, want) = situation.clash, situation.numbers()
    moves = step.operation in ("permute", "transpose")
    if moves and _takes_the_batch_along(situation, operand, step):
        return replace(step, effort=step.effort + _BATCH_MOVED)
    if not moves or clash is None or clash.operand != operand.id or not 0 <= clash.dim < len(step.shape):
        return step
    shape = operand.shape
    is_map = operand.ndim > 3 and situation.kind in _OF_MAPS
    unlikely = replace(step, effort=step.effort + _MAP_TURNED) if is_map and step.effort >= 1.0 else step
    if not want or shape.count(want) != 1 or step.shape[clash.dim] != want:
        return unlikely
    source, last = shape.index(want), operand.ndim - 1
    if operand.ndim > 3 and {source, clash.dim} != {1, last}:
        return unlikely
    straight = step.operation == ("permute" if operand.ndim > 3 else "transpose")
    return replace(step, effort=min(step.effort, 0.75)) if straight else step


def _takes_the_batch_along(situation: Situation, operand: Operand, step: Adaptation) -> bool:
    dims = step.arguments["dims"]
    moved = dims[0] != 0 if step.operation == "permute" else 0 in dims
    return moved and situation.kind not in _TIME_FIRST and operand.shape[:1] == (situation.batch,)


def sensible(situation: Situation, operand: Operand, step: Adaptation) -> bool:
    """False for an axis more than any operand has, which lets everything broadcast and nothing mean anything."""
    if situation.call.short_name.rstrip("_").startswith(_INDEXED):
        clash = situation.clash
        told = clash.want.get("ndim", operand.ndim) if clash is not None and clash.operand == operand.id else operand.ndim
        return len(step.shape) == told  # shape-level kernels of these look at no more than the number of elements
    others = [other.ndim for other in situation.call.operands() if other.id != operand.id]
    return situation.kind not in LEVELLING or step.operation not in ("unsqueeze", "reshape") or len(step.shape) <= max(others, default=0)


def _around(situation: Situation) -> Iterator[Candidate]:
    """A norm over the axis that holds its features: moved to where the norm looks, and back behind it."""
    _, want = situation.numbers()
    clash, layer = situation.clash, situation.layer
    if situation.kind != "norm_features" or layer is None or clash is None or clash.dim < 0 or not want:
        return
    x = situation.operand(clash.operand)
    if x is None or not situation.path:
        return
    last = x.ndim - 1
    for dim in (dim for dim, size in enumerate(x.shape) if size == want and dim != clash.dim):
        if x.shape.count(want) > 1 or (x.ndim > 3 and {dim, clash.dim} != {1, last}):
            continue
        there, back = _moves(x, dim, clash.dim)
        text = written(f"{called(situation.path)}({written('x', there)})", back)
        yield Candidate(Fix(text, (there.before(layer.path), back.after(layer.path))), 0.7, reshapes=True)


def _moves(x: Operand, source: int, target: int) -> tuple[Adaptation, Adaptation]:
    """An axis moved to another place, and back."""
    if x.ndim == 3:
        swap = transposed(x.shape, min(source, target), max(source, target))
        return swap, swap
    order = [dim for dim in range(x.ndim) if dim != source]
    order.insert(target, source)
    there = permuted(x.shape, tuple(order))
    return there, permuted(there.shape, tuple(order.index(dim) for dim in range(x.ndim)))


def _picked(situation: Situation) -> Iterator[Candidate]:
    """The first of several outputs, where a layer hands them all to the next one."""
    value = situation.call.args[0] if situation.call.args else None
    if situation.kind == "call_signature" and isinstance(value, tuple) and value and situation.path and isinstance(value[0], Operand):
        change = {"insert": "item", "index": 0, "before": situation.path}
        yield Candidate(Fix(f"{called(situation.path)}(x[0])", (change,), cost="drops the other outputs"), 0.8, reshapes=True)
