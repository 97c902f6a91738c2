"""The arithmetic by which ops other than windows compute a size, in words: scales, slices, shuffles, splits."""

from tb_shapeplugin.ops.rules import gives
from tb_shapeplugin.record.values import OpCall


def shuffled(call: OpCall, size: int, before: int) -> str:
    """How a pixel shuffle, or its inverse, computes channels.

    Example:
        >>> shuffled(OpCall("torch.nn.functional.pixel_shuffle", (Operand(0, (1, 16, 5, 5), "float32"), 2)), 4, 16)
        '4 = 16/2²'
    """
    factor = call.integer(1, "upscale_factor", call.integer(1, "downscale_factor", 1))
    return f"{size} = {before}/{factor}²" if call.short_name == "pixel_shuffle" else f"{size} = {before}·{factor}²"


def computed(size: int, source: int, doubled: int, short: str) -> tuple[str, bool]:
    """How a size comes from another one, read off from what twice that one would have given; and whether no remainder was dropped.

    Example:
        >>> computed(11, 21, 21, "getitem"), computed(6, 4, 10, "pad")
        (('= ⌈21/2⌉', False), ('= 4 + 2', True))
    """
    if doubled == 2 * size and source and size % source == 0:
        return f"= {size // source}·{source}", True
    if doubled - size == source:
        return (f"= {source} + {size - source}" if size > source else f"= {source} − {source - size}"), True
    for parts in (round(source / size), source // size + 1) if size else ():
        if parts > 1 and source == parts * size and doubled == 2 * size:
            return f"= {source}/{parts}", True
        if parts > 1 and source // parts == size and 2 * source // parts == doubled:
            return f"= ⌊{source}/{parts}⌋", False
        if parts > 1 and -(-source // parts) == size and -(-2 * source // parts) == doubled:
            return f"= ⌈{source}/{parts}⌉", False
    return f"is what {short} makes of {source}", False


def left_over(call: OpCall, size: int, dim: int) -> str:
    """Of a split into pieces that aren't all alike, the last one: what the others leave; "" for any other piece.

    Example:
        >>> left_over(OpCall("torch.Tensor.split", (Operand(0, (2, 20), "float32"), 8, 1)), 4, 1)
        '4 = 20 − 16 (what split leaves)'
    """
    pieces = [shape[dim] for shape in next(iter(gives(call)), ())]
    if len(pieces) < 2 or len(set(pieces)) == 1 or size != pieces[-1] or size in pieces[:-1]:
        return ""
    return f"{size} = {sum(pieces)} − {sum(pieces[:-1])} (what {call.short_name} leaves)"
