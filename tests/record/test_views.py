"""Rows of a record: what they read, where modules stand, how sequences behave."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_shapeplugin.analyse.ledger import record_of
from tb_shapeplugin.record.record import Record
from tb_shapeplugin.record.row_order import row_order
from tb_shapeplugin.record.trace import CallFact, ChildFact, ModuleFact, Trace
from tb_shapeplugin.record.views import ModuleRows, OpRows, TensorRows
from tests.traces import TraceBuilder, guessed_width


@pytest.fixture(name="record")
def fixture_record() -> Record:
    """The net with the guessed width, broken."""
    return record_of(guessed_width())


def test_modules_stand_in_execution_order_and_the_uncalled_where_the_tree_has_them(record: Record) -> None:
    """aux is registered last and never called."""
    rows = ModuleRows(record)
    assert [row.path for row in rows] == ["", "conv1", "pool", "drop", "fc1", "fc2", "fc3", "aux"]
    assert [row.outcome for row in rows] == ["ok", "ok", "ok", "ok", "failed", "assumed", "assumed", None]
    assert [row.called for row in rows] == [True] * 7 + [False]


def test_a_module_row_reads_its_call(record: Record) -> None:
    """Shapes, figures and bytes of one call."""
    row = ModuleRows(record)[1]
    assert (row.path, row.type, row.call, row.depth) == ("conv1", "Conv2d", 1, 1)
    assert (row.input_shapes, row.output_shapes) == (((4, 1, 28, 28),), ((4, 6, 24, 24),))
    assert (row.params, row.trainable_params, row.param_bytes, row.buffer_bytes) == (156, 156, 624, 0)
    assert row.output_bytes == 4 * 6 * 24 * 24 * 4
    assert row.shared_with == () and not row.lazy and row.config == ""


def test_a_module_never_called_has_figures_but_no_call(record: Record) -> None:
    """Its parameters are known; nothing went in or out."""
    aux = ModuleRows(record)[-1]
    assert (aux.path, aux.call, aux.params, aux.output_bytes) == ("aux", 0, 850, None)
    assert aux.inputs == aux.outputs == () and not aux.failed_itself
    assert "never called" in repr(aux)


def test_only_the_call_that_raised_failed_itself(record: Record) -> None:
    """Not the root that it ran in."""
    assert [row.path for row in ModuleRows(record) if row.failed_itself] == ["fc1"]


def test_where_a_failure_unwinds_the_stack_only_the_innermost_call_failed_itself() -> None:
    """Nothing went on after the error, so every call around it is marked failed, and there may be no op for it."""
    build = TraceBuilder()
    x = build.input("x", (2,))
    net, body = build.module("", "Net"), build.module("body", "Body")
    with build.call(net, [x], "failed"), build.call(body, [x], "failed"):
        pass
    rows = ModuleRows(record_of(build.trace(error="TypeError: no")))
    assert [row.failed_itself for row in rows] == [False, True]


def test_a_failing_op_of_the_root_marks_the_root() -> None:
    """The op ran in the root's own forward, beside parts that are fine."""
    build = TraceBuilder()
    x = build.input("x", (2,))
    net, part = build.module("", "Net"), build.module("part", "ReLU")
    with build.call(net, [x], "failed"):
        build.run(part, "torch.relu", [x], (2,))
        build.op("torch.cat", [x], failed=True)
    assert [row.failed_itself for row in ModuleRows(record_of(build.trace(error="RuntimeError: no")))] == [True, False]


def test_an_op_row_reads_its_call(record: Record) -> None:
    """Name, place, operands, arguments and state."""
    flatten, linear = OpRows(record)[3], OpRows(record)[5]
    assert (flatten.name, flatten.module, flatten.call, flatten.index) == ("torch.flatten", "", 1, 3)
    assert (flatten.file, flatten.line, flatten.code) == ("net.py", 31, "x = torch.flatten(x, 1)")
    assert flatten.arguments == {"start_dim": "1"}
    assert [tensor.shape for tensor in flatten.inputs + flatten.outputs] == [(4, 6, 12, 12), (4, 864)]
    assert flatten.inputs[0].storage == flatten.outputs[0].storage
    assert (linear.module, linear.failed, linear.assumed, OpRows(record)[6].assumed) == ("fc1", True, False, True)


def test_an_op_outside_any_module_and_without_source_says_so() -> None:
    """A plain function's op: no module, no call, no file."""
    build = TraceBuilder()
    children = (ChildFact("aten.split.Tensor", (((1,), "float32"), ((1,), "float32"))), ChildFact("aten.sum.default", (((), "float32"),)))
    build.op("torch.relu", [build.input("x", (2,))], (2,), children=children)
    row = OpRows(record_of(build.trace()))[0]
    assert (row.module, row.call, row.file, row.line, row.code, row.arguments) == ("", 0, "", 0, "", {})
    assert row.children == children


def test_a_tensor_row_reads_its_type(record: Record) -> None:
    """A parameter, an input and an assumed activation."""
    x, weight = TensorRows(record)[0], TensorRows(record)[1]
    assert (x.kind, x.name, x.bytes, x.producer, x.device) == ("input", "x", 12544, -1, "cpu")
    assert (weight.kind, weight.name, weight.dtype, str(weight)) == ("parameter", "conv1.weight", "float32", "f32[6,1,5,5]")
    assert [tensor.assumed for tensor in OpRows(record)[5].outputs] == [True]


