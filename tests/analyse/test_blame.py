"""Who introduced a number: chains of ops, and what is said of how it came about."""

from dataclasses import replace

import pytest

from tb_shapeplugin.analyse.mismatches.registered import clash_of
from tb_shapeplugin.analyse.origins.blame import origin
from tb_shapeplugin.analyse.origins.passing import Dim, step_back
from tb_shapeplugin.analyse.origins.recalled import operand_of, recalled
from tb_shapeplugin.analyse.origins.window_sizes import transposed_text, window_arithmetic, window_text
from tb_shapeplugin.record.finding import Origin
from tb_shapeplugin.record.trace import Failure
from tb_shapeplugin.record.values import Opaque, OpCall, Operand, Shape, Value
from tests.traces import TraceBuilder

F = "torch.nn.functional."
T = "torch.Tensor."


class Chain:
    """A net of one module whose ops follow one another, and the call that fails at their end."""

    def __init__(self) -> None:
        self.build = TraceBuilder()
        self.net = self.build.module("", "Net")

    def fails(self, name: str, *args: Value | list[int]) -> tuple[Origin | None, str]:
        """What is said of the origin when that call, with tensors given as their ids in a list, is the one that fails."""
        trace = self.build.trace()
        call = OpCall(name, tuple(operand_of(arg[0], trace) if isinstance(arg, list) else arg for arg in args))
        self.build.op(name, [operand.id for operand in call.operands()], failed=True)
        failed = Failure(len(self.build.ops) - 1, call, 0, "RuntimeError", "")
        trace = replace(self.build.trace(), failures=(failed,))
        return origin(trace, failed, clash_of(failed, trace))

    def op(self, name: str, inputs: list[int], shape: Shape, /, **arguments: str) -> list[int]:
        """One op of the chain."""
        written = tuple((key, value) for key, value in arguments.items())
        return self.build.op(name, inputs, shape, arguments=written, line=len(self.build.ops) + 1)


def test_a_flatten_makes_its_product() -> None:
    """The number that a guessed width meets."""
    chain = Chain()
    x = chain.build.input("x", (4, 6, 12, 12))
    h = chain.op("torch.flatten", [x], (4, 864), input="%0", start_dim="1")
    h = chain.op(F + "relu", h, (4, 864), input="%0")
    h = chain.op(F + "dropout", h, (4, 864), input="%0", p="0.5")
    weight = chain.build.parameter("fc1.weight", (120, 1176))
    found, why = chain.fails(F + "linear", h, [weight])
    assert why == "864 = 6·12·12"
    assert found is not None
    assert (found.op, found.op_index, found.line, found.shape) == ("torch.flatten", 0, 1, (4, 864))


def test_a_cat_makes_the_sum() -> None:
    """Two states of 24 make 48."""
    chain = Chain()
    a, b = chain.build.input("a", (3, 24)), chain.build.input("b", (3, 24))
    h = chain.op("torch.cat", [a, b], (3, 48), tensors="[%0, %1]", dim="1")
    found, why = chain.fails(F + "linear", h, [chain.build.parameter("fc.weight", (5, 24))])
    assert why == "48 = 24 + 24"
    assert found is not None and found.op == "torch.cat"


def test_a_weight_makes_its_features_and_names_its_layer() -> None:
    """The width comes from a declaration."""
    chain = Chain()
    x = chain.build.input("x", (3, 24))
    h = chain.op(F + "linear", [x, chain.build.parameter("enc.proj.weight", (48, 24))], (3, 48), input="%0", weight="%1")
    found, why = chain.fails(F + "linear", h, [chain.build.parameter("fc.weight", (5, 32))])
    assert why == "48 is enc.proj's out_features"
    assert found is not None and found.op_index == 0


def test_maps_are_followed_back_to_where_a_remainder_was_dropped() -> None:
    """An odd size halved and doubled is one short: both steps are told, the origin is the one that dropped a row."""
    chain = Chain()
    skip = chain.build.input("x", (1, 3, 11, 11))
    h = chain.op(F + "max_pool2d", [skip], (1, 3, 5, 5), input="%0", kernel_size="2", stride="None", padding="0")
    h = chain.op(
        F + "conv2d",
        [*h, chain.build.parameter("mid.weight", (3, 3, 3, 3))],
        (1, 3, 5, 5),
        input="%0",
        weight="%1",
        stride="1",
        padding="1",
    )
    up = chain.build.parameter("up.weight", (3, 3, 2, 2))
    h = chain.op(F + "conv_transpose2d", [*h, up], (1, 3, 10, 10), input="%0", weight="%1", stride="(2, 2)", padding="(0, 0)")
    trace = chain.build.trace()
    pieces = (operand_of(skip, trace), operand_of(h[0], trace))
    found, why = chain.fails("torch.cat", pieces, 1)
    assert why == "10 = 2·5, 5 = ⌊11/2⌋; the sides of x should be a multiple of 2, they are 11×11"
    assert found is not None and found.op == F + "max_pool2d"


