"""Who introduced a wrong number, or whatever else is wrong with an operand, and why it is that: the way back from a failing call."""

from tb_shapeplugin.analyse.origins.drawn_for import Hypotheses
from tb_shapeplugin.analyse.origins.passing import JOINING, Dim
from tb_shapeplugin.analyse.origins.stated import short_name
from tb_shapeplugin.analyse.origins.traits import (
    Giver,
    dropped_axis,
    giver_of_axes,
    giver_of_count,
    giver_of_device,
    giver_of_dtype,
    giver_of_layout,
    giver_of_values,
    named,
)
from tb_shapeplugin.analyse.origins.walking import Link, Walk, batch_of, walk
from tb_shapeplugin.analyse.origins.wanted import wanted
from tb_shapeplugin.ops.reading import product, times
from tb_shapeplugin.record.finding import Clash, Origin
from tb_shapeplugin.record.trace import Failure, Trace
from tb_shapeplugin.record.values import Shape, operands_in

_EQUAL_SIDES = ("broadcast", "cat", "stack_ragged", "attn_layout", "mask_shape", "matmul_dims", "loss_target_shape")
_VALUED = ("index_range", "loss_target_range")
_STRIDED = ("view", "view_as")


def origin(trace: Trace, failure: Failure, clash: Clash | None) -> tuple[Origin | None, str]:
    """Who introduced what clashes, and why it is that; (None, "") where nobody can tell.

    The arithmetic comes first; after a semicolon follows what would have fitted, where that is known.

    Example:
        >>> origin(trace, failure, clash)[1]
        '864 = 6·12·12; 1176 = 6·14·14 is what 32×32 for x gives'
    """
    if clash is None:
        return _of_layout(trace, failure) or _of_tuple(trace, failure) or (None, "")
    if clash.operand < 0:
        return None, ""
    at = _guilty(trace, clash)
    if dropped := dropped_axis(trace, failure, clash):
        return _at_tensor(trace, dropped.tensor), dropped.why
    if clash.dim >= 0:
        at, way = _side(trace, clash)
        found, why = _of_walk(trace, at, way)
    else:
        found, why = _of_trait(trace, clash)
    hypotheses = Hypotheses(trace, failure, clash, at)
    note = hypotheses.of_layout() or wanted(trace, failure, clash) or hypotheses.of_sizes()
    return found, "; ".join(filter(None, (why, note)))


def _guilty(trace: Trace, clash: Clash) -> Dim | None:
    """Of a clash over a whole operand the dim that other inputs could change: its first."""
    return Dim(clash.operand, 0) if "numel" in clash.got and trace.tensors[clash.operand].shape else None


def _side(trace: Trace, clash: Clash) -> tuple[Dim, Walk]:
    """Where the walk begins: at the faulty side; of two equal sides at the one that dropped a remainder, else at one that was computed."""
    first = Dim(clash.operand, clash.dim)
    way = walk(trace, first)
    if clash.kind not in _EQUAL_SIDES or clash.other < 0 or clash.other_dim < 0:
        return first, way
    second = Dim(clash.other, clash.other_dim)
    other = walk(trace, second)
    given = trace.tensors[clash.operand].producer < 0 <= trace.tensors[clash.other].producer
    more = (other.lossy and not way.lossy) or (not way.links and (other.links or given)) or (other.composed and not way.composed)
    return (second, other) if more and not (way.lossy and not other.lossy) else (first, way)


def _of_walk(trace: Trace, at: Dim, way: Walk) -> tuple[Origin | None, str]:
    if not way.links:
        end = way.end or at
        fact = trace.tensors[end.tensor]
        return _at_tensor(trace, end.tensor), f"{named(fact)} has {fact.shape[end.dim]} at dim {end.dim}"
    guilty = way.lossy or way.links[0]
    first = way.links[0]
    told = _with_batch(trace, first) if len(way.links) == 1 and first.factors else way.arithmetic()
    return _at_tensor(trace, guilty.tensor), told


