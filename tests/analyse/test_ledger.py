"""Columns say what the Trace says, things stored once are stored once, and figures add up."""

from math import prod

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tb_shapeplugin.analyse.ledger import record_of
from tb_shapeplugin.analyse.tree import marked_subtrees, subtree_sums
from tb_shapeplugin.record.record import MODULE_LAZY, OP_ASSUMED, OP_FAILED, TENSOR_ASSUMED, TENSOR_REQUIRES_GRAD, Record
from tb_shapeplugin.record.trace import ChildFact, ModuleFact, TensorFact, Trace
from tests.traces import TraceBuilder, guessed_width, guessed_width_finding


def test_totals_are_the_sum_of_numels_of_all_parameters() -> None:
    """Nothing is shared in this model, so its totals are plain sums over its parameters."""
    trace = guessed_width()
    parameters = [tensor for tensor in trace.tensors if tensor.kind == "parameter"]
    totals = record_of(trace).totals
    assert totals.params == totals.trainable_params == sum(prod(tensor.shape) for tensor in parameters) == 153_260
    assert totals.param_bytes == 4 * 153_260
    assert totals.buffer_bytes == 0
    assert totals.input_bytes == 4 * 28 * 28 * 4


def test_output_bytes_are_unknown_after_a_failure_and_known_without() -> None:
    """What a failed run would have returned is assumed, and an assumption is no figure."""
    assert record_of(guessed_width()).totals.output_bytes is None
    assert record_of(guessed_width(broken=False)).totals.output_bytes == 4 * 10 * 4


def test_equal_traces_give_equal_records() -> None:
    """A record is content-addressed: the same run twice must give the same one."""
    assert record_of(guessed_width()) == record_of(guessed_width())
    assert record_of(guessed_width()) != record_of(guessed_width(broken=False))


def test_what_is_said_often_is_stored_once() -> None:
    """Strings, shapes, argument lists and child lists hold no entry twice, and begin with the empty one."""
    build = TraceBuilder()
    x = build.input("x", (4, 3))
    child = ChildFact("aten.relu.default", (((4, 3), "float32"), ((4,), "int64")))
    for _ in range(3):
        (x,) = build.op("torch.relu", [x], (4, 3), arguments=(("inplace", "False"),), children=(child, child))
    record = record_of(build.trace([x]))
    assert record.strings[0] == "" and len(set(record.strings)) == len(record.strings)
    assert record.shapes == ((4, 3), (4,))
    assert list(record.argument_lists) == [(), tuple(map(record.strings.index, ("inplace", "False")))]
    one = (record.strings.index("aten.relu.default"), 2, 0, record.strings.index("float32"), 1, record.strings.index("int64"))
    assert list(record.child_lists) == [(), one + one]
    assert record.ops.arguments.tolist() == record.ops.children.tolist() == [1, 1, 1]


def test_columns_hold_the_facts() -> None:
    """Every op, call and tensor of the trace stands in its columns at its own index."""
    trace = guessed_width()
    record = record_of(trace, (guessed_width_finding(),))
    assert [record.strings[name] for name in record.ops.name] == [op.name for op in trace.ops]
    assert list(record.ops.inputs) == [op.inputs for op in trace.ops]
    assert list(record.ops.outputs) == [op.outputs for op in trace.ops]
    assert [record.shapes[shape] for shape in record.tensors.shape] == [tensor.shape for tensor in trace.tensors]
    assert [(record.strings[s], line) for s, line in zip(record.sources.file, record.sources.line, strict=True)] == [
        (source.file, source.line) for source in trace.sources
    ]
    assert record.calls.outcome.tolist() == [0, 0, 0, 0, 1, 2, 2]
    assert [op.failed for op in trace.ops] == (record.ops.flags & OP_FAILED > 0).tolist()
    assert [op.assumed for op in trace.ops] == (record.ops.flags & OP_ASSUMED > 0).tolist()
    assert [tensor.assumed for tensor in trace.tensors] == (record.tensors.flags & TENSOR_ASSUMED > 0).tolist()
    assert [tensor.requires_grad for tensor in trace.tensors] == (record.tensors.flags & TENSOR_REQUIRES_GRAD > 0).tolist()
    assert record.findings == (guessed_width_finding(),)


