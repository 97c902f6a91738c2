"""Traces made by hand, as tracing would write them, for tests of the rooms that know no torch."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import prod

from tb_shapeplugin.record.finding import Finding, Fix, Origin
from tb_shapeplugin.record.trace import CallFact, ChildFact, Endpoint, ModuleFact, OpFact, Outcome, SourceFact, TensorFact, Trace
from tb_shapeplugin.record.values import Shape, TensorKind


class TraceBuilder:
    """Writes a Trace down in the order in which a run would.

    Example:
        >>> build = TraceBuilder()
        >>> net, fc = build.module("", "Net"), build.module("fc", "Linear", parameters=[build.parameter("fc.weight", (2, 3))])
        >>> x = build.input("x", (4, 3))
        >>> with build.call(net, [x]) as outputs:
        ...     outputs += build.run(fc, "torch.nn.functional.linear", [x], (4, 2))
        >>> trace = build.trace(outputs)
    """

    def __init__(self) -> None:
        self.tensors: list[TensorFact] = []
        self.ops: list[OpFact] = []
        self.modules: list[ModuleFact] = []
        self.calls: list[CallFact] = []
        self.sources: list[SourceFact] = []
        self.inputs: list[Endpoint] = []
        self._running: list[int] = []

    def tensor(
        self,
        shape: Shape,
        dtype: str = "float32",
        *,
        kind: TensorKind = "activation",
        name: str = "",
        storage: int = -1,
        device: str = "cpu",
        producer: int = -1,
        assumed: bool = False,
    ) -> int:
        """Id of a new tensor, of a storage of its own unless one is given."""
        own = storage if storage >= 0 else len(self.tensors)
        self.tensors.append(TensorFact(shape, dtype, device, own, producer, kind, name, kind == "parameter", assumed))
        return len(self.tensors) - 1

    def parameter(self, name: str, shape: Shape, dtype: str = "float32", *, storage: int = -1) -> int:
        """Id of a new parameter."""
        return self.tensor(shape, dtype, kind="parameter", name=name, storage=storage)

    def input(self, name: str, shape: Shape, dtype: str = "float32", *, device: str = "cpu") -> int:
        """Id of a new input of the model."""
        tensor = self.tensor(shape, dtype, kind="input", name=name, device=device)
        self.inputs.append(Endpoint(name, tensor))
        return tensor

    def module(
        self,
        path: str,
        type: str,
        *,
        parameters: Sequence[int] = (),
        buffers: Sequence[int] = (),
        frozen: bool = False,
        shared_with: tuple[str, ...] = (),
        lazy: bool = False,
        config: str = "",
    ) -> int:
        """Index of a new module; its parent is the one at the path above, which must be there already."""
        above = {module.path: index for index, module in enumerate(self.modules)}
        parent = above[path.rpartition(".")[0]] if path else -1
        fact = ModuleFact(path, type, parent, config, {}, tuple(parameters), () if frozen else tuple(parameters), tuple(buffers))
        self.modules.append(replace(fact, shared_with=shared_with, lazy=lazy))
        return len(self.modules) - 1

    @contextmanager
    def call(self, module: int, inputs: Sequence[int], outcome: Outcome = "ok") -> Iterator[list[int]]:
        """One call of a module; what is put into the list that it gives are the call's outputs."""
        number = 1 + sum(call.module == module for call in self.calls)
        parent = self._running[-1] if self._running else -1
        index = len(self.calls)
        self.calls.append(CallFact(module, number, parent, len(self.ops), -1, tuple(inputs), (), outcome))
        self._running.append(index)
        outputs: list[int] = []
        yield outputs
        self._running.pop()
        self.calls[index] = replace(self.calls[index], outputs=tuple(outputs), end_op=len(self.ops))

    def op(
        self,
        name: str,
        inputs: Sequence[int],
        *shapes: Shape,
        arguments: tuple[tuple[str, str], ...] = (),
        line: int = 0,
        code: str = "",
        children: tuple[ChildFact, ...] = (),
        failed: bool = False,
        assumed: bool = False,
        view: bool = False,
        dtype: str = "float32",
    ) -> list[int]:
        """Ids of the tensors that a new op gives, one a shape; a view shares its first input's storage."""
        index = len(self.ops)
        storage = self.tensors[inputs[0]].storage if view else -1
        outputs = [self.tensor(shape, dtype, producer=index, storage=storage, assumed=failed or assumed) for shape in shapes]
        source = -1
        if line:
            self.sources.append(SourceFact("net.py", line, line, code=code, function="forward"))
            source = len(self.sources) - 1
        call = self._running[-1] if self._running else -1
        self.ops.append(OpFact(name, call, source, tuple(inputs), tuple(outputs), arguments, children, failed, assumed))
        return outputs

    def run(self, module: int, name: str, inputs: Sequence[int], *shapes: Shape, outcome: Outcome = "ok", line: int = 0) -> list[int]:
        """Ids of what one call of a module gives that runs one op on its inputs and its own parameters."""
        with self.call(module, inputs, outcome) as outputs:
            operands = [*inputs, *self.modules[module].parameters]
            parts: tuple[ChildFact, ...] = ()
            if name.endswith(("linear", "conv2d")) and outcome != "failed" and self.modules[module].parameters:
                weight = self.tensors[self.modules[module].parameters[0]].shape
                parts = (ChildFact("aten.convolution.default", ((shapes[0], "float32"),), 2 * prod(shapes[0]) * prod(weight[1:])),)
            states = {"failed": outcome == "failed", "assumed": outcome == "assumed"}
            outputs += self.op(name, operands, *shapes, line=line, children=parts, **states)
        return outputs

    def trace(self, outputs: Sequence[int] = (), *, name: str = "Net", error: str = "", unchecked: tuple[str, ...] = ()) -> Trace:
        """The Trace of all that was written down; an error says that the run didn't complete."""
        return Trace(
            name=name,
            execution="fake",
            completed=not error,
            error=error,
            tensors=tuple(self.tensors),
            ops=tuple(self.ops),
            modules=tuple(self.modules),
            calls=tuple(self.calls),
            sources=tuple(self.sources),
            failures=(),
            inputs=tuple(self.inputs),
            outputs=tuple(Endpoint(f"[{place}]" if len(outputs) > 1 else "output", tensor) for place, tensor in enumerate(outputs)),
            unchecked=unchecked,
            versions={"torch": "2.13.0"},
        )


