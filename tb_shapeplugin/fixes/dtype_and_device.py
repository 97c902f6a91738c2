"""A tensor converted to the dtype, or moved to the device, that the others have."""

from collections.abc import Iterator
from dataclasses import replace

from tb_shapeplugin.fixes.adaptation import Adaptation
from tb_shapeplugin.fixes.delivery import at_input, on_the_way
from tb_shapeplugin.fixes.layer_text import called
from tb_shapeplugin.fixes.situation import Candidate, Situation
from tb_shapeplugin.record.finding import Fix
from tb_shapeplugin.record.values import Operand

_WRITTEN = {"float32": "float()", "float64": "double()", "float16": "half()", "int64": "long()", "int32": "int()", "bool": "bool()"}
_FLOATS = ("float32", "float64", "float16", "bfloat16", "complex64", "complex128")
_INDICES = ("int64", "bool")
_MOST = 3


def dtype_and_device(situation: Situation) -> Iterator[Candidate]:
    """Each operand converted to what another one has; what the model was given first, then the operand itself, then the layer."""
    if situation.kind == "device":
        yield from _moved(situation)
    elif situation.kind == "dtype":
        yield from _converted(situation)


def _operands(situation: Situation) -> tuple[Operand, ...]:
    return tuple({operand.id: operand for operand in situation.call.operands()}.values())


def _converted(situation: Situation) -> Iterator[Candidate]:
    operands = _operands(situation)
    first = situation.clash.operand if situation.clash else -1
    for operand in sorted(operands, key=lambda operand: operand.id != first):
        if operand.kind in ("parameter", "buffer"):
            continue
        others = [other.dtype for other in operands if other.dtype != operand.dtype]
        alike = [dtype for dtype in others if (dtype in _FLOATS) == (operand.dtype in _FLOATS)]
        for dtype in list(dict.fromkeys([*alike, *_INDICES, "float32", *others]))[: _MOST + len(alike)]:
            if dtype != operand.dtype and situation.fits(replace(operand, dtype=dtype)):
                step = Adaptation("to", {"dtype": dtype}, operand.shape, _WRITTEN.get(dtype, f"to(torch.{dtype})"))
                yield from _delivered(situation, operand, step, 0.8 if dtype in alike and not operand.dtype.startswith("complex") else 1.3)
    layer = situation.layer
    x = situation.call.operand(0, "input")
    if layer is not None and layer.parameters and x is not None and x.dtype in _FLOATS:
        change = {"module": layer.path, "to": x.dtype}
        name = called(layer.path) or "model"
        yield Candidate(Fix(f"{name}.to(torch.{x.dtype})", (change,), cost=f"{name} computes in {x.dtype}"), 1.5)


def _moved(situation: Situation) -> Iterator[Candidate]:
    operands = _operands(situation)
    for operand in sorted(operands, key=lambda operand: operand.kind != "constant"):
        for device in dict.fromkeys(other.device or "cpu" for other in operands):
            own = operand.device or "cpu"
            if own not in ("meta", device) and operand.kind not in ("parameter", "buffer"):  # meta holds nothing that could be moved
                step = Adaptation("to", {"device": device}, operand.shape, f"to({device!r})")
                yield from _delivered(situation, operand, step, 0.9 if operand.device == "" else 1.5)
    layer = situation.layer
    x = situation.call.operand(0, "input")
    if layer is not None and layer.parameters and x is not None:
        yield Candidate(Fix(f"{layer.path}.to({x.device or 'cpu'!r})", ({"module": layer.path, "to": x.device or "cpu"},)), 1.0)


def _delivered(situation: Situation, operand: Operand, step: Adaptation, effort: float) -> Iterator[Candidate]:
    for tensor in situation.upstream(operand.id):
        name = situation.input_name(tensor)
        fact = situation.trace.tensors[tensor]
        if name is not None and (fact.dtype == operand.dtype if "dtype" in step.arguments else fact.device == (operand.device or "cpu")):
            yield at_input(name, step, effort + (0.0 if tensor == operand.id else 0.2))
    yield from on_the_way(situation, operand, step, effort + 0.1)
