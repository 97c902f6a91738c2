"""What a recurrent layer's or an attention's outputs are made of: no rule of shapes tells these, the call's flags do."""

from dataclasses import dataclass

from tb_shapeplugin.analyse.origins.stated import module_of
from tb_shapeplugin.record.trace import OpFact, Trace
from tb_shapeplugin.record.values import Shape

_LAYERS = ("lstm", "gru", "rnn_tanh", "rnn_relu")
_CELLS = ("lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell")
_ATTENTION = "multi_head_attention_forward"


@dataclass(frozen=True, slots=True)
class Recurrence:
    """A size of such an output: the (tensor, dim) that it was handed on from, or the words for how it was made."""

    source: tuple[int, int] | None = None
    why: str = ""


def made_by_recurrence(trace: Trace, op: OpFact, output: int, dim: int) -> Recurrence | None:
    """Where dim ``dim`` of that output of the op comes from; None for any other op.

    Example:
        >>> made_by_recurrence(trace, lstm, 0, 2).why
        '48 = 2 directions · 24 (lstm's hidden_size)'
    """
    short = op.name.rpartition(".")[2]
    shape = trace.tensors[op.outputs[output]].shape
    if not op.inputs or short not in (*_LAYERS, *_CELLS, _ATTENTION):
        return None
    if short == _ATTENTION:
        return _attended(trace, op, output, dim)
    last = dim == len(shape) - 1
    if short in _CELLS:
        return Recurrence(why=f"{shape[dim]} is {_owner(trace, op)}'s hidden_size") if last else Recurrence((op.inputs[0], dim))
    return _rolled(trace, op, output, dim)


def is_packed(op: OpFact) -> bool:
    """Is a recurrent layer given packed sequences? Then its second argument is the batch sizes, before the states."""
    return len(op.arguments) > 3 and op.arguments[3][1].startswith("[")


def is_batch_first(op: OpFact) -> bool:
    """Does a recurrent layer take the batch as first axis?"""
    return not is_packed(op) and bool(op.arguments) and op.arguments[-1][1] == "True" and len(op.arguments) > 8


def directions(trace: Trace, op: OpFact) -> int:
    """2 of a bidirectional layer, else 1."""
    flag = op.arguments[8][1] if is_packed(op) and len(op.arguments) > 8 else op.arguments[7][1] if len(op.arguments) > 7 else ""
    return 2 if flag == "True" else 1


def _rolled(trace: Trace, op: OpFact, output: int, dim: int) -> Recurrence:
    x, shape = trace.tensors[op.inputs[0]].shape, trace.tensors[op.outputs[output]].shape
    size, owner, ways = shape[dim], _owner(trace, op), directions(trace, op)
    role = "proj_size" if _projects(trace, op) and output < 2 else "hidden_size"
    if dim == len(shape) - 1:
        if output == 0 and ways == 2:
            return Recurrence(why=f"{size} = 2 directions · {size // 2} ({owner}'s {role})")
        return Recurrence(why=f"{size} is {owner}'s {role}")
    if output == 0:
        return Recurrence((op.inputs[0], dim))
    if dim == 0:
        told = f"{size} = {size // ways} layers · 2 directions" if ways == 2 else f"{size} is {owner}'s num_layers"
        return Recurrence(why=f"{told} (a state has them first)")
    batch = 0 if is_batch_first(op) else 1
    return Recurrence((op.inputs[0], batch)) if len(x) == 3 else Recurrence(why=f"{size} is the batch that was packed")


def _projects(trace: Trace, op: OpFact) -> bool:
    module = module_of(trace, op)
    return bool(module and module.attributes.get("proj_size"))


def _owner(trace: Trace, op: OpFact) -> str:
    module = module_of(trace, op)
    return (module.path or "the layer") if module else "the layer"


def _attended(trace: Trace, op: OpFact, output: int, dim: int) -> Recurrence:
    """The mixed values keep the query's sizes; the weights are [batch, queries, keys], with the heads before the queries if asked."""
    query, key = op.inputs[0], op.inputs[1]
    shape, given = trace.tensors[op.outputs[output]].shape, trace.tensors[query].shape
    if output == 0:
        return Recurrence((query, dim))
    if dim == len(shape) - 1:
        return Recurrence((key, 0))
    if dim == len(shape) - 2:
        return Recurrence((query, 0))
    if dim == 0 and len(given) == 3:
        return Recurrence((query, 1))
    return Recurrence(why=f"{shape[dim]} is {_owner(trace, op)}'s num_heads")


def takes_time_first(op: OpFact) -> bool:
    """Does the op take the batch as its second axis, as these do unless told otherwise?"""
    short = op.name.rpartition(".")[2]
    return short == _ATTENTION or (short in _LAYERS and not is_packed(op) and not is_batch_first(op))


def is_recurrence(op: OpFact) -> bool:
    """Is the op a recurrent layer, a cell of one, or multi-head attention?"""
    return op.name.rpartition(".")[2] in (*_LAYERS, *_CELLS, _ATTENTION)


def recurrence_outputs(trace: Trace, op: OpFact, now: Shape) -> tuple[Shape, ...] | None:
    """What it gives for another input shape; None where that has another width or number of axes, or nobody knows."""
    before = tuple(trace.tensors[output].shape for output in op.outputs)
    was = trace.tensors[op.inputs[0]].shape
    if len(was) != len(now) or was[-1] != now[-1]:
        return None
    first = (*now[:-1], before[0][-1])
    short = op.name.rpartition(".")[2]
    if short in _CELLS or len(now) < 3 or len(before) == 1:
        return (first, *before[1:]) if len(before) == 1 or now == was else tuple((*now[:-1], shape[-1]) for shape in before)
    if short == _ATTENTION:
        itself = op.inputs[0] == op.inputs[1]
        return (first, (now[1], *before[1][1:-2], now[0], now[0])) if itself else None
    batch = now[0 if is_batch_first(op) else 1]
    return (first, *((shape[0], batch, shape[-1]) for shape in before[1:]))