def test_a_number_that_only_passes_through_was_brought_along_by_the_input() -> None:
    """Through permute, unsqueeze, slicing and an addition, back to the input."""
    chain = Chain()
    x = chain.build.input("x", (4, 36, 7))
    h = chain.op(T + "permute", [x], (4, 7, 36), self="%0", dim="(0, 2, 1)")
    h = chain.op(T + "unsqueeze", h, (4, 1, 7, 36), input="%0", dim="1")
    h = chain.op(T + "__getitem__", h, (4, 7, 36), self="%0", key="(:, 0)")
    h = chain.op(T + "add", [*h, chain.build.parameter("bias", (1,))], (4, 7, 36), input="%0", other="%1")
    found, why = chain.fails(F + "linear", h, [chain.build.parameter("fc.weight", (5, 32))])
    assert why == "input x has 36 at dim 1"
    assert found is not None and (found.op_index, found.tensor, found.shape) == (-1, x, (4, 36, 7))


def test_of_two_equal_sides_the_computed_one_is_followed() -> None:
    """The target of a loss is given; what the model made of its input is what has to be explained."""
    chain = Chain()
    x, target = chain.build.input("x", (4, 1, 5, 5)), chain.build.input("target", (4,))
    h = chain.op(T + "view", [x], (100,), self="%0", shape="(-1,)")
    found, why = chain.fails(F + "binary_cross_entropy", h, [target])
    assert why == "100 = batch 4 × 5·5"
    assert found is not None and found.op == T + "view"


def test_a_wrong_number_of_axes_comes_from_where_they_changed() -> None:
    """The last op that changed the number of axes."""
    chain = Chain()
    x = chain.build.input("x", (4, 3, 8, 8))
    h = chain.op(T + "unsqueeze", [x], (1, 4, 3, 8, 8), input="%0", dim="0")
    h = chain.op(F + "relu", h, (1, 4, 3, 8, 8), input="%0")
    found, why = chain.fails(F + "conv2d", h, [chain.build.parameter("w", (6, 3, 3, 3))])
    assert why == "unsqueeze gives 5 axes, was given 4"
    assert found is not None and found.op_index == 0


def test_a_dtype_comes_from_the_input_that_has_it() -> None:
    """float64 handed on by every op."""
    chain = Chain()
    x = chain.build.input("x", (3, 20), "float64")
    h = chain.build.op(F + "relu", [x], (3, 20), dtype="float64")
    found, why = chain.fails(F + "linear", h, [chain.build.parameter("w", (4, 20))])
    assert why == "input x is float64, as numpy's arrays of floats are"
    assert found is not None and found.tensor == x


def test_a_count_of_elements_is_told_by_its_factors() -> None:
    """view_numel without a single guilty dim names the op that made so many elements."""
    chain = Chain()
    x = chain.build.input("x", (5, 1, 6, 6))
    weight = chain.build.parameter("conv.weight", (4, 1, 3, 3))
    h = chain.op(F + "conv2d", [x, weight], (5, 4, 6, 6), input="%0", weight="%1", padding="1")
    h = chain.op(F + "relu", h, (5, 4, 6, 6), input="%0")
    found, why = chain.fails(T + "view", h, -1, 1152)
    assert why == "720 = batch 5 × 4·6·6; 1152 = 8 × 4·6·6 would put 8 samples into one row"
    assert found is not None and found.op == F + "conv2d"


def test_nothing_is_claimed_where_no_rule_knows_the_failure() -> None:
    """No clash, no origin."""
    chain = Chain()
    x = chain.build.input("x", (5,))
    assert chain.fails("torch.nobody_knows", [x]) == (None, "")