def test_storages_are_numbered_as_they_are_met() -> None:
    """Addresses and ids of a run don't reach the record; views keep the number of their base."""
    build = TraceBuilder()
    tensors = [build.tensor((2,), storage=storage) for storage in (90, 7, 90, 12)]
    assert record_of(build.trace(tensors)).tensors.storage.tolist() == [0, 1, 0, 2]


def test_a_tied_parameter_counts_once_in_every_subtree_that_holds_it() -> None:
    """The root holds the embedding's weight and the head's, which are one Parameter object."""
    build = TraceBuilder()
    weight, bias = build.parameter("wte.weight", (100, 8)), build.parameter("head.bias", (100,))
    build.module("", "Net")
    build.module("wte", "Embedding", parameters=[weight])
    build.module("head", "Linear", parameters=[weight, bias])
    record = record_of(build.trace())
    assert record.modules.params.tolist() == [900, 800, 900]
    assert record.modules.param_bytes.tolist() == [3600, 3200, 3600]
    assert record.totals.params == 900


def test_two_parameters_of_one_storage_count_twice_and_weigh_once() -> None:
    """Distinct Parameter objects are counted, distinct storages are weighed: the larger view's bytes."""
    build = TraceBuilder()
    whole = build.parameter("whole", (10, 4), storage=5)
    part = build.parameter("part", (4, 4), storage=5)
    build.module("", "Net", parameters=[whole, part])
    record = record_of(build.trace())
    assert record.totals.params == 56
    assert record.totals.param_bytes == 160


def test_bytes_follow_the_real_dtype() -> None:
    """Half precision weighs half, and the frozen part isn't trainable."""
    build = TraceBuilder()
    build.module("", "Net")
    build.module("half", "Linear", parameters=[build.parameter("half.weight", (8, 8), "bfloat16")], frozen=True)
    build.module("norm", "BatchNorm1d", buffers=[build.tensor((8,), kind="buffer"), build.tensor((), "int64", kind="buffer")])
    record = record_of(build.trace())
    assert (record.totals.params, record.totals.trainable_params) == (64, 0)
    assert (record.totals.param_bytes, record.totals.buffer_bytes) == (128, 40)


def test_a_lazy_module_makes_all_above_it_unknown_and_nothing_else() -> None:
    """Unknown is -1 in a column and None in the totals, never 0."""
    build = TraceBuilder()
    build.module("", "Net")
    build.module("known", "Linear", parameters=[build.parameter("known.weight", (2, 3))])
    build.module("head", "Sequential")
    build.module("head.0", "LazyLinear", lazy=True)
    record = record_of(build.trace())
    for column in (record.modules.params, record.modules.trainable_params, record.modules.param_bytes):
        assert column[0] == column[2] == column[3] == -1
        assert column[1] > 0
    assert record.modules.flags.tolist() == [0, 0, 0, MODULE_LAZY]
    assert (record.totals.params, record.totals.param_bytes, record.totals.buffer_bytes) == (None, None, None)


def test_a_dtype_of_unknown_size_leaves_counts_known_and_bytes_unknown() -> None:
    """Elements can be counted where their bytes can't."""
    build = TraceBuilder()
    build.module("", "Net", parameters=[build.parameter("w", (3,), "float4_of_tomorrow")])
    build.input("x", (3,), "float4_of_tomorrow")
    totals = record_of(build.trace()).totals
    assert (totals.params, totals.param_bytes, totals.input_bytes) == (3, None, None)


def test_an_input_given_twice_weighs_once() -> None:
    """Totals of inputs are bytes of distinct storages."""
    build = TraceBuilder()
    x = build.input("x", (4, 3))
    build.inputs.append(build.inputs[0])
    assert record_of(build.trace([x, x])).totals.input_bytes == 48
    assert record_of(build.trace([x, x])).totals.output_bytes == 48


