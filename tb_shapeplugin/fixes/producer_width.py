"""The other side of a clash: the layer that made the number declared for what its reader takes."""

from collections.abc import Iterator

from tb_shapeplugin.analyse.passing import Dim, step_back
from tb_shapeplugin.fixes.layer_text import layer_fix
from tb_shapeplugin.fixes.situation import Candidate, Situation, is_layer
from tb_shapeplugin.record.trace import ModuleFact

_OUT_SIDE = ("out_features", "out_channels", "embedding_dim", "hidden_size")
_LONGEST_WALK = 200
_EQUAL_SIDES = ("matmul_dims", "broadcast", "cat", "attn_layout")
_KINDS = (*_EQUAL_SIDES, "linear_in_features", "conv_channels", "norm_features", "rnn_input", "divisible")
_WEIGHTED = ("linear", "bilinear", "embedding", "lstm", "gru", "rnn_tanh", "rnn_relu")


def producer_width(situation: Situation) -> Iterator[Candidate]:
    """The layer that made the number, on either side of the clash; where flattening made it, the layer that made a factor of it."""
    clash = situation.clash
    if clash is None or situation.kind not in _KINDS or clash.dim < 0:
        return
    sides = [(Dim(clash.operand, clash.dim), Dim(clash.other, clash.other_dim))]
    if situation.kind in _EQUAL_SIDES and clash.other >= 0 and clash.other_dim >= 0:
        sides.append((sides[0][1], sides[0][0]))
    _, want = situation.numbers()
    multiple = situation.finding.want.get("multiple_of")
    if situation.kind == "divisible" and multiple:
        size = situation.trace.tensors[clash.operand].shape[clash.dim]
        want = -(-size // multiple) * multiple
    for here, there in sides:
        wanted = situation.trace.tensors[there.tensor].shape[there.dim] if len(sides) > 1 else want
        if wanted and here.tensor >= 0:
            yield from _of(situation, here, wanted)


def _of(situation: Situation, at: Dim, wanted: int) -> Iterator[Candidate]:
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
                yield Candidate(fix, 1.4, reshapes=True)
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
