"""Which contents of tensors decided what ran: read, assumed or random, told at their op and statement."""

from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tb_shapeplugin.record.trace import Trace
from tb_shapeplugin.tracing.inputs import spec
from tests.tracing.runs import run

BOTH = pytest.mark.parametrize("execution", ["auto", "real"])


def notes(trace: Trace) -> list[tuple[str, str, str, str]]:
    """Of each value: its origin, its literal, who made the tensor, and which op needed it."""

    def maker(tensor: int) -> str:
        fact = trace.tensors[tensor]
        return trace.ops[fact.producer].name.rpartition(".")[2] if fact.producer >= 0 else fact.name or fact.kind

    def needing(op: int) -> str:
        return trace.ops[op].name.rpartition(".")[2] if op >= 0 else ""

    return [(value.origin, value.literal, maker(value.tensor), needing(value.op)) for value in trace.values]


@BOTH
def test_values_that_python_reads_are_noted_with_what_they_were(execution: Any) -> None:
    """A branch, an item, a list: none of them is an op."""

    def function(x: torch.Tensor) -> torch.Tensor:
        if (x > 0).all():
            x = x * x.sum().item()
        return x.repeat(x.long().max().tolist())

    trace = run(function, (torch.full((2,), 3.0),), execution=execution)
    assert notes(trace) == [("read", "True", "all", ""), ("read", "6", "sum", ""), ("read", "18", "max", "")]
    assert ["function" in trace.sources[value.source].function for value in trace.values] == [True] * 3
    assert trace.sources[trace.values[0].source].code == "if (x > 0).all():"


@BOTH
def test_ops_whose_shape_depends_on_values_are_noted(execution: Any) -> None:
    """A mask's count, the places that aren't zero, the lengths of a packed sequence."""

    def function(x: torch.Tensor, mask: torch.Tensor, lengths: torch.Tensor) -> Any:
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True)
        return x[mask], mask.nonzero(), packed.data

    x, mask = torch.ones(2, 3, 4), torch.tensor([[True, False, True]] * 2)
    trace = run(function, (x, mask, torch.tensor([3, 2])), execution=execution)
    assert [(origin, made, needed) for origin, _, made, needed in notes(trace)] == [
        ("read", "to", "pack_padded_sequence"),
        ("read", "mask", "__getitem__"),
        ("read", "mask", "nonzero"),
    ]


@BOTH
def test_values_that_come_from_random_numbers_are_told_apart(execution: Any) -> None:
    """What follows from dropout may be another one in the next run; what is made of its size alone is not."""

    def function(x: torch.Tensor) -> torch.Tensor:
        dropped = F.dropout(x)
        if dropped.mean() > 5:
            return dropped
        if torch.zeros_like(dropped).any() or x.any():
            return x
        return -x

    trace = run(function, (torch.ones(4),), execution=execution)
    assert [(origin, made) for origin, _, made, _ in notes(trace)] == [("random", "gt"), ("read", "any"), ("read", "any")]


def test_a_random_value_leaves_the_generator_alone() -> None:
    """Shape-level runs draw nothing."""
    before = torch.random.get_rng_state()
    run(lambda x: x * (torch.rand(3) > 0.5).sum().item(), (torch.ones(4),))
    assert torch.equal(before, torch.random.get_rng_state())


def test_what_nobody_gave_is_assumed_and_stays_a_guess() -> None:
    """A value read of a spec is a zero; an index made of one is not taken for known."""

    def function(x: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
        count = x.long()
        if count.sum() > 0:
            return x
        return F.embedding(count, table)

    trace = run(function, (spec((3,)), torch.ones(5, 2)))
    assert notes(trace) == [("assumed", "False", "gt", "")]
    assert trace.completed
    assert any("embedding" in text for text in trace.unchecked), trace.unchecked


def test_a_model_without_memory_has_values_that_nobody_knows() -> None:
    """On the meta device a real run could read nothing either."""
    with torch.device("meta"):
        layer = nn.Linear(4, 2)

    def function(x: torch.Tensor) -> torch.Tensor:
        return layer(x) if layer.weight.sum() >= 0 else x

    trace = run(function, (torch.ones(3, 4, device="meta"),))
    assert trace.completed
    assert trace.execution == "fake"
    assert [origin for origin, *_ in notes(trace)] == ["assumed"]


def test_a_value_that_comes_from_an_assumed_output_is_assumed() -> None:
    """Past a mismatch nobody knows the numbers."""

    def function(x: torch.Tensor) -> torch.Tensor:
        wrong = x @ torch.ones(5, 2)
        return wrong if wrong.sum() > 0 else -wrong

    trace = run(function, (torch.ones(3, 4),))
    assert len(trace.failures) == 1
    assert [origin for origin, *_ in notes(trace)] == ["assumed"]


def test_an_array_of_an_input_is_a_copy() -> None:
    """forward may write to what numpy() gave: the user's tensor stays as it was."""

    def function(x: torch.Tensor) -> torch.Tensor:
        array = x.numpy()
        array[:] = 7
        return x + 1

    x = torch.zeros(3)
    run(function, (x,))
    assert x.tolist() == [0, 0, 0]


def test_a_buffer_written_before_each_read_is_right_every_time() -> None:
    """Slices that write in place start from the contents as they were."""

    class Counting(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", torch.zeros(1))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            seen = []
            for _ in range(4):
                self.count += 1
                seen.append(int(self.count))
            return x.reshape(seen)

    model = Counting()
    trace = run(model, (torch.ones(24),))
    assert [literal for _, literal, *_ in notes(trace)] == ["1", "2", "3", "4"]
    assert trace.tensors[trace.outputs[0].tensor].shape == (1, 2, 3, 4)
    assert model.count.item() == 0


CALLS: list[int] = []


@torch.library.custom_op("shapes_tests::counted", mutates_args=())
def counted(x: torch.Tensor) -> torch.Tensor:
    """One more, and a note that it ran for real."""
    CALLS.append(1)
    return x + 1


counted.register_fake(torch.empty_like)


def test_reads_in_a_loop_run_no_op_twice() -> None:
    """Each value stands on the one before: what was computed is kept. Once more on zeros: is its shape-level kernel right?"""

    def function(x: torch.Tensor) -> torch.Tensor:
        while x.sum() < 60:
            x = counted(x)
        return x

    CALLS.clear()
    trace = run(function, (torch.zeros(3),))
    assert sum(op.name == "torch.ops.shapes_tests.counted" for op in trace.ops) == 20
    assert len(CALLS) == 20 + 1