def test_unknown_bytes_are_none() -> None:
    """Of a tensor, and of the module's outputs it is among."""
    build = TraceBuilder()
    net = build.module("", "Net")
    with build.call(net, []) as outputs:
        outputs += build.op("torch.ones", [], (2,), dtype="float4_of_tomorrow")
    record = record_of(build.trace(outputs))
    assert TensorRows(record)[0].bytes is None
    assert ModuleRows(record)[0].output_bytes is None


def test_outputs_that_share_a_storage_weigh_once() -> None:
    """A module that returns a tensor and its view."""
    build = TraceBuilder()
    net = build.module("", "Net")
    with build.call(net, []) as outputs:
        outputs += build.op("torch.ones", [], (2, 3))
        outputs += build.op("torch.Tensor.view", outputs, (6,), view=True)
    assert ModuleRows(record_of(build.trace(outputs)))[0].output_bytes == 24


def test_rows_are_a_sequence(record: Record) -> None:
    """Length, negative index, slices of slices, iteration, membership, equality, and an error beyond the end."""
    rows = OpRows(record)
    assert len(rows) == 10 and rows[-1].index == 9
    assert [row.index for row in rows[2:8][1::2]] == [3, 5, 7]
    assert [row.index for row in rows] == list(range(10)) and rows[3] in rows
    assert rows[3] == OpRows(record)[3] and hash(rows[3]) == hash(OpRows(record)[3])
    assert rows[3] != rows[4] and rows[3] != TensorRows(record)[3]
    with pytest.raises(IndexError):
        rows[10]


def test_two_calls_of_one_module_are_two_rows() -> None:
    """They are equal in module, and differ in call."""
    build = TraceBuilder()
    x = build.input("x", (2,))
    net, act = build.module("", "Net"), build.module("act", "ReLU")
    with build.call(net, [x]):
        h = build.run(act, "torch.relu", [x], (2,))
        build.run(act, "torch.relu", h, (2,))
    _, first, second = ModuleRows(record_of(build.trace()))
    assert (first.call, second.call) == (1, 2) and first != second


def test_the_repr_shows_rows_and_says_how_many_more(record: Record) -> None:
    """Someone types capture.tensors into a notebook."""
    lines = repr(TensorRows(record)).splitlines()
    assert lines[0] == "TensorRows of Net: 21"
    assert lines[1].strip() == "TensorRow(0: f32[4,1,28,28] input x)"
    assert lines[-1].strip() == "… 1 more" and len(lines) == 22
    assert "fc1 at net.py:33 failed" in repr(OpRows(record))
    assert "… " not in repr(OpRows(record)[:2])


def test_a_list_of_modules_stands_before_its_first_part_and_a_dead_part_behind_its_sibling() -> None:
    """net: stem, layers (a list: 0, 1), dead, dead.inner, head; called are stem, layers.0, layers.1, head."""
    build = TraceBuilder()
    x = build.input("x", (2,))
    paths = ("", "stem", "layers", "layers.0", "layers.1", "dead", "dead.inner", "head")
    module = {path: build.module(path, "M") for path in paths}
    with build.call(module[""], [x]):
        for path in ("stem", "layers.0", "layers.1", "head"):
            build.run(module[path], "torch.relu", [x], (2,))
    assert [row.path for row in ModuleRows(record_of(build.trace()))] == list(paths)


def test_a_part_called_from_elsewhere_does_not_carry_its_siblings_along() -> None:
    """a.used is called by b, behind a's own call; a.dead stays inside a."""
    build = TraceBuilder()
    x = build.input("x", (2,))
    module = {path: build.module(path, "M") for path in ("", "a", "a.used", "a.dead", "b")}
    with build.call(module[""], [x]):
        build.run(module["a"], "torch.relu", [x], (2,))
        with build.call(module["b"], [x]):
            build.run(module["a.used"], "torch.relu", [x], (2,))
    assert [row.path for row in ModuleRows(record_of(build.trace()))] == ["", "a", "a.dead", "b", "a.used"]


@st.composite
def runs(draw: st.DrawFn) -> Trace:
    """Trees of up to 10 modules, parents before children, and up to 10 properly nested calls of any of them."""
    modules = [ModuleFact("", "M", -1)]
    modules += [ModuleFact(str(index), "M", draw(st.integers(0, index - 1))) for index in range(1, draw(st.integers(1, 10)))]
    calls: list[CallFact] = []
    stack: list[int] = []
    for index in range(draw(st.integers(0, 10))):
        stack = stack[: draw(st.integers(0, len(stack)))]
        module = draw(st.integers(0, len(modules) - 1))
        number = 1 + sum(call.module == module for call in calls)
        calls.append(CallFact(module, number, stack[-1] if stack else -1, 0, 0, (), ()))
        stack.append(index)
    return Trace("Net", "fake", True, "", (), (), tuple(modules), tuple(calls), (), (), (), ())


@given(runs())
def test_every_call_and_every_uncalled_module_has_exactly_one_row(trace: Trace) -> None:
    """Whatever the tree and the nesting, calls keep their order and no module is lost."""
    rows = row_order(record_of(trace))
    assert [call for _, call in rows if call >= 0] == list(range(len(trace.calls)))
    assert all(trace.calls[call].module == module for module, call in rows if call >= 0)
    called = {call.module for call in trace.calls}
    assert sorted(module for module, call in rows if call < 0) == [m for m in range(len(trace.modules)) if m not in called]
