"""Who introduced a wrong number: the way back from a clashing dim to the op, input or parameter that it comes from."""

from collections.abc import Callable

from tb_shapeplugin.analyse.passing import Dim, step_back
from tb_shapeplugin.base.units import compact_type
from tb_shapeplugin.ops.reading import axes_text, product, times
from tb_shapeplugin.record.finding import Clash, Origin
from tb_shapeplugin.record.trace import Failure, TensorFact, Trace

_EQUAL_SIDES = ("broadcast", "cat", "stack_ragged", "attn_layout", "mask_shape", "matmul_dims", "loss_target_shape")
_LONGEST_WALK = 10_000  # steps; a walk back never goes in a circle, this only bounds it
_MOST_ARITHMETIC = 4  # links of a chain of sizes that are told


def origin(trace: Trace, failure: Failure, clash: Clash | None) -> tuple[Origin | None, str]:
    """Who introduced the clashing number, and the arithmetic by which it came about; (None, "") where nobody can tell.

    Example:
        >>> origin(trace, failure, clash)[1]
        '864 = 6·12·12'
    """
    if clash is None or clash.operand < 0:
        return None, ""
    if clash.dim >= 0:
        return _of_dim(trace, _side(trace, clash))
    if clash.kind == "dtype":
        return _of_trait(trace, clash.operand, lambda a, b: a.dtype == b.dtype, lambda fact: f"is {fact.dtype}")
    if clash.kind == "device":
        return _of_trait(trace, clash.operand, lambda a, b: a.device == b.device, lambda fact: f"is on {fact.device}")
    if "numel" in clash.got:
        found, _ = _of_trait(trace, clash.operand, lambda a, b: product(a.shape) == product(b.shape), lambda _: "")
        shape = trace.tensors[clash.operand].shape
        return found, f"{product(shape)} = {times(shape)}"
    if "ndim" in clash.got:
        return _of_trait(trace, clash.operand, lambda a, b: len(a.shape) == len(b.shape), lambda fact: f"has {axes_text(len(fact.shape))}")
    return _maker(trace, clash.operand), ""


def _side(trace: Trace, clash: Clash) -> Dim:
    """Where the walk begins: at the faulty side; of two equal sides at the one that was computed rather than given."""
    given = trace.tensors[clash.operand].producer < 0
    if clash.kind in _EQUAL_SIDES and given and clash.other >= 0 and clash.other_dim >= 0 and trace.tensors[clash.other].producer >= 0:
        return Dim(clash.other, clash.other_dim)
    return Dim(clash.operand, clash.dim)


def _of_dim(trace: Trace, at: Dim) -> tuple[Origin | None, str]:
    found: Origin | None = None
    arithmetic: list[str] = []
    for _ in range(_LONGEST_WALK):
        fact = trace.tensors[at.tensor]
        if fact.producer < 0:
            if found is None:
                return _brought(trace, at.tensor), f"{_name(fact)} has {fact.shape[at.dim]} at dim {at.dim}"
            break
        step = step_back(trace, fact.producer, at)
        if step.made:
            arithmetic.append(step.why)
            found = found or _made_by(trace, fact.producer, at.tensor)
            if step.source is None or not step.exact or not _goes_on(step.why, len(arithmetic)):
                break
        if step.source is None:
            break
        at = step.source
    return found, ", ".join(arithmetic)


def _goes_on(why: str, links: int) -> bool:
    """Is a size worth following further back: one of a chain of maps, rather than a product or a sum of several?"""
    factors = why.partition(" = ")[2]
    scaled = factors.count("·") == 1 and "(" not in factors
    return links < _MOST_ARITHMETIC and (scaled or "/" in factors or "−" in factors)


def _of_trait(
    trace: Trace, tensor: int, same: Callable[[TensorFact, TensorFact], bool], said: Callable[[TensorFact], str]
) -> tuple[Origin | None, str]:
    """Back through the ops whose input has the trait already, to the one that gave it."""
    for _ in range(_LONGEST_WALK):
        fact = trace.tensors[tensor]
        if fact.producer < 0:
            return _brought(trace, tensor), f"{_name(fact)} {said(fact)}"
        op = trace.ops[fact.producer]
        earlier = next((i for i in op.inputs if trace.tensors[i].kind != "parameter" and same(trace.tensors[i], fact)), None)
        if earlier is None:
            return _made_by(trace, fact.producer, tensor), f"what {op.name.rpartition('.')[2]} gives {said(fact)}"
        tensor = earlier
    return None, ""


def _name(fact: TensorFact) -> str:
    return f"{fact.kind} {fact.name or compact_type(fact.dtype, fact.shape)}"


def _maker(trace: Trace, tensor: int) -> Origin:
    producer = trace.tensors[tensor].producer
    return _brought(trace, tensor) if producer < 0 else _made_by(trace, producer, tensor)


def _brought(trace: Trace, tensor: int) -> Origin:
    fact = trace.tensors[tensor]
    owner = fact.name.rpartition(".")[0] if fact.kind in ("parameter", "buffer") else ""
    return Origin(module=owner, op=_name(fact), file="", line=0, code="", tensor=tensor, shape=fact.shape)


def _made_by(trace: Trace, op_index: int, tensor: int) -> Origin:
    op = trace.ops[op_index]
    source = trace.sources[op.source] if op.source >= 0 else None
    module = trace.modules[trace.calls[op.call].module].path if op.call >= 0 else ""
    return Origin(
        module=module,
        op=op.name,
        file=source.file if source else "",
        line=source.line if source else 0,
        code=source.code if source else "",
        op_index=op_index,
        tensor=tensor,
        shape=trace.tensors[tensor].shape,
    )
