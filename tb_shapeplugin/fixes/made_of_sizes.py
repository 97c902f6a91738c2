"""A state or table that the code makes itself, made with other sizes."""

from collections.abc import Iterator
from itertools import combinations

from tb_shapeplugin.fixes.adaptation import transposed
from tb_shapeplugin.fixes.situation import Candidate, Situation, with_shape
from tb_shapeplugin.record.finding import Fix
from tb_shapeplugin.record.values import Operand

_FACTORIES = ("zeros", "ones", "randn", "rand", "empty")


def made_of_sizes(situation: Situation) -> Iterator[Candidate]:
    """Each operand that a factory made, with two axes swapped, or one as long as the call wants it."""
    for operand in {operand.id: operand for operand in situation.call.operands()}.values():
        producer = situation.trace.tensors[operand.id].producer
        op = situation.trace.ops[producer] if producer >= 0 else None
        if op is None or op.name.rpartition(".")[2] not in _FACTORIES or op.inputs:
            continue
        sizes = [at for at, (name, _) in enumerate(op.arguments) if name.isdigit()]
        for shape in _fitting_shapes(situation, operand):
            if len(sizes) == len(shape):
                pairs = zip(sizes, operand.shape, shape, strict=True)
                changes = [situation.call_change(op, argument=at, value=new) for at, old, new in pairs if old != new]
            else:
                changes = [situation.call_change(op, argument=0, value=list(shape))]
            text = f"{op.name}({', '.join(map(str, shape))})"
            yield Candidate(Fix(text, tuple(changes)), 0.9, reshapes=True)


def _fitting_shapes(situation: Situation, operand: Operand) -> list[tuple[int, ...]]:
    """Its shape with two axes swapped, or one as long as the call wants it."""
    swapped = [transposed(operand.shape, a, b).shape for a, b in combinations(range(operand.ndim), 2)]
    others = (size for other in situation.call.operands() if other.id != operand.id for size in other.shape)
    sizes = dict.fromkeys([*situation.finding.want.values(), *others])
    resized = [(*operand.shape[:at], size, *operand.shape[at + 1 :]) for at in range(operand.ndim) for size in sizes]
    fitting = [shape for shape in (*swapped, *resized) if shape != operand.shape and situation.fits(with_shape(operand, shape))]
    return list(dict.fromkeys(fitting))[:2]
