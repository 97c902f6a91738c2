"""What is written down of a forward that raises: up to the failing call, with it, and past it."""

import contextlib
from typing import Any

import pytest
import torch
from torch import nn

from tb_shapeplugin.api.specs import spec
from tb_shapeplugin.base.errors import ShapesError
from tb_shapeplugin.record.trace import Trace
from tests.tracing.runs import EXECUTIONS, built, run, traced
from tests.zoo.failing import FAILING
from tests.zoo.models import COMPLETING


def places(trace: Trace) -> list[str]:
    """Module paths of the failures that no earlier one causes."""
    return [trace.modules[failure.module].path for failure in trace.failures if failure.caused_by < 0]


def eagers_error(name: str) -> Exception:
    """What plain PyTorch raises."""
    model, args, kwargs = built(name)
    with pytest.raises(Exception) as caught:
        model(*args, **kwargs)
    return caught.value


@pytest.mark.parametrize("execution", ["auto", "fake"])
@pytest.mark.parametrize("name", FAILING)
def test_going_on_finds_every_planted_fault_and_no_other(name: str, execution: Any) -> None:
    """One diagnosis names the modules of all independent faults, in the order in which they surface."""
    trace = traced(name, execution)
    assert not trace.completed
    assert places(trace) == list(FAILING[name].fails)


@pytest.mark.parametrize("execution", EXECUTIONS)
@pytest.mark.parametrize("name", FAILING)
def test_the_first_failure_is_told_in_eagers_own_words(name: str, execution: Any) -> None:
    """Type and text of the exception are verbatim those of plain PyTorch, whichever kernels found it."""
    error = eagers_error(name)
    first = traced(name, execution).failures[0]
    assert (first.error, first.message) == (type(error).__name__, str(error))


@pytest.mark.parametrize("name", FAILING)
def test_a_real_run_ends_with_the_failing_call(name: str) -> None:
    """The partial record: everything before the call, the call itself with its operands, and nothing behind it."""
    trace = traced(name, "real")
    assert not trace.completed
    assert len(trace.failures) == 1
    assert trace.failures[0].op == len(trace.ops) - 1
    assert [op.failed for op in trace.ops] == [False] * (len(trace.ops) - 1) + [True]
    assert trace.ops[-1].outputs == ()
    assert trace.outputs == ()
    assert trace.error.startswith(trace.failures[0].error)


@pytest.mark.parametrize("execution", ["auto", "fake"])
@pytest.mark.parametrize("name", [name for name, entry in FAILING.items() if entry.fails[0] and entry.kinds[0] != "user_error"])
def test_without_going_on_a_shape_level_run_ends_where_the_real_one_does(name: str, execution: Any) -> None:
    """The same ops, the same last one."""
    real, trace = traced(name, "real"), traced(name, execution, continue_past_errors=False)
    assert [op.name for op in trace.ops] == [op.name for op in real.ops]
    assert trace.ops[-1].failed


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_the_failing_call_has_its_operands_and_its_line(execution: Any) -> None:
    """Tensor ids lead to shapes and producers; the source to the user's statement."""
    trace = traced("wrong_linear_width", execution)
    failure = trace.failures[0]
    x, weight, bias = failure.call.operands()
    assert (x.shape, weight.shape, bias.shape) == ((2, 400), (32, 256), (32,))
    assert (weight.kind, weight.name) == ("parameter", "fc1.weight")
    assert trace.ops[trace.tensors[x.id].producer].name == "torch.flatten"
    assert trace.sources[trace.ops[failure.op].source].code == "return self.fc2(F.relu(self.fc1(x)))"
    assert trace.ops[failure.op].inputs == (x.id, weight.id, bias.id)


