"""Models that something wraps: checkpoint, torch.compile, torch.jit, DataParallel, DDP, FSDP."""

import itertools
import threading
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

import tb_shapeplugin as shapes
from tests.tracing.kinds.checking import checked, places
from tests.tracing.kinds.small import Around, TwoLayers, batch
from tests.tracing.pictures import Picture

TWO_LAYERS = [("linear", "first"), ("relu", ""), ("linear", "second")]


def inside(prefix: str, ops: list[tuple[str, str]] = TWO_LAYERS) -> list[tuple[str, str]]:
    """The same ops with their modules below a path."""
    return [(name, f"{prefix}.{path}".rstrip(".")) for name, path in ops]


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpointed_blocks_are_read_as_if_they_were_called(reentrant: bool) -> None:
    """In training, with an input that needs gradients, where checkpointing is at work."""

    class Saves(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.block = TwoLayers()
            self.rest = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5), nn.Tanh())

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = checkpoint(self.block, x, use_reentrant=reentrant)
            return checkpoint_sequential(self.rest, 2, x, use_reentrant=reentrant)

    capture = checked(Saves(), (batch().requires_grad_(),))
    assert places(capture) == [*inside("block"), ("linear", "rest.0"), ("dropout", "rest.1"), ("tanh", "rest.2")]


def test_a_compiled_model_runs_as_it_was_written() -> None:
    """Nothing is compiled for a capture; the record says that what torch.compile would refuse is unchecked."""
    model = torch.compile(TwoLayers())
    captures = [shapes.capture(model, (batch(),), execution=execution) for execution in ("auto", "real", "fake")]
    for capture in captures:
        assert places(capture) == TWO_LAYERS
        assert any("torch.compile" in text for text in capture.unchecked), capture.unchecked


def test_a_compiled_part_runs_as_it_was_written() -> None:
    """In a model that is not compiled itself."""
    model = Around(torch.compile(nn.Linear(4, 4), backend="eager"))
    capture = checked(model, (batch(),))
    assert places(capture) == [("linear", "before"), ("linear", "inner"), ("mul", "")]
    assert any("torch.compile" in text for text in capture.unchecked)


def test_a_model_compiled_in_place_runs_as_it_was_written() -> None:
    """``model.compile()`` keeps the module and replaces what a call of it does."""
    model = TwoLayers()
    model.compile(backend="eager")
    capture = checked(model, (batch(),))
    assert places(capture) == TWO_LAYERS
    assert any("torch.compile" in text for text in capture.unchecked)


