"""The other side of a clash: the layer that made the number declared for what its reader takes."""

import math
from collections.abc import Iterator

from tb_shapeplugin.analyse.origins.passing import Dim, step_back
from tb_shapeplugin.analyse.origins.recalled import recalled
from tb_shapeplugin.fixes.layer_text import layer_fix
from tb_shapeplugin.fixes.situation import Candidate, Situation, is_layer
from tb_shapeplugin.ops.reading import Unreadable, listed, product
from tb_shapeplugin.record.trace import ModuleFact
from tb_shapeplugin.record.values import Operand

_OUT_SIDE = ("out_features", "out_channels", "embedding_dim", "hidden_size")
_LONGEST_WALK = 200
_EQUAL_SIDES = ("matmul_dims", "broadcast", "cat", "attn_layout", "index_shape")
_KINDS = (*_EQUAL_SIDES, "linear_in_features", "conv_channels", "norm_features", "rnn_input")
_WHOLES = ("view_numel", "divisible", "split_sizes")  # kinds of which the call states what the size has to be made of
_VIEWS = ("view", "reshape")
_WEIGHTED = ("linear", "bilinear", "embedding", "lstm", "gru", "rnn_tanh", "rnn_relu")


def producer_width(situation: Situation) -> Iterator[Candidate]:
    """The layer that made the number, on either side of the clash; where flattening made it, the layer that made a factor of it."""
    if situation.kind in _WHOLES:
        for at, wanted in _wholes(situation):
            yield from _of(situation, at, wanted)
        return
    if situation.call.name == "python.unpack":
        for at, wanted in _pieces(situation):
            yield from _of(situation, at, wanted, 1.0)
        return
    clash = situation.clash
    if clash is None or situation.kind not in _KINDS or clash.dim < 0:
        return
    sides = [(Dim(clash.operand, clash.dim), Dim(clash.other, clash.other_dim))]
    if situation.kind in _EQUAL_SIDES and clash.other >= 0 and clash.other_dim >= 0:
        sides.append((sides[0][1], sides[0][0]))
    _, want = situation.numbers()
    for here, there in sides:
        size = situation.trace.tensors[there.tensor].shape[there.dim] if len(sides) > 1 else want
        if size and here.tensor >= 0:
            yield from _of(situation, here, size)
            if situation.kind == "broadcast" and size > 1:
                yield from _of(situation, here, 1, 1.7)


def _wholes(situation: Situation) -> Iterator[tuple[Dim, int]]:
    """The axes of what is viewed or split, from the last one on, each with the sizes near its own that the call would take."""
    x = situation.call.args[0] if situation.call.args else None
    if not isinstance(x, Operand) or not x.numel:
        return
    for dim in reversed(range(1, x.ndim)):
        yield from ((Dim(x.id, dim), size) for size in _sizes_taken(situation, x, dim))


def _pieces(situation: Situation) -> Iterator[tuple[Dim, int]]:
    """The axis that is split into other many pieces than the code takes apart, and the size that gives as many."""
    op, want = situation.last_before(), situation.call.get(1, "expected")
    if op is None or op.name.rpartition(".")[2] != "split" or not isinstance(want, int):
        return
    call = recalled(op, situation.trace)
    x, size, dim = next(iter(call.operands()), None), call.get(1, "split_size"), call.integer(2, "dim", 0)
    if x is not None and isinstance(size, int) and -x.ndim <= dim < x.ndim:
        yield Dim(x.id, dim % x.ndim), size * want


def _sizes_taken(situation: Situation, x: Operand, dim: int) -> Iterator[int]:
    call, size, rest = situation.call, x.shape[dim], x.numel // x.shape[dim]
    multiple = situation.finding.want.get("multiple_of", 0)
    try:
        whole = product(listed(call, 1, "size", "shape")) if call.short_name in _VIEWS else 0
    except Unreadable:
        whole = 0
    if whole > 0 and whole % rest == 0:
        yield whole // rest
    elif situation.kind == "split_sizes" and situation.clash is not None and situation.clash.dim == dim:
        yield from situation.finding.want.values()
    elif multiple:
        step = multiple // math.gcd(multiple, 1 if situation.kind == "divisible" else rest)
        yield from (near for near in (-(-size // step) * step, size // step * step) if near)


def _of(situation: Situation, at: Dim, wanted: int, effort: float = 1.4) -> Iterator[Candidate]:
    tensors = situation.trace.tensors
    size = tensors[at.tensor].shape[at.dim]
    for _ in range(_LONGEST_WALK):
        producer = tensors[at.tensor].producer
        if producer < 0:
            return
        made_by = situation.module_of(situation.trace.ops[producer])
        out_side = _out_side(situation, producer, at, made_by)
        if made_by is not None and out_side is not None:
            declared = made_by.attributes[out_side]
            if isinstance(declared, int) and declared * wanted % size == 0 and declared * wanted // size not in (0, declared):
                fix = layer_fix(made_by, out_side, declared * wanted // size, own=False)
                yield Candidate(fix, effort, reshapes=True)
            return
        step = step_back(situation.trace, producer, at)
        if step.source is None:
            return
        at = step.source


def _out_side(situation: Situation, producer: int, at: Dim, module: ModuleFact | None) -> str | None:
    """The argument of the layer that this dim's size is, None where the op is none of a layer's, or the dim another one."""
    if module is None or not is_layer(module):
        return None
    short = situation.trace.ops[producer].name.rpartition(".")[2]
    count = len(situation.trace.tensors[at.tensor].shape)
    spatial = next((int(character) for character in short if character.isdigit()), 0) if short.startswith("conv") else -1
    if (spatial >= 0 and at.dim == count - spatial - 1) or (short in _WEIGHTED and at.dim == count - 1):
        return next((name for name in _OUT_SIDE if isinstance(module.attributes.get(name), int)), None)
    return None
