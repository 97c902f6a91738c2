"""Traces of one failing call, for tests of what is said about it."""

from dataclasses import replace

from tb_shapeplugin.record.trace import Failure, ModuleFact, SignatureFact, Trace
from tb_shapeplugin.record.values import OpCall, Operand, Shape
from tests.traces import TraceBuilder


def tensor(index: int, *shape: int, dtype: str = "float32", device: str = "") -> Operand:
    """An activation as the rules see it."""
    return Operand(index, shape, dtype, device)


def failing(
    call: OpCall,
    message: str = "",
    *,
    error: str = "RuntimeError",
    path: str = "",
    attributes: dict[str, int | str | bool | tuple[int, ...]] | None = None,
    signature: SignatureFact | None = None,
    code: str = "y = f(x)",
) -> Trace:
    """A run that ended in that call, of the module of that path; its operands came in as inputs x0, x1 …"""
    build = TraceBuilder()
    operands = sorted({operand.id: operand for operand in call.operands()}.values(), key=lambda operand: operand.id)
    for place, operand in enumerate(operands):
        assert operand.id == place, "operands are numbered from 0"
        build.input(f"x{place}", operand.shape, operand.dtype)
    net = build.module("", "Net")
    module = build.module(path, "Layer") if path else net
    build.modules[module] = replace(build.modules[module], attributes=attributes or {})
    with build.call(net, []), build.call(module, []):
        build.op(call.name, [operand.id for operand in operands], failed=True, line=7, code=code)
    failure = Failure(0, call, module, error, message, signature=signature)
    return replace(build.trace(error=f"{error}: {message}"), failures=(failure,))


def module_of(trace: Trace) -> ModuleFact:
    """The module that the failure is in."""
    return trace.modules[trace.failures[0].module]


def linear(*shape: int, width: int = 1176, out: int = 120) -> OpCall:
    """A call of linear on an input of that shape."""
    weight = Operand(1, (out, width), "float32", kind="parameter", name="fc1.weight")
    return OpCall("torch.nn.functional.linear", (tensor(0, *shape), weight))


def by_shape(name: str, *shapes: Shape) -> OpCall:
    """A call of that function on tensors of those shapes."""
    return OpCall(name, tuple(tensor(place, *shape) for place, shape in enumerate(shapes)))