def test_a_run_without_modules_has_figures_of_zero() -> None:
    """A plain function is a model too."""
    build = TraceBuilder()
    outputs = build.op("torch.relu", [build.input("x", (2,))], (2,))
    record = record_of(build.trace(outputs))
    assert record.totals.params == record.totals.param_bytes == 0
    assert len(record.modules) == 0 and record.ops.call.tolist() == [-1]


@st.composite
def trees(draw: st.DrawFn) -> Trace:
    """Trees of up to 12 modules whose parameters are drawn from a pool of 6 tensors of 4 storages."""
    shapes = draw(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=6, max_size=6))
    storages = draw(st.lists(st.integers(0, 3), min_size=6, max_size=6))
    dtypes = draw(st.lists(st.sampled_from(("float32", "bfloat16", "int8")), min_size=6, max_size=6))
    tensors = tuple(TensorFact(s, d, "cpu", storage, -1, "parameter") for s, d, storage in zip(shapes, dtypes, storages, strict=True))
    modules = []
    for index in range(draw(st.integers(1, 12))):
        parent = draw(st.integers(-1, index - 1))
        modules.append(ModuleFact(str(index), "M", parent, parameters=tuple(draw(st.lists(st.integers(0, 5), max_size=4)))))
    return Trace("Net", "fake", True, "", tensors, (), tuple(modules), (), (), (), (), ())


@given(trees())
def test_figures_of_any_tree_are_those_of_sets_of_parameters(trace: Trace) -> None:
    """Compared with the definition written out: walk each subtree, collect its distinct tensors and storages."""
    record = record_of(trace)
    item = {"float32": 4, "bfloat16": 2, "int8": 1}
    for index in range(len(trace.modules)):
        inside = {module for module in range(len(trace.modules)) if index in _up(trace, module)}
        held = {tensor for module in inside for tensor in trace.modules[module].parameters}
        assert record.modules.params[index] == sum(prod(trace.tensors[tensor].shape) for tensor in held)
        storages = {trace.tensors[tensor].storage for tensor in held}
        sizes = {tensor: prod(trace.tensors[tensor].shape) * item[trace.tensors[tensor].dtype] for tensor in held}
        heaviest = [max(size for tensor, size in sizes.items() if trace.tensors[tensor].storage == storage) for storage in storages]
        assert record.modules.param_bytes[index] == sum(heaviest)


def _up(trace: Trace, module: int) -> set[int]:
    found = set()
    while module >= 0:
        found.add(module)
        module = trace.modules[module].parent
    return found


def test_a_big_trace_keeps_all_its_ops() -> None:
    """A hundred thousand ops: the columns are as long, and interned tables stay tiny."""
    build = TraceBuilder()
    (x,) = (build.input("x", (4, 16)),)
    child = (ChildFact("aten.relu.default", (((4, 16), "float32"),)),)
    for _ in range(100_000):
        (x,) = build.op("torch.relu", [x], (4, 16), children=child)
    record: Record = record_of(build.trace([x]))
    assert len(record.ops) == 100_000
    assert len(record.strings) < 20 and len(record.shapes) == 1 and len(record.child_lists) == 2
    assert np.array_equal(record.tensors.producer[1:], np.arange(100_000))


def test_a_subtree_sum_takes_the_largest_size_of_one_identity() -> None:
    """Two modules hold views of one storage; each counts its own view, what is above them the larger."""
    assert subtree_sums([-1, 0, 0], [(1, 7, 10), (2, 7, 4)]) == [10, 10, 4, 10]


def test_marks_rise_to_the_root() -> None:
    """Marked are the module itself and all above it, not its siblings."""
    assert marked_subtrees([-1, 0, 1, 1], [2]) == {0, 1, 2}
    assert marked_subtrees([-1, 0], []) == set()