@pytest.mark.parametrize("execution", ["auto", "fake"])
def test_what_comes_behind_a_failure_is_marked_as_assumed(execution: Any) -> None:
    """The failing call's output has the size that its weight says; all that follows says that it is built on it."""
    trace = traced("wrong_linear_width", execution)
    failed = trace.failures[0].op
    assert trace.tensors[trace.ops[failed].outputs[0]].shape == (2, 32)
    assert all(trace.tensors[i].assumed for op in trace.ops[failed:] for i in op.outputs)
    assert not any(op.assumed for op in trace.ops[:failed])
    assert trace.tensors[trace.outputs[0].tensor].shape == (2, 10)
    outcomes = {trace.modules[call.module].path: call.outcome for call in trace.calls}
    assert {"conv1": "ok", "fc1": "failed", "fc2": "assumed"}.items() <= outcomes.items()


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_a_handler_of_the_user_is_respected(execution: Any) -> None:
    """What a try/except of the model catches is the model's own business: it completes, and nothing is reported."""
    trace = traced("handles_its_own_error", execution)
    assert trace.completed
    assert trace.failures == ()
    assert trace.tensors[trace.outputs[0].tensor].shape == (2, 4)


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_handlers_by_suppress_and_in_a_caller_are_respected(execution: Any) -> None:
    """contextlib.suppress is a handler, too; so is one that stands in a calling module."""

    class Tries(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Sequential(nn.Linear(3, 3))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            with contextlib.suppress(RuntimeError):
                x = x @ torch.ones(9, 9)
            try:
                return self.inner(x)
            except RuntimeError:
                return x

    trace = run(Tries(), (torch.ones(2, 5),), execution=execution)
    assert trace.completed, trace.error
    assert trace.tensors[trace.outputs[0].tensor].shape == (2, 5)


def test_a_call_that_does_not_fit_says_what_is_taken_and_what_was_given() -> None:
    """The signature stands beside the arguments."""
    failure = traced("wrong_call").failures[0]
    assert failure.call.name == "python.call"
    assert failure.signature is not None
    assert failure.signature.callable == "CNN.forward"
    assert failure.signature.signature == "(x)"
    assert failure.signature.given == "(f32[2,1,28,28], f32[2], training=True)"
    assert (failure.signature.takes, failure.signature.gave) == (1, 3)
    assert failure.signature.unexpected == ("training",)


def test_a_module_that_checks_its_input_itself_is_named_as_the_op() -> None:
    """nn.LSTM raises before any op; the op is the module, and going on finds that the rest is in order."""
    trace = traced("lstm_own_check")
    assert [failure.call.name for failure in trace.failures] == ["torch.nn.LSTM"]
    assert trace.tensors[trace.outputs[0].tensor].shape == (4, 3)


def test_faults_before_between_and_behind_value_reads_are_all_found() -> None:
    """Values on demand and going on are one mechanism."""

    class Reads(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second, self.third = nn.Linear(9, 8), nn.Linear(9, 8), nn.Linear(9, 2)

        def forward(self, x: torch.Tensor, count: torch.Tensor, keep: torch.Tensor) -> torch.Tensor:
            y = self.first(x)
            y = self.second(y.repeat(int(count.item()), 1))
            return self.third(y[keep])

    args = (torch.randn(2, 7), torch.tensor(2), torch.tensor([True, False, True, True]))
    trace = run(Reads(), args)
    assert places(trace) == ["first", "second", "third"]
    assert trace.tensors[trace.outputs[0].tensor].shape == (3, 2)


@pytest.mark.parametrize("execution", ["auto", "fake"])
@pytest.mark.parametrize("name", ["mlp", "cnn", "unet", "wrong_linear_width"])
def test_specs_stand_for_tensors(name: str, execution: Any) -> None:
    """A spec of the same type gives the same trace as the tensor."""
    model, args, kwargs = built(name)
    specs = tuple(spec(tuple(tensor.shape), tensor.dtype) for tensor in args)
    with_specs, with_tensors = run(model, specs, kwargs, execution=execution), run(model, args, kwargs, execution=execution)
    assert with_specs.ops == with_tensors.ops
    assert with_specs.failures == with_tensors.failures


def test_nested_specs_stand_for_tensors() -> None:
    """Inside dicts and lists, too."""

    def function(batch: dict[str, list[torch.Tensor]]) -> torch.Tensor:
        return torch.cat(batch["parts"])

    trace = run(function, ({"parts": [spec((2, 3)), torch.ones(1, 3)]},))
    assert trace.tensors[trace.outputs[0].tensor].shape == (3, 3)
    assert [end.name for end in trace.inputs] == ["batch['parts'][0]", "batch['parts'][1]"]


def test_a_spec_has_no_values_to_read() -> None:
    """A real run refuses it in one sentence; one that may not read ends there; any other assumes zeros and says where."""
    model, _, _ = built("branch_on_values")
    with pytest.raises(ShapesError, match=r"needs values.*spec.*real tensor"):
        run(model, (spec((2, 4)),), execution="real")
    blind = run(model, (spec((2, 4)),), execution="fake")
    assert not blind.completed
    assert [failure.call.name for failure in blind.failures] == ["python.value"]
    assert any("tests/zoo/data.py:" in text for text in blind.unchecked), blind.unchecked
    trace = run(model, (spec((2, 4)),))
    assert trace.completed
    assert [value.origin for value in trace.values] == ["assumed"]
    assert any("tests/zoo/data.py:" in text and "zeros" in text for text in trace.unchecked), trace.unchecked


@pytest.mark.parametrize("name", COMPLETING)
def test_a_model_that_completes_has_no_failure(name: str) -> None:
    """No false alarm in the whole zoo."""
    trace = traced(name)
    assert (trace.completed, trace.error, trace.failures) == (True, "", ())
    assert not any(op.failed or op.assumed for op in trace.ops)


def added(x: torch.Tensor, index: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
    """An in-place sum by index."""
    return torch.zeros_like(x).index_add_(0, index, source)


LET_THROUGH: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "a view across a transposed axis": (lambda x: x.transpose(1, 2).view(5, 1, 12), (torch.ones(5, 3, 4),)),
    "a source that would have to be broadcast": (added, (torch.ones(5, 3), torch.tensor([0, 1]), torch.ones(2, 1))),
    "float64 into a float32 product": (lambda x: x @ torch.ones(3, 2), (torch.ones(4, 3, dtype=torch.float64),)),
    "an index outside the table": (nn.Embedding(10, 4), (torch.tensor([3, 10]),)),
    "a class outside the classes": (nn.CrossEntropyLoss(), (torch.ones(2, 3), torch.tensor([0, 3]))),
    "a negative class that isn't ignored": (nn.CrossEntropyLoss(), (torch.ones(2, 3), torch.tensor([0, -1]))),
    "a mask of another size": (lambda x, mask: x[mask], (torch.ones(5, 3), torch.ones(4, dtype=torch.bool))),
}


@pytest.mark.parametrize("what", LET_THROUGH)
def test_what_shape_level_kernels_let_through_is_told_with_eagers_words(what: str) -> None:
    """Eager refuses the call; so does the capture, in the same words."""
    model, args = LET_THROUGH[what]
    with pytest.raises((RuntimeError, IndexError)) as caught:
        model(*args)
    trace = run(model, args)
    assert [failure.message for failure in trace.failures] == [str(caught.value)]


def test_a_strided_view_by_a_size_that_is_a_tensor_runs() -> None:
    """Its strides are looked at again without memory, where a tensor has no value to be a size."""

    def function(x: torch.Tensor) -> torch.Tensor:
        return x.transpose(1, 2).view(5, torch.div(torch.tensor(4), 2, rounding_mode="floor"), 2, 3)

    assert run(function, (torch.ones(5, 3, 4),)).completed


def test_a_class_that_is_ignored_is_no_failure() -> None:
    """-100 stands for no class."""
    assert run(nn.CrossEntropyLoss(), (torch.ones(2, 3), torch.tensor([0, -100]))).completed


def test_a_packed_sequence_of_another_width_fails_like_any_other() -> None:
    """Its kernel reads memory that a made-up operand doesn't have: nothing is tried on it for real, and the process lives."""
    model, args, kwargs = built("packed_lstm")
    model.lstm = nn.LSTM(24, model.lstm.hidden_size, batch_first=True, bidirectional=model.lstm.bidirectional)
    trace = run(model, args, kwargs)
    assert [failure.call.short_name for failure in trace.failures][:1] == ["lstm"]


def test_trials_on_changed_inputs_leave_no_ops_behind() -> None:
    """To go on past a layer's own check, inputs are made up: they are no part of the model."""
    model, args = nn.Sequential(nn.LSTM(32, 8, batch_first=True)), (torch.ones(2, 5, 64),)
    assert [op.name for op in run(model, args).ops] == [op.name for op in run(model, args, execution="real").ops]


class ChecksItsPicture(nn.Module):
    """Refuses what has another number of channels, as libraries do."""

    def __init__(self) -> None:
        super().__init__()
        self.channels = 3
        self.conv = nn.Conv2d(3, 8, 3, padding=1)

    def forward(self, picture: torch.Tensor) -> torch.Tensor:
        """picture [n, channels, h, w] -> [n, 8, h, w]"""
        if picture.shape[1] != self.channels:
            raise ValueError("the channels of the picture don't match")
        outcome: torch.Tensor = self.conv(picture)
        return outcome


def test_behind_a_refused_flattened_picture_the_next_fault_is_found() -> None:
    """The module's own check names no size: a square picture of its channels is what each row may have been."""
    model = nn.Sequential(ChecksItsPicture(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(9, 2))
    trace = run(model, (torch.zeros(2, 3 * 16 * 16),))
    assert places(trace) == ["0", "3"]
