"""Rules of scaled dot-product attention and multi-head attention."""

from collections.abc import Iterator

from tb_shapeplugin.ops.broadcasting import clashing_dims, combined, expand_clash
from tb_shapeplugin.ops.reading import Unreadable, axes_text, distinct, rank, tensor
from tb_shapeplugin.ops.rule import RULES, Outputs, Rule, any_of
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall, Operand, Shape


def layout_clash(word: str, a: Operand, dim: int, b: Operand, other_dim: int, a_name: str, b_name: str) -> Clash | None:
    """The clash of two of query, key and value whose dims have to be equal."""
    got, want = a.shape[dim], b.shape[other_dim]
    if got == want:
        return None
    words = f"{word} of {a_name} {a} is {got}, of {b_name} {b} it is {want}"
    return Clash("attn_layout", {word: got}, {word: want}, operand=a.id, dim=dim, other=b.id, other_dim=other_dim, words=words)


def _sdpa_requires(call: OpCall) -> Clash | None:
    query, key, value = tensor(call, 0, "query"), tensor(call, 1, "key"), tensor(call, 2, "value")
    for x in (query, key, value):
        if x.ndim < 2:
            return rank(x, 2, f"{x} has {axes_text(x.ndim)}, attention takes at least 2 (length, width)")
    clash = layout_clash("width", key, key.ndim - 1, query, query.ndim - 1, "key", "query")
    clash = clash or layout_clash("length", value, value.ndim - 2, key, key.ndim - 2, "value", "key")
    if clash:
        return clash
    pairs = [(key, query, "key", "query"), (value, query, "value", "query")]
    if not _is_grouped(call):
        pairs.append((value, key, "value", "key"))
    for a, b, a_name, b_name in pairs:
        for dim, other in clashing_dims(a.shape[:-2], b.shape[:-2]):
            if _is_grouped(call) and dim == a.ndim - 3 and a.shape[dim] and b.shape[other] % a.shape[dim] == 0:
                continue
            word = "heads" if dim == a.ndim - 3 and a.ndim == 4 else "batch"
            return layout_clash(word, a, dim, b, other, a_name, b_name)
    mask = call.operand(3, "attn_mask")
    return expand_clash(mask, (*query.shape[:-1], key.shape[-2]), kind="mask_shape", word="length") if mask else None


def _sdpa_gives(call: OpCall) -> tuple[Outputs, ...]:
    query, key, value = tensor(call, 0, "query"), tensor(call, 1, "key"), tensor(call, 2, "value")
    batches = [query.shape[:-2]] if _is_grouped(call) else combined([query.shape[:-2], key.shape[:-2], value.shape[:-2]])
    return any_of(tuple(batch + query.shape[-2:-1] + value.shape[-1:] for batch in batches))


def _is_grouped(call: OpCall) -> bool:
    """Do several heads of the query share one of key and value?"""
    return call.kwargs.get("enable_gqa") is True


# F.multi_head_attention_forward takes (length, batch, width) or (length, width), whatever batch_first says.
_EMBED_DIM, _HEADS, _BIAS_K, _ZERO, _OUT_WEIGHT, _PADDING_MASK, _NEED_WEIGHTS, _MASK, _SEPARATE = 3, 4, 7, 9, 11, 14, 15, 16, 17


def _mha_requires(call: OpCall) -> Clash | None:
    query, key, value = tensor(call, 0, "query"), tensor(call, 1, "key"), tensor(call, 2, "value")
    if query.ndim not in (2, 3):
        return rank(query, 3, f"query {query} has {axes_text(query.ndim)}, attention takes 3 (length, batch, width) or 2 without a batch")
    for x, name in ((key, "key"), (value, "value")):
        if x.ndim != query.ndim:
            return rank(x, query.ndim, f"{name} {x} has {axes_text(x.ndim)}, query {query} has {query.ndim}")
    return _widths(call, query, key, value) or _lengths(query, key, value) or _masks(call, query, key)


def _widths(call: OpCall, query: Operand, key: Operand, value: Operand) -> Clash | None:
    declared = call.integer(_EMBED_DIM, "embed_dim_to_check", query.shape[-1])
    separate = call.get(_SEPARATE, "use_separate_proj_weight", False) is True
    for x, name in ((query, "query"),) if separate else ((query, "query"), (key, "key"), (value, "value")):
        if x.shape[-1] != declared:
            words = f"the last dim of {name} {x} is {x.shape[-1]}, embed_dim is {declared}"
            return Clash("attn_layout", {"width": x.shape[-1]}, {"width": declared}, operand=x.id, dim=x.ndim - 1, words=words)
    heads = call.integer(_HEADS, "num_heads", 1)
    if heads and declared % heads:
        words = f"embed_dim is {declared}, no multiple of num_heads {heads}"
        return Clash("divisible", {"embed_dim": declared}, {"multiple_of": heads}, operand=query.id, dim=query.ndim - 1, words=words)
    return None