def test_a_compiled_function_runs_as_it_was_written() -> None:
    """As the model itself, and inside one."""

    @torch.compile(backend="eager")
    def scaled(x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x) * 3

    class Uses(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return scaled(x) + 1

    assert [name for name, _ in places(checked(scaled, (batch(),)))] == ["relu", "mul"]
    assert [name for name, _ in places(checked(Uses(), (batch(),)))] == ["relu", "mul", "add"]


class Gate(nn.Module):
    """x·sigmoid(fc(x)): small enough for TorchScript."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.sigmoid(self.fc(x))


SCRIPTED = {"scripted": torch.jit.script, "traced": lambda module: torch.jit.trace(module, torch.ones(3, 4))}
GATE = ("aten.addmm.default", "aten.sigmoid.default", "aten.mul.Tensor")


@pytest.mark.parametrize("name", SCRIPTED)
def test_a_torchscript_part_is_one_opaque_op_with_what_ran_inside(name: str) -> None:
    """Its inside is C++: one op, its inputs, its output, its aten ops as children; its parameters stand in the tree."""
    model = Around(SCRIPTED[name](Gate()))
    capture = checked(model, (batch(),))
    assert [place for place in places(capture) if place[1] != "inner"] == [("linear", "before"), ("mul", "")]
    before, opaque, _ = capture.ops
    assert (opaque.name, opaque.module) == ("torch.jit.ScriptModule", "inner")
    assert before.outputs[0].id in [tensor.id for tensor in opaque.inputs]
    assert [child.name for child in opaque.children if child.name in GATE] == list(GATE)
    assert [tensor.shape for tensor in opaque.outputs] == [(3, 4)]
    assert capture.totals.params == 40


@pytest.mark.parametrize("name", SCRIPTED)
def test_a_torchscript_model_is_one_opaque_op(name: str) -> None:
    """The whole model."""
    capture = checked(SCRIPTED[name](Gate()), (batch(),))
    assert [op.name for op in capture.ops] == ["torch.jit.ScriptModule"]
    assert [child.name for child in capture.ops[0].children if child.name in GATE] == list(GATE)


@torch.jit.script
def scripted_function(x: torch.Tensor, scale: float = 2.0) -> torch.Tensor:
    """A function that TorchScript runs."""
    return torch.relu(x) * scale


def test_a_torchscript_function_is_one_opaque_op() -> None:
    """Inside a model, called twice in one expression; and as the model itself."""

    class Uses(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return scripted_function(scripted_function(x) - 1)

    capture = checked(Uses(), (batch(),))
    assert [op.name.rpartition(".")[2] for op in capture.ops] == ["ScriptFunction", "sub", "ScriptFunction"]
    assert [child.name for child in capture.ops[0].children] == ["aten.relu.default", "aten.mul.Scalar"]
    assert capture.ops[0].outputs[0].id == capture.ops[1].inputs[0].id
    assert [op.name.rpartition(".")[2] for op in checked(scripted_function, (batch(),)).ops] == ["ScriptFunction"]


def test_what_cpp_runs_on_its_own_is_one_opaque_op() -> None:
    """An extension's aten ops come without any torch function: all that one expression sets off is one op, at its line."""

    def extension(x: torch.Tensor) -> torch.Tensor:
        with torch._C.DisableTorchFunction():  # as C++ would call them
            return (x * 2).relu().sum(-1)

    class Uses(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Linear(4, 4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return extension(self.fc(x)) + 1

    capture = checked(Uses(), (batch(),))
    assert [op.name for op in capture.ops] == ["torch.nn.functional.linear", *["python.opaque"] * 3, "torch.Tensor.add"]
    assert [child.name for op in capture.ops[1:-1] for child in op.children] == [
        "aten.mul.Tensor",
        "aten.relu.default",
        "aten.sum.dim_IntList",
    ]
    for earlier, later in itertools.pairwise(capture.ops):
        assert earlier.outputs[-1].id in [tensor.id for tensor in later.inputs]


@pytest.mark.parametrize("around", [lambda model: model, Around])
def test_data_parallel_without_devices_is_what_it_wraps(around: Any) -> None:
    """As the whole model, whose wrapper leaves no trace, and as a part."""
    whole = around(nn.DataParallel(nn.Linear(4, 4)))
    path = "inner.module" if isinstance(whole, Around) else ""
    assert ("linear", path) in places(checked(whole, (batch(),)))


@pytest.mark.usefixtures("process_group")
@pytest.mark.parametrize("around", [lambda model: model, Around])
def test_distributed_data_parallel_is_what_it_wraps(around: Any) -> None:
    """gloo, one process; its bookkeeping is no op of the model."""
    whole = around(nn.parallel.DistributedDataParallel(nn.Linear(4, 4)))
    capture = checked(whole, (batch(),))
    expected = [("linear", "before"), ("linear", "inner.module"), ("mul", "")] if isinstance(whole, Around) else [("linear", "")]
    assert places(capture) == expected


def weights(model: nn.Module, *_: Any) -> Picture:
    """What a sharded model holds: FSDP's own state reaches through process groups into all of torch."""
    facts: dict[str, Any] = {}
    for path, module in model.named_modules():
        facts[path] = (id(module), module.training, sorted(vars(module)), len(module._forward_pre_hooks))
    for name, parameter in model.named_parameters():
        local = parameter.to_local() if hasattr(parameter, "to_local") else parameter
        facts[name] = (id(parameter), parameter.shape, parameter.grad, local.detach().as_subclass(torch.Tensor).numpy().tobytes())
    return Picture(facts, [model])


@pytest.mark.usefixtures("process_group")
@pytest.mark.parametrize("around", [lambda model: model, nn.Sequential])
def test_fully_sharded_by_the_old_wrapper(around: Any) -> None:
    """Its parameters are views of one flat tensor that its hooks gather and free: it runs for real, and gathering is no op of the model."""
    from torch.distributed.fsdp import FullyShardedDataParallel

    whole = around(FullyShardedDataParallel(TwoLayers(), device_id=torch.device("cpu")))
    capture = checked(whole, (batch(),), executions=["auto", "real"], ran="real", photographed=weights)
    assert [name for name, _ in places(capture)] == ["linear", "relu", "linear"]
    assert any("FSDP" in text for text in capture.unchecked)
    with pytest.raises(shapes.ShapesError, match="FSDP"):
        shapes.capture(whole, (batch(),), execution="fake")


@pytest.mark.usefixtures("process_group")
@pytest.mark.parametrize("around", [lambda model: model, nn.Sequential])
def test_fully_sharded_by_the_new_function(around: Any) -> None:
    """fully_shard changes the module's class and makes its parameters distributed tensors: the same."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    inner = TwoLayers()
    fully_shard(inner, mesh=init_device_mesh("cpu", (1,)))
    capture = checked(around(inner), (batch(),), executions=["auto", "real"], ran="real", photographed=weights)
    assert [name for name, _ in places(capture)] == ["linear", "relu", "linear"]


@pytest.mark.usefixtures("process_group")
def test_a_sharded_model_still_trains_behind_a_capture() -> None:
    """Its loss is that of one that was never captured."""
    from torch.distributed.fsdp import FullyShardedDataParallel

    losses = []
    for captured in (False, True):
        torch.manual_seed(0)
        model, x = FullyShardedDataParallel(TwoLayers(), device_id=torch.device("cpu")), batch()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(3):
            if captured:
                shapes.capture(model, (x,))
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
        losses.append(loss.item())
    assert losses[0] == losses[1]


def test_what_resists_copying_and_holds_tensors_is_never_shared_with_the_copy() -> None:
    """A handle with a lock and a tensor that the forward writes to: the model runs for real, the tensor is as it was."""

    class Handle:
        def __init__(self) -> None:
            self.lock = threading.Lock()
            self.table = torch.zeros(4)

    class Keeps(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Linear(4, 4)
            self.handle = Handle()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            with self.handle.lock:
                self.handle.table = self.handle.table + self.fc(x).detach().sum(0)
            return x + self.handle.table

    capture = checked(Keeps(), (batch(),), executions=["auto", "real"], ran="real")
    assert any("Handle" in text for text in capture.unchecked)