def guessed_width(*, broken: bool = True) -> Trace:
    """A convolution net whose first Linear has a guessed width of 1176, where 864 arrive; or, mended, 864.

    x ─ conv1 ─ relu ─ pool ─ flatten ─ drop ─ fc1 ✕ ─ relu ─ fc2 ─ relu ─ fc3 ─ output       aux (never called)
    """
    build = TraceBuilder()
    width = 1176 if broken else 864
    later: Outcome = "assumed" if broken else "ok"
    x = build.input("x", (4, 1, 28, 28))
    net = build.module("", "Net")
    conv1 = _layer(build, "conv1", "Conv2d", (6, 1, 5, 5))
    pool = build.module("pool", "MaxPool2d", config="2")
    drop = build.module("drop", "Dropout", config="p=0.5")
    fc1, fc2, fc3 = (_layer(build, path, "Linear", shape) for path, shape in (("fc1", (120, width)), ("fc2", (84, 120)), ("fc3", (10, 84))))
    _layer(build, "aux", "Linear", (10, 84))
    linear = "torch.nn.functional.linear"
    with build.call(net, [x]) as outputs:
        h = build.run(conv1, "torch.nn.functional.conv2d", [x], (4, 6, 24, 24), line=30)
        h = build.op("torch.nn.functional.relu", h, (4, 6, 24, 24), line=30)
        h = build.run(pool, "torch.nn.functional.max_pool2d", h, (4, 6, 12, 12), line=30)
        h = build.op("torch.flatten", h, (4, 864), arguments=(("start_dim", "1"),), view=True, line=31, code="x = torch.flatten(x, 1)")
        h = build.run(drop, "torch.nn.functional.dropout", h, (4, 864), line=32)
        h = build.run(fc1, linear, h, (4, 120), outcome="failed" if broken else "ok", line=33)
        h = build.op("torch.nn.functional.relu", h, (4, 120), assumed=broken, line=33)
        h = build.run(fc2, linear, h, (4, 84), outcome=later, line=34)
        h = build.op("torch.nn.functional.relu", h, (4, 84), assumed=broken, line=34)
        outputs += build.run(fc3, linear, h, (4, 10), outcome=later, line=35)
    error = "RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x864 and 1176x120)" if broken else ""
    return build.trace(outputs, error=error)


def _layer(build: TraceBuilder, path: str, type: str, weight: Shape) -> int:
    parameters = [build.parameter(f"{path}.weight", weight), build.parameter(f"{path}.bias", weight[:1])]
    return build.module(path, type, parameters=parameters)


def guessed_width_finding() -> Finding:
    """The finding of guessed_width: the first Linear's in_features."""
    return Finding(
        kind="linear_in_features",
        severity="error",
        message="fc1: the last dim of its input is 864, in_features is 1176",
        module="fc1",
        module_type="Linear",
        call=1,
        op="torch.nn.functional.linear",
        file="net.py",
        line=33,
        code="x = F.relu(self.fc1(x))",
        got={"in_features": 864},
        want={"in_features": 1176},
        types="f32[4,864] · f32[1176,120]",
        origin=Origin("", "torch.flatten", "net.py", 31, "x = torch.flatten(x, 1)", op_index=3, tensor=14, shape=(4, 864)),
        why="864 = 6·12·12",
        torch_message="mat1 and mat2 shapes cannot be multiplied (4x864 and 1176x120)",
        readings=("input 32×32 gives 6·14·14 = 1176",),
        fixes=(
            Fix("input 36×36", verified=False),
            Fix("nn.Linear(864, 120)", verified=True, cost="loses the pretrained weights of fc1"),
        ),
        op_index=5,
    )