@pytest.mark.parametrize(
    ("before", "after", "dim", "source", "why"),
    [
        ((4, 6, 12, 12), (4, 864), 1, 3, "864 = 6·12·12"),
        ((4, 6, 12, 12), (4, 864), 0, 0, ""),
        ((2, 50, 768), (2, 50, 12, 64), 3, 2, "64 = 768/12"),
        ((2, 50, 768), (2, 50, 12, 64), 1, 1, ""),
        ((16, 10, 1, 1), (16, 10), 1, 1, ""),
        ((2, 3, 4), (6, 2, 2), 0, 1, "6 = 2·3"),
        ((7,), (1, 7), 1, 0, ""),
        ((6,), (6, 1), 1, None, "1 is what view gives"),
    ],
)
def test_a_reshape_joins_splits_or_keeps_runs_of_axes(before: Shape, after: Shape, dim: int, source: int | None, why: str) -> None:
    """Each dim of the output comes from the run of axes that holds the same elements."""
    build = TraceBuilder()
    x = build.input("x", before)
    (y,) = build.op(T + "view", [x], after)
    step = step_back(build.trace(), 0, Dim(y, dim))
    assert (step.source.dim if step.source else None, step.why) == (source, why)


@pytest.mark.parametrize(("size", "extent", "stride", "padding"), [(28, 5, 1, 0), (11, 2, 2, 0), (30, 3, 2, 1), (8, 4, 4, 0), (9, 3, 1, 1)])
def test_the_arithmetic_of_windows_is_true(size: int, extent: int, stride: int, padding: int) -> None:
    """What is printed, computed, is the size that the window gives."""
    text, exact = window_text(size, extent, stride, padding)
    value = eval(text.replace("⌊", "int(").replace("⌋", ")").replace("·", "*").replace("−", "-"))
    assert value == (size + 2 * padding - extent) // stride + 1
    assert exact == ("⌊" not in text)


@pytest.mark.parametrize(
    ("size", "extent", "stride", "padding", "extra"), [(5, 2, 2, 0, 0), (18, 4, 2, 1, 0), (18, 4, 2, 1, 1), (7, 3, 1, 0, 0)]
)
def test_the_arithmetic_of_transposed_windows_is_true(size: int, extent: int, stride: int, padding: int, extra: int) -> None:
    """The same for transposed convolutions."""
    text = transposed_text(size, extent, stride, padding, extra)
    value = eval(text.replace("·", "*").replace("−", "-"))
    assert value == (size - 1) * stride - 2 * padding + extent + extra


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("max_pool2d", (2,), "12/2"),
        ("max_pool2d", (3, 2), "⌊(12 − 3)/2⌋ + 1"),
        ("lp_pool2d", (2.0, 3), "12/3"),
        ("avg_pool2d", (5, None, 0, True), "⌈12/5⌉"),
        ("avg_pool2d", (3, 2, 0, True), None),  # a last, partial window: no formula that people write
        ("adaptive_avg_pool2d", (5,), None),
        ("fractional_max_pool2d", (2, (5, 5)), None),
        ("max_unpool2d", (2,), None),
    ],
)
def test_the_arithmetic_of_a_pool_is_read_off_its_call(name: str, arguments: tuple[Value, ...], told: str | None) -> None:
    """Where a window's size has a formula, that; a random or an adaptive window has none."""
    call = OpCall(F + name, (Operand(0, (2, 3, 12, 12), "float32"), *arguments))
    found = window_arithmetic(call, (2, 3, 12, 12), 2)
    assert (found and found[0]) == told


def test_literals_are_read_back_as_the_call_that_they_were() -> None:
    """Tensors, nested lists, slices, an ellipsis, names; what was cut off is left out."""
    build = TraceBuilder()
    a, b = build.input("a", (4, 3)), build.input("b", (4, 2))
    build.op("torch.cat", [a, b], (4, 5), arguments=(("tensors", "[%0, %1]"), ("dim", "-1")))
    build.op(T + "__getitem__", [a], (3,), arguments=(("self", "%0"), ("key", "(0, 1:, ...)")))
    build.op(T + "to", [a], (4, 3), arguments=(("self", "%0"), ("dtype", "torch.float16"), ("cut", "[1, 2, 3")))
    build.op("torch.functional.einsum", [a, b], (3, 2), arguments=(("equation", "'ij,ik->jk'"), ("1", "%0"), ("2", "%1")))
    cat, item, to, einsum = (recalled(op, build.trace()) for op in build.ops)
    first, second = Operand(a, (4, 3), "float32", kind="input", name="a"), Operand(b, (4, 2), "float32", kind="input", name="b")
    assert dict(cat.kwargs) == {"tensors": (first, second), "dim": -1}
    assert item.kwargs["index"] == (0, Opaque("slice", "1:"), Opaque("ellipsis", "..."))
    assert dict(to.kwargs) == {"input": first, "dtype": Opaque("name", "torch.float16")}
    assert einsum.args == ("ij,ik->jk", first, second)
