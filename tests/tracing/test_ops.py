"""What is written down of a run: ops, places, sources, children, shapes, and the names of nested inputs and outputs."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.overrides import BaseTorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from tb_shapeplugin.record.trace import OpFact, Trace
from tests.tracing.runs import EXECUTIONS, built, run, traced
from tests.zoo.classics import CNN
from tests.zoo.models import COMPLETING, ZOO

SHAPE_LEVEL = [name for name, entry in COMPLETING.items() if not entry.reads_values]


def sequence(trace: Trace) -> list[tuple[str, str, int, list[Any]]]:
    """Every op with its module's path, its call number and its outputs' types."""
    return [(op.name, *_place(trace, op), [(trace.tensors[i].shape, trace.tensors[i].dtype) for i in op.outputs]) for op in trace.ops]


def _place(trace: Trace, op: OpFact) -> tuple[str, int]:
    call = trace.calls[op.call]
    return trace.modules[call.module].path, call.number


def test_ops_of_a_cnn_are_those_that_the_user_wrote() -> None:
    """Names as torch resolves them, the module that called them, and which call of it."""
    ops = [(name, path, call) for name, path, call, _ in sequence(traced("cnn"))]
    assert ops == [
        ("torch.nn.functional.conv2d", "conv1", 1),
        ("torch.nn.functional.relu", "", 1),
        ("torch.nn.functional.max_pool2d", "pool", 1),
        ("torch.nn.functional.conv2d", "conv2", 1),
        ("torch.nn.functional.relu", "", 1),
        ("torch.nn.functional.max_pool2d", "pool", 2),
        ("torch.flatten", "", 1),
        ("torch.nn.functional.linear", "fc1", 1),
        ("torch.nn.functional.relu", "", 1),
        ("torch.nn.functional.linear", "fc2", 1),
    ]


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_source_is_the_users_statement_with_its_columns(execution: Any) -> None:
    """File, line and code are those of the innermost line of the user, not of torch."""
    trace = traced("cnn", execution)
    flatten = next(op for op in trace.ops if op.name == "torch.flatten")
    source = trace.sources[flatten.source]
    lines = Path("tests/zoo/classics.py").read_text().splitlines()
    assert source.file == "tests/zoo/classics.py"
    assert source.code == "x = torch.flatten(x, 1)" == lines[source.line - 1].strip()
    assert source.function.endswith("forward")
    if source.end_column:  # Python 3.11 and newer
        assert lines[source.line - 1][source.column : source.end_column] == "torch.flatten(x, 1)"


def test_a_statement_over_several_lines_is_one_line_of_code() -> None:
    """Its lines are stripped and joined by one space."""

    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.cat(
            [
                x,
                x + 1,
            ],
            dim=0,
        )

    trace = run(function, (torch.ones(2),))
    codes = {trace.sources[op.source].code for op in trace.ops}
    assert codes == {"return torch.cat( [ x, x + 1, ], dim=0, )"}


def test_callers_lead_from_the_op_to_the_bottom_of_the_model() -> None:
    """Each statement knows the one that called it; nothing of torch or of ours lies between."""
    trace = traced("function_with_modules")
    linear = next(op for op in trace.ops if op.name.endswith("linear"))
    assert trace.sources[linear.source].code == "return loss_of(model(x), y)"
    nested = traced("cnn")
    conv = nested.sources[nested.ops[0].source]
    assert (conv.code, conv.caller) == ("x = self.pool(F.relu(self.conv1(x)))", -1)


def test_source_none_and_full() -> None:
    """``none`` keeps no line at all; ``full`` keeps the text of the enclosing function."""
    assert {op.source for op in traced("cnn", source="none").ops} == {-1}
    trace = traced("cnn", source="full")
    source = trace.sources[trace.ops[0].source]
    assert source.text.splitlines()[0].strip() == "def forward(self, x: torch.Tensor) -> torch.Tensor:"
    assert source.text.splitlines()[source.line - source.text_line].strip() == source.code


def test_arguments_have_their_names_and_tensors_stand_as_numbers() -> None:
    """Positional and keyword ones, in order; %0 is inputs[0]."""

    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        z = torch.cat([x, y, x], dim=-1).view(2, -1)
        return F.pad(z, (1, 0), value=2.5)

    trace = run(function, (torch.ones(2, 3), torch.ones(2, 1)))
    cat, view, pad = trace.ops
    assert dict(cat.arguments) == {"tensors": "[%0, %1, %0]", "dim": "-1"}
    assert [trace.tensors[i].name for i in cat.inputs] == ["x", "y", "x"]
    assert "(2, -1)" in dict(view.arguments).values()
    assert {"pad": "(1, 0)", "value": "2.5"}.items() <= dict(pad.arguments).items()


class PlainOps(TorchDispatchMode):  # torch has no types there
    """The ops of a run that nobody records."""

    def __init__(self) -> None:
        super().__init__()
        self.names: Counter[str] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names[str(func)] += 1
        return func(*args, **(kwargs or {}))


# autograd's own, and the reading of a value, which is no op.
_NO_CHILDREN = ("aten.detach.default", "aten._local_scalar_dense.default")


@pytest.mark.parametrize("execution", ["auto", "real"])
@pytest.mark.parametrize(
    "name", ["mlp", "cnn", "unet", "gnn", "vae", "lstm_classifier", "tied_embedding", "bert", "gpt2", "vit", "called_twice", "odd_dtypes"]
)
def test_children_are_the_aten_ops_of_a_plain_run(name: str, execution: Any) -> None:
    """Counted independently by a dispatch mode of this test. (An inert function mode takes torch's fused shortcuts away there, too.)"""
    model, args, kwargs = built(name)
    trace = run(model, args, kwargs, execution=execution)
    with PlainOps() as plain, BaseTorchFunctionMode():
        model(*args, **kwargs)
    children = Counter(child.name for op in trace.ops for child in op.children)
    for counted in (children, plain.names):
        for name_of_none in _NO_CHILDREN:
            counted.pop(name_of_none, None)
    assert children == plain.names


@pytest.mark.parametrize("name", COMPLETING)
def test_auto_runs_the_same_ops_as_the_real_run(name: str) -> None:
    """Op by op: name, module, call number, shapes and dtypes of the outputs, value reads included."""
    auto, real = traced(name), traced(name, "real")
    assert auto.completed and real.completed, (auto.error, real.error)
    assert sequence(auto) == sequence(real)


@pytest.mark.parametrize("name", SHAPE_LEVEL)
def test_fake_runs_the_same_ops_as_the_real_run(name: str) -> None:
    """The same where no value is read: shape level is enough."""
    fake = traced(name, "fake")
    assert fake.completed, fake.error
    assert sequence(fake) == sequence(traced(name, "real"))


READS = {
    "packed_lstm": "tests/zoo/sequences.py:",
    "branch_on_values": "tests/zoo/data.py:",
    "boolean_mask": "tests/zoo/data.py:",
    "bert": "transformers/masking_utils.py:",
    "mixtral": "transformers/masking_utils.py:",
    "nn_transformer": "a place that torch doesn't tell",  # no line of a user is on the stack
}


def test_the_models_that_read_values_are_known() -> None:
    """The table above is the zoo's."""
    assert set(READS) == {name for name, entry in ZOO.items() if entry.reads_values}


@pytest.mark.parametrize("name", READS)
def test_fake_says_where_a_value_would_be_read(name: str) -> None:
    """Without values there is an end; the record says at which line, and what to do."""
    trace = traced(name, "fake")
    assert not trace.completed
    assert [failure.call.name for failure in trace.failures] == ["python.value"]
    assert "execution='auto'" in trace.failures[0].message
    assert any(READS[name] in text for text in trace.unchecked), trace.unchecked


class Watched:
    """Plain forward hooks on every registered module: an independent witness of what each call gave."""

    def __init__(self, model: nn.Module) -> None:
        self.seen: list[tuple[str, tuple[Any, ...]]] = []
        self._handles = [module.register_forward_hook(self._hook(path)) for path, module in model.named_modules()]

    def _hook(self, path: str) -> Any:
        def hook(module: nn.Module, args: Any, output: Any) -> None:
            if isinstance(output, torch.Tensor):
                self.seen.append((path, (tuple(output.shape), str(output.dtype).removeprefix("torch."))))

        return hook

    def close(self) -> None:
        for handle in self._handles:
            handle.remove()


@pytest.mark.parametrize(
    "name", [name for name in COMPLETING if name not in ("hooks", "forgets_the_process", "backward_inside", "switches_modes")]
)
def test_outputs_of_every_module_call_are_those_that_plain_hooks_see(name: str) -> None:
    """In the order in which the calls end, with paths, shapes and dtypes."""
    model, args, kwargs = built(name)
    if not isinstance(model, nn.Module):
        pytest.skip("no module, no hook")
    trace = run(model, args, kwargs)
    model = getattr(model, "_orig_mod", model)
    witness = Watched(model)
    model(*args, **kwargs)
    witness.close()
    registered = {path for path, _ in model.named_modules()}
    single = [call for call in trace.calls if len(call.outputs) == 1 and trace.modules[call.module].path in registered]
    told = Counter((trace.modules[c.module].path, (trace.tensors[c.outputs[0]].shape, trace.tensors[c.outputs[0]].dtype)) for c in single)
    assert not Counter(witness.seen) - told


@pytest.mark.parametrize("name", COMPLETING)
def test_every_tensor_has_a_producer_that_lists_it(name: str) -> None:
    """Ids, producers, inputs and outputs are one graph without loose ends."""
    trace = traced(name)
    for index, tensor in enumerate(trace.tensors):
        assert tensor.producer == -1 or index in trace.ops[tensor.producer].outputs
        assert (tensor.producer >= 0) <= (tensor.kind == "activation")
    for place, op in enumerate(trace.ops):
        assert all(trace.tensors[i].producer < place for i in op.inputs)
        assert all(trace.tensors[i].producer == place for i in op.outputs)


def test_an_in_place_op_makes_a_new_version_of_the_same_storage() -> None:
    """ReLU(inplace=True) and ``+=`` give back the object they got: a new tensor of the record, the storage it had."""
    trace = traced("resnet_training")
    relus = [op for op in trace.ops if op.name.endswith("relu_") or op.name.endswith(".relu")]
    assert relus
    for op in relus:
        (before,), (after,) = op.inputs, op.outputs
        assert before != after
        assert trace.tensors[before].storage == trace.tensors[after].storage


def test_views_share_their_storage_and_copies_do_not() -> None:
    """A transpose is its base's memory; a clone has its own."""

    def function(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return x.t(), x.clone(), x[0]

    trace = run(function, (torch.ones(2, 3),))
    storage = [trace.tensors[op.outputs[0]].storage for op in trace.ops]
    base = trace.tensors[trace.inputs[0].tensor].storage
    assert [number == base for number in storage] == [True, False, True]


def test_inputs_and_outputs_have_the_names_of_their_places() -> None:
    """A dataclass, dicts, lists, a named tuple and None, as one would write them in Python."""
    trace = traced("nested_inputs")
    inputs = {end.name: end.literal if end.tensor < 0 else trace.tensors[end.tensor].shape for end in trace.inputs}
    assert inputs == {
        "batch.image": (2, 3, 5, 5),
        "batch.mask": (2, 1, 5, 5),
        "extra['scales'][0]": (),
        "extra['scales'][1]": (2, 1),
        "extra['name']": "'left'",
        "sizes.height": (2, 1),
        "sizes.width": (2, 1),
        "flag": "None",
    }
    outputs = [end.name.removeprefix("output") for end in trace.outputs]
    assert outputs == ["['logits']", "['aux'][0]", "['aux'][1]", "['sizes'].height", "['sizes'].width", "['flag']"]


def test_one_module_called_twice_is_one_module_with_two_calls() -> None:
    """And a module with two names tells the other one."""
    trace = traced("called_twice")
    layer = next(index for index, module in enumerate(trace.modules) if module.path == "layer")
    assert [call.number for call in trace.calls if call.module == layer] == [1, 2]
    shared = {module.path: module.shared_with for module in traced("several_paths").modules}
    assert shared["encoder.0"] == ("alias",) or shared["alias"] == ("encoder.0",)
    assert any("table.again" in others or path == "table.again" for path, others in shared.items() if others)


def test_tied_weights_tell_each_other() -> None:
    """Two modules hold one Parameter: it is one tensor of the record."""
    trace = traced("tied_embedding")
    modules = {module.path: module for module in trace.modules}
    assert modules["embedding"].parameters == modules["head"].parameters
    assert "head.weight" in modules["embedding"].shared_with
    assert "embedding.weight" in modules["head"].shared_with


def test_a_plain_list_of_layers_is_run_under_the_names_that_python_gives() -> None:
    """layers[0] is no registered module; its ops stand at its place all the same."""
    trace = traced("plain_list")
    assert [_place(trace, op)[0] for op in trace.ops] == ["layers[0]", "layers[1]", "layers[2]", "head"]


def test_a_compiled_module_is_read_as_the_module_that_was_compiled() -> None:
    """torch.compile's wrapper leaves no trace in the paths."""
    trace = traced("compiled")
    assert [module.path for module in trace.modules] == ["", "0", "1", "2"]
    assert trace.modules[0].type == "Sequential"


def test_lazy_layers_stay_unknown_and_their_outputs_known() -> None:
    """The tree says lazy; the run says what comes out."""
    trace = traced("lazy_fresh")
    assert [module.path for module in trace.modules if module.lazy] == ["0", "2"]
    assert trace.tensors[trace.outputs[0].tensor].shape == (2, 5)
    assert not any(module.lazy for module in traced("lazy_materialised").modules)


def test_modules_that_a_function_closes_over_are_found() -> None:
    """``lambda x: net(x)`` is a model like any other."""
    net = CNN()
    trace = run(lambda x: net(x).softmax(-1), (torch.randn(2, 1, 28, 28),))
    assert trace.completed
    assert [_place(trace, op)[0] for op in trace.ops][:2] == ["net.conv1", "net"]


def test_a_bound_method_runs_with_its_modules() -> None:
    """``model.encode`` is a way to ask for a part of a model."""

    class Encoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = nn.BatchNorm1d(3)

        def encode(self, x: torch.Tensor) -> torch.Tensor:
            return self.norm(x)

    trace = run(Encoder().encode, (torch.randn(4, 3),))
    assert trace.completed
    assert [_place(trace, op)[0].rpartition(".")[2] for op in trace.ops] == ["norm"]