def _lengths(query: Operand, key: Operand, value: Operand) -> Clash | None:
    clash = layout_clash("length", value, 0, key, 0, "value", "key")
    if clash or query.ndim == 2:
        return clash
    return layout_clash("batch", key, 1, query, 1, "key", "query") or layout_clash("batch", value, 1, query, 1, "value", "query")


def _masks(call: OpCall, query: Operand, key: Operand) -> Clash | None:
    batch = query.shape[1] if query.ndim == 3 else 1
    length, source = query.shape[0], key.shape[0]
    mask, padding = call.operand(_MASK, "attn_mask"), call.operand(_PADDING_MASK, "key_padding_mask")
    if mask is not None and mask.ndim not in (2, 3):
        told = f"attn_mask {mask} has {axes_text(mask.ndim)}, it takes 2 (length, source length), or 3 with one mask per head"
        return _mask_axes(mask, 2, told)
    if mask is not None:
        heads = batch * call.integer(_HEADS, "num_heads", 1)
        want: tuple[int, ...] = (length, source) if mask.ndim == 2 else (heads, length, source)
        words: tuple[str, ...] = ("length", "length") if mask.ndim == 2 else ("heads", "length", "length")
        if clash := _mask_clash(mask, want, words, "attn_mask"):
            return clash
    if padding is not None:
        want = (batch, source) if query.ndim == 3 else (source,)
        if padding.ndim != len(want):
            return _mask_axes(padding, len(want), f"key_padding_mask {padding} has {axes_text(padding.ndim)}, it takes {len(want)}")
        return _mask_clash(padding, want, ("batch", "length")[-len(want) :], "key_padding_mask")
    return None


def _mask_axes(mask: Operand, want: int, told: str) -> Clash:
    return Clash("mask_shape", {"ndim": mask.ndim}, {"ndim": want}, operand=mask.id, words=told)


def _mask_clash(mask: Operand, want: tuple[int, ...], words: tuple[str, ...], name: str) -> Clash | None:
    for dim, (size, needed) in enumerate(zip(mask.shape, want, strict=True)):
        if size != needed:
            told = f"{name} {mask} has {size} at dim {dim}, this attention takes {list(want)}, {needed} there"
            return Clash("mask_shape", {words[dim]: size}, {words[dim]: needed}, operand=mask.id, dim=dim, words=told)
    return None


def _mha_gives(call: OpCall) -> tuple[Outputs, ...]:
    query, key = tensor(call, 0, "query"), tensor(call, 1, "key")
    weight = call.operand(_OUT_WEIGHT, "out_proj_weight")
    if weight is None or query.ndim not in (2, 3):
        raise Unreadable("attention without out_proj")
    outputs = distinct(_mha_readings(query, key, weight.shape[0]))
    if call.get(_NEED_WEIGHTS, "need_weights", True) is not True:
        return any_of(outputs)
    heads = () if call.kwargs.get("average_attn_weights", True) is True else (call.integer(_HEADS, "num_heads", 1),)
    more = (call.operand(_BIAS_K, "bias_k") is not None) + (call.get(_ZERO, "add_zero_attn", False) is True)  # keys of its own
    return tuple((output, (*output[1:-1], *heads, query.shape[0], key.shape[0] + more)) for output in outputs)


def _mha_readings(query: Operand, key: Operand, width: int) -> Iterator[Shape]:
    """As wide as the weights are, in the query's batch, or in the key's where that one was meant; or as wide as the query is."""
    lead = query.shape[:-1]
    if query.ndim == key.ndim == 3 and lead[1] != key.shape[1]:
        others = ((lead[0], key.shape[1]), lead)
        yield from ((*kept, width) for kept in (others if lead[1] == 1 else others[::-1]))
    else:
        yield (*lead, width)
    yield query.shape


RULES.register("scaled_dot_product_attention")(Rule(_sdpa_requires, _sdpa_gives))
RULES.register("multi_head_attention_forward")(Rule(_mha_requires, _mha_gives))
