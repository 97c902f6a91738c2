"""The two sides of a clash: who made each of the numbers, and which layer that is."""

import re
from dataclasses import dataclass

from tb_shapeplugin.analyse.origins.passing import Dim
from tb_shapeplugin.analyse.origins.traits import named
from tb_shapeplugin.analyse.origins.walking import walk
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Trace


@dataclass(frozen=True, slots=True)
class Side:
    """One side: its size, the tensor in which the number came up, and the name of who made it.

    ``is_layer`` says that a layer with parameters made it, which could make another; its name is the layer's path then.
    """

    size: int
    maker: int
    name: str
    is_layer: bool


def sides(trace: Trace, clash: Clash) -> tuple[Side | None, Side | None]:
    """The faulty side and the other one; None for a side that is no tensor's dim.

    Example:
        >>> [side.name for side in sides(trace, clash) if side]
        ['conv1', 'parameter conv2.weight']
    """
    return side(trace, clash.operand, clash.dim), side(trace, clash.other, clash.other_dim)


def rank_maker(trace: Trace, tensor: int) -> int:
    """The index of the op that gave a tensor's number of axes; -1 where an input or parameter brought it along.

    Example:
        >>> trace.ops[rank_maker(trace, tensor)].name
        'torch.Tensor.unsqueeze'
    """
    ndim = len(trace.tensors[tensor].shape)
    while (made := trace.tensors[tensor].producer) >= 0 and not trace.ops[made].failed:
        same = next((other for other in trace.ops[made].inputs if len(trace.tensors[other].shape) == ndim), None)
        if same is None or trace.tensors[same].kind == "parameter":
            return made
        tensor = same
    return made


def side(trace: Trace, tensor: int, dim: int) -> Side | None:
    """Who made the size of a tensor's dim; None for -1, which is none.

    Example:
        >>> side(trace, tensor, 1).name
        'conv1'
    """
    if tensor < 0 or dim < 0:
        return None
    size = trace.tensors[tensor].shape[dim]
    way = walk(trace, Dim(tensor, dim))
    if way.links:
        maker = way.links[0].tensor
        return _made(trace, size, maker, way.links[0].op, own=len(way.links) == 1 and way.end is None)
    end = way.end.tensor if way.end is not None else tensor
    return Side(size, end, named(trace.tensors[end]), False)


def _made(trace: Trace, size: int, maker: int, op_index: int, own: bool) -> Side:
    """The side whose number an op made; ``own`` where it made it of no other one, as a layer does its features."""
    op = trace.ops[op_index]
    module = trace.modules[trace.calls[op.call].module] if op.call >= 0 else None
    if own and module is not None and module.path and module.parameters and len(module.parameters) <= len(op.inputs):
        return Side(size, maker, module.path, True)
    source = trace.sources[op.source] if op.source >= 0 else None
    place = f" ({source.file}:{source.line})" if source is not None else ""
    return Side(size, maker, f"{re.sub(r'^_+|_+$', '', op.name.rpartition('.')[2])}{place}", False)
