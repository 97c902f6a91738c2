"""A parameter, buffer or stored state of another shape: position tables, statistics, initial states of another batch."""

import re
from collections.abc import Iterator

from tb_shapeplugin.fixes.adaptation import aligned
from tb_shapeplugin.fixes.inserted_step import LEVELLING
from tb_shapeplugin.fixes.situation import Candidate, Situation, is_layer, with_shape
from tb_shapeplugin.ops.reading import product
from tb_shapeplugin.record.finding import Fix
from tb_shapeplugin.record.trace import ModuleFact
from tb_shapeplugin.record.values import Operand, Shape

_STORED = re.compile(r"\bself\.([A-Za-z_]\w*)\b(?!\s*\()")


def parameter_shape(situation: Situation) -> Iterator[Candidate]:
    """Each table that clashes, with the one size changed after which the call would run."""
    seen = set()
    for operand in situation.call.operands():
        if operand.id in seen or operand.kind not in ("parameter", "buffer", "constant"):
            continue
        seen.add(operand.id)
        for shape in _shapes(situation, operand):
            for module, name in _homes(situation, operand):
                yield _candidate(module, name, shape, operand, situation.kind)


def _candidate(module: ModuleFact, name: str, shape: Shape, operand: Operand, kind: str) -> Candidate:
    owner = f"{module.path}.{name}" if module.path else name
    listed = ", ".join(map(str, shape))
    making = {"parameter": f"nn.Parameter(torch.zeros({listed}))"}.get(operand.kind, f"torch.zeros({listed})")
    change = {"module": module.path, "param": name, "shape": list(shape)}
    fix = Fix(f"{owner} = {making}", (change,), cost=f"loses the {'values' if operand.kind == 'parameter' else 'contents'} of {owner}")
    return Candidate(fix, {"matmul_dims": 1.7}.get(kind, 1.2 if operand.kind == "parameter" else 1.0))


def _shapes(situation: Situation, operand: Operand) -> Iterator[Shape]:
    """Its shape with one axis as long as an axis of another operand, or 1, where the call would then run."""
    sizes = dict.fromkeys([*(size for other in situation.call.operands() if other.id != operand.id for size in other.shape)])
    sizes.update(dict.fromkeys(situation.finding.want.values()))
    sizes.update({other.high + 1: None for other in situation.call.operands() if other.high is not None})
    found = []
    for dim in range(operand.ndim):
        for size in sizes:
            changed = (*operand.shape[:dim], size, *operand.shape[dim + 1 :])
            if changed != operand.shape and size > 0 and changed not in found and situation.fits(with_shape(operand, changed)):
                found.append(changed)
    for other in situation.call.operands():
        if situation.kind in LEVELLING and other.id != operand.id:
            found[:0] = [step.shape for step in aligned(operand.shape, other.shape) if situation.fits(with_shape(operand, step.shape))][:1]

    def emptied(shape: Shape) -> bool:
        return 1 in shape and 1 not in operand.shape and product(shape) != operand.numel

    yield from list(dict.fromkeys(sorted(found, key=emptied)))[:2]


def _homes(situation: Situation, operand: Operand) -> Iterator[tuple[ModuleFact, str]]:
    """Modules and the names under which they hold it; a plain tensor is looked for by the names in the statement."""
    if operand.name:
        path, _, name = operand.name.rpartition(".")
        yield from ((module, name) for module in situation.trace.modules if module.path == path and not is_layer(module))
        return
    call = situation.module_call
    index = situation.failure.module
    if situation.layer is not None and call is not None and call.parent >= 0:
        index = situation.trace.calls[call.parent].module
    if operand.kind == "constant" and index >= 0:
        module = situation.trace.modules[index]
        children = {other.path for other in situation.trace.modules}
        for name in dict.fromkeys(_STORED.findall(situation.finding.code)):
            if f"{module.path}.{name}".lstrip(".") not in children and name not in module.attributes:
                yield module, name