def _with_batch(trace: Trace, link: Link) -> str:
    """A product with its factor that is the batch named: it was swallowed by other axes."""
    batch = next((factor for factor in link.factors if batch_of(trace, factor)), None)
    if batch is None:
        return link.why
    sizes = [trace.tensors[factor.tensor].shape[factor.dim] for factor in link.factors]
    size = trace.tensors[batch.tensor].shape[batch.dim]
    if trace.ops[link.op].name.rpartition(".")[2] in JOINING:
        even = set(sizes) == {size} and len(sizes) > 1
        return f"{len(sizes) * size} = {len(sizes)} tensors × batch {size}" if even else link.why
    number, whole = link.number, product(sizes)
    if not number or whole % number:
        return link.why
    others = [other for factor, other in zip(link.factors, sizes, strict=True) if factor != batch]
    rest = _with_branches(trace, link, batch, others)
    told = f"batch {size} × {rest}" if link.factors[0] == batch else f"{rest} × batch {size}"
    return f"{number} = {told}" if number == whole else f"{number} = ({told})/{whole // number}"


def _with_branches(trace: Trace, link: Link, batch: Dim, others: list[int]) -> str:
    """The other factors: branches, where a stack made their axis."""
    if len(others) != 1:
        return times(others)
    other = next(factor for factor in link.factors if factor != batch)
    producer = trace.tensors[other.tensor].producer
    stacked = producer >= 0 and trace.ops[producer].name.rpartition(".")[2] == "stack"
    return f"{others[0]} branches" if stacked else str(others[0])


def _of_trait(trace: Trace, clash: Clash) -> tuple[Origin | None, str]:
    """What is wrong is no dim's size."""
    giver = _giver(trace, clash)
    why = giver.why
    if "numel" in clash.got:
        why = _count_text(trace, clash.operand, trace.tensors[clash.operand].shape)
    return _at_tensor(trace, giver.tensor), why


def _giver(trace: Trace, clash: Clash) -> Giver:
    if clash.kind == "dtype":
        return giver_of_dtype(trace, clash.operand)
    if clash.kind == "device":
        return giver_of_device(trace, clash.operand)
    if "numel" in clash.got:
        return giver_of_count(trace, clash.operand)
    if "ndim" in clash.got:
        return giver_of_axes(trace, clash.operand)
    return giver_of_values(trace, clash.operand) if clash.kind in _VALUED else Giver(clash.operand, "")


def _count_text(trace: Trace, tensor: int, shape: Shape) -> str:
    if len(shape) > 1 and batch_of(trace, Dim(tensor, 0)):
        return f"{product(shape)} = batch {shape[0]} × {times(shape[1:])}"
    return f"{product(shape)} = {times(shape)}"


def _of_layout(trace: Trace, failure: Failure) -> tuple[Origin, str] | None:
    """A view of elements that lie in another order: the op that turned them."""
    operands = failure.call.operands()
    if failure.call.short_name not in _STRIDED or not operands:
        return None
    giver = giver_of_layout(trace, operands[0].id)
    return (_at_tensor(trace, giver.tensor), giver.why) if giver else None


def _of_tuple(trace: Trace, failure: Failure) -> tuple[Origin, str] | None:
    """A tuple where a tensor is taken: the op that gives several."""
    given = next(iter(failure.call.args), None)
    inside = tuple(operands_in(given)) if isinstance(given, tuple) else ()
    makers = {trace.tensors[operand.id].producer for operand in inside}
    if len(inside) < 2 or len(makers) != 1 or makers == {-1}:
        return None
    op = trace.ops[makers.pop()]
    return _at_tensor(trace, inside[0].id), f"{short_name(op)} gives {len(op.outputs)} tensors, not one"


def _at_tensor(trace: Trace, tensor: int) -> Origin:
    """The op that made a tensor, or the tensor itself where it was given."""
    fact = trace.tensors[tensor]
    if fact.producer < 0:
        owner = fact.name.rpartition(".")[0] if fact.kind in ("parameter", "buffer") else ""
        return Origin(module=owner, op=named(fact), file="", line=0, code="", tensor=tensor, shape=fact.shape)
    op = trace.ops[fact.producer]
    source = trace.sources[op.source] if op.source >= 0 else None
    return Origin(
        module=trace.modules[trace.calls[op.call].module].path if op.call >= 0 else "",
        op=op.name,
        file=source.file if source else "",
        line=source.line if source else 0,
        code=source.code if source else "",
        op_index=fact.producer,
        tensor=tensor,
        shape=fact.shape,
    )
