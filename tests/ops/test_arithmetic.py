"""The arithmetic of the rules against torch on the meta device, over shapes that nobody picked."""

from typing import Any

import torch
import torch.nn.functional as F
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tb_shapeplugin.ops.reading import product
from tb_shapeplugin.ops.rules import RULES, gives, requires
from tb_shapeplugin.record.values import Opaque, OpCall, Operand, Value
from tests.ops.observed import blank, ids, observe

SIZES = st.integers(1, 4)
SHAPES = st.lists(SIZES, max_size=4).map(tuple)
QUICK = settings(max_examples=80, deadline=None)


def agrees(run: Any) -> bool:
    """Do torch and the rules agree on a call: on its shapes where it runs, on a clash where it doesn't? True where it ran."""
    seen = observe(run)
    clash = requires(seen.call)
    if seen.error is None:
        assert clash is None, (clash, seen.call)
        assert gives(seen.call)[0] == seen.shapes, seen.call
        return True
    assert clash is not None, (seen.error, seen.call)
    assert gives(seen.call), seen.call
    return False


@given(SHAPES, SHAPES)
@QUICK
def test_broadcasting_agrees_with_torch(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    """Elementwise ops of any two shapes."""
    agrees(lambda: blank(*a) + blank(*b))


@given(SHAPES, SHAPES)
@QUICK
def test_writing_in_place_agrees_with_torch(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    """In-place ops of any two shapes: what is written has to fit into what is there."""
    agrees(lambda: blank(*a).add_(blank(*b)))


@given(SHAPES, st.lists(st.integers(-1, 4).filter(bool), min_size=1, max_size=4).map(tuple))
@QUICK
def test_expanding_agrees_with_torch(shape: tuple[int, ...], target: tuple[int, ...]) -> None:
    """expand to any target, -1 included where it stands for a dim that is there."""
    assume(all(size != -1 for size in target[: max(0, len(target) - len(shape))]))
    seen = observe(lambda: blank(*shape).expand(target))
    assert (seen.error is None) == (requires(seen.call) is None)
    if seen.error is None:
        assert gives(seen.call)[0] == seen.shapes


@given(SHAPES, st.data())
@QUICK
def test_viewing_agrees_with_torch(shape: tuple[int, ...], data: st.DataObject) -> None:
    """view to any target with at most one -1; where it fails, each reading holds all elements or is the stated target.

    A reading has as many axes as are stated, or one less and the stated sizes but for that.
    """
    target = data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    if data.draw(st.booleans()):
        target[data.draw(st.integers(0, len(target) - 1))] = -1
    if not agrees(lambda: blank(*shape).view(target)):
        readings = gives(observe(lambda: blank(*shape).view(target)).call)
        assert 1 <= len(readings) <= 8
        shorter = [tuple(target[:at] + target[at + 1 :]) for at in range(len(target))]
        assert all(len(shapes[0]) == len(target) or shapes[0] in shorter for shapes in readings)
        stated = [[size for size, own in zip(shapes[0], target, strict=False) if own != -1] for shapes in readings]
        own = [size for size in target if size != -1]
        assert all(product(shapes[0]) == product(shape) or sizes == own for shapes, sizes in zip(readings, stated, strict=True))


@given(st.lists(SIZES, min_size=1, max_size=3).map(tuple), st.lists(SIZES, min_size=1, max_size=3).map(tuple))
@QUICK
def test_matrix_products_agree_with_torch(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    """matmul of any two tensors of one to three axes."""
    agrees(lambda: blank(*a) @ blank(*b))


@given(
    size=st.tuples(st.integers(1, 9), st.integers(1, 9)),
    channels=st.tuples(st.integers(1, 2), st.integers(1, 2)),
    kernel=st.tuples(st.integers(1, 4), st.integers(1, 4)),
    stride=st.integers(1, 3),
    padding=st.integers(0, 2),
    dilation=st.integers(1, 2),
)
@QUICK
def test_convolutions_agree_with_torch(
    size: tuple[int, int], channels: tuple[int, int], kernel: tuple[int, int], stride: int, padding: int, dilation: int
) -> None:
    """conv2d of any size, kernel, stride, padding and dilation, its channels right or wrong."""
    agrees(lambda: F.conv2d(blank(2, channels[0], *size), blank(3, channels[1], *kernel), None, stride, padding, dilation))


@given(size=st.integers(1, 12), kernel=st.integers(1, 4), stride=st.integers(1, 4), share=st.integers(0, 2), ceil=st.booleans())
@QUICK
def test_pools_agree_with_torch(size: int, kernel: int, stride: int, share: int, ceil: bool) -> None:
    """max_pool1d of any size, with and without a last partial window."""
    padding = min(share, kernel // 2)
    seen = observe(lambda: F.max_pool1d(blank(2, 3, size), kernel, stride, padding, ceil_mode=ceil))
    if seen.error is None:
        assert requires(seen.call) is None
        assert gives(seen.call)[0] == seen.shapes
    elif not ceil:
        assert requires(seen.call) is not None


@given(size=st.integers(1, 8), kernel=st.integers(1, 4), stride=st.integers(1, 3), padding=st.integers(0, 1), extra=st.integers(0, 1))
@QUICK
def test_transposed_convolutions_agree_with_torch(size: int, kernel: int, stride: int, padding: int, extra: int) -> None:
    """conv_transpose1d of any size that leaves something over."""
    assume((size - 1) * stride - 2 * padding + kernel + extra > 0 and extra < stride)
    agrees(lambda: F.conv_transpose1d(blank(2, 3, size), blank(3, 4, kernel), None, stride, padding, extra))


@given(st.lists(st.lists(st.integers(1, 3), min_size=2, max_size=3).map(tuple), min_size=1, max_size=3), st.integers(0, 1))
@QUICK
def test_joining_agrees_with_torch(shapes: list[tuple[int, ...]], dim: int) -> None:
    """cat of up to three tensors along either of the first axes."""
    agrees(lambda: torch.cat([blank(*shape) for shape in shapes], dim))


INDEX = st.one_of(st.integers(-2, 1), st.none(), st.just(...), st.builds(slice, st.integers(0, 2), st.integers(0, 3)), st.just("ids"))


@given(st.lists(st.integers(2, 4), min_size=1, max_size=4).map(tuple), st.lists(INDEX, min_size=1, max_size=4))
@QUICK
def test_brackets_agree_with_torch(shape: tuple[int, ...], index: list[Any]) -> None:
    """Ints, None, one ellipsis, slices and index tensors in any order."""
    assume(index.count(...) <= 1)
    agrees(lambda: blank(*shape)[tuple(ids(2) if entry == "ids" else entry for entry in index)])


SCALARS: st.SearchStrategy[Value] = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 5), st.floats(allow_nan=False), st.text(max_size=3), st.just(Opaque("slice", ":"))
)
OPERANDS = st.builds(
    Operand,
    id=st.integers(0, 3),
    shape=st.lists(st.integers(0, 3), max_size=4).map(tuple),
    dtype=st.sampled_from(["float32", "int64", "bool"]),
)
VALUES: st.SearchStrategy[Value] = st.one_of(OPERANDS, SCALARS, st.lists(st.one_of(OPERANDS, SCALARS), max_size=3).map(tuple))
NAMES = st.sampled_from(["input", "weight", "dim", "size", "stride", "padding", "target", "num_groups", "k", "hx", "input_size"])


@given(st.sampled_from(sorted(RULES)), st.lists(VALUES, max_size=5).map(tuple), st.dictionaries(NAMES, VALUES, max_size=3))
@settings(max_examples=1500, deadline=None)
def test_no_call_however_odd_makes_a_rule_raise(name: str, args: tuple[Value, ...], kwargs: dict[str, Value]) -> None:
    """A model that fails may call anything with anything: the rules say something or nothing, and never raise."""
    call = OpCall(f"torch.{name}", args, kwargs)
    clash = requires(call)
    assert clash is None or clash.words
    assert len(gives(call)) <= 8
