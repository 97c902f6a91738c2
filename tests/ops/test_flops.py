"""FLOPs of single ops: formulas against hand arithmetic and torch's own counter, and which ops are unknown rather than nothing."""

import re
import string
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from tb_shapeplugin.ops.aten_flops import counts_nothing, formula_of
from tb_shapeplugin.ops.flops_of_calls import function_flops
from tb_shapeplugin.record.values import Shape


def flops(name: str, arguments: Sequence[Any], *outputs: Shape) -> int | None:
    """What the formula of that op says."""
    formula = formula_of(name)
    assert formula is not None
    return formula(arguments, outputs)


WEIGHTS = [(32, 4), (32, 8), (32,), (32,)]
# Name: op, arguments, shapes of the outputs, multiply-accumulates by hand. Kernels of other devices, which no test here can run.
BY_HAND: dict[str, tuple[str, list[Any], list[Shape], int]] = {
    "the query's gradient": (
        "aten._scaled_dot_product_flash_attention_backward.default",
        [(2, 4, 10, 16), (2, 4, 10, 16), (2, 4, 20, 16), (2, 4, 20, 16)],
        [],
        5 * 2 * 4 * 10 * 20 * 16,
    ),
    "values of other features": (
        "aten._scaled_dot_product_efficient_attention.default",
        [(2, 4, 10, 16), (2, 4, 20, 16), (2, 4, 20, 24)],
        [],
        2 * 4 * 10 * 20 * (16 + 24),
    ),
    "few heads of keys": (
        "aten._scaled_dot_product_cudnn_attention.default",
        [(2, 8, 10, 16), (2, 2, 20, 16), (2, 2, 20, 16)],
        [],
        2 * 2 * 8 * 10 * 20 * 16,
    ),
    "attention with a bias, positions first": (
        "aten._efficient_attention_forward.default",
        [(2, 10, 4, 16), (2, 20, 4, 16), (2, 20, 4, 16), (2, 4, 10, 20), None, None],
        [],
        2 * 2 * 4 * 10 * 20 * 16,
    ),
    "fused convolution and activation": (
        "aten.cudnn_convolution_relu.default",
        [(1, 3, 10, 10), (4, 3, 3, 3), None, [1, 1], [0, 0], [1, 1], 1],
        [(1, 4, 8, 8)],
        64 * 4 * 27,
    ),
    "only the weight's gradient": (
        "aten.convolution_backward.default",
        [(1, 4, 8), (1, 3, 10), (4, 3, 3), None, [1], [0], [1], False, [0], 1, [False, True, False]],
        [],
        8 * 4 * 9,
    ),
    "only the bias's gradient": (
        "aten.convolution_backward.default",
        [(1, 4, 8), (1, 3, 10), (4, 3, 3), None, [1], [0], [1], False, [0], 1, [False, False, True]],
        [],
        0,
    ),
    "grouped and transposed backward": (
        "aten.convolution_backward.default",
        [(2, 4, 12), (2, 8, 10), (8, 2, 3), None, [1], [0], [1], True, [0], 2, [True, True, True]],
        [],
        2 * 2 * 10 * 8 * 2 * 3,
    ),
    "time first, backward": ("aten.conv_tbc_backward.default", [(8, 1, 4), (10, 1, 3), (3, 3, 4), (4,), 0], [], 2 * 8 * 9 * 4),
    "cuDNN's layers of weights apart": ("aten._cudnn_rnn.default", [(7, 2, 4), WEIGHTS, 4], [], 7 * 2 * 32 * 12),
    "cuDNN's layers backward": ("aten._cudnn_rnn_backward.default", [(7, 2, 4), WEIGHTS, 4], [], 2 * 7 * 2 * 32 * 12),
    "packed steps": ("aten.lstm.data", [(8, 4), (5,), [(1, 2, 8), (1, 2, 8)], WEIGHTS], [], 8 * 32 * 12),
    "experts' rows": ("aten._grouped_mm.default", [(10, 16), (3, 16, 8), (3,)], [(10, 8)], 10 * 16 * 8),
    "experts' weights' gradient": ("aten._grouped_mm.default", [(16, 10), (10, 8), (3,)], [(3, 16, 8)], 10 * 16 * 8),
    "integers": ("aten._int_mm.default", [(3, 4), (4, 5)], [(3, 5)], 60),
    "scaled": ("aten._scaled_mm.default", [(3, 4), (4, 5), (), ()], [(3, 5)], 60),
    "quantised": ("quantized.linear_dynamic.default", [(2, 3, 4), "packed"], [(2, 3, 5)], 2 * 3 * 4 * 5),
    "of single rows": ("aten.tensordot.default", [(3, 1), (4, 5), [1], [0]], [(3, 5)], 3 * 5),
    "distances of four rows among themselves": ("aten._pdist_forward.default", [(4, 8), 2.0], [(6,)], 6 * 8),
    "deformed convolution": ("torchvision.deform_conv2d.default", [(1, 3, 8, 8), (4, 3, 3, 3), (1, 18, 6, 6)], [(1, 4, 6, 6)], 36 * 4 * 27),
    "an empty batch": ("aten.bmm.default", [(0, 2, 3), (0, 3, 4)], [(0, 2, 4)], 0),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_an_op_takes_what_its_formula_says(name: str) -> None:
    """Twice the multiply-accumulates."""
    op, arguments, outputs, macs = BY_HAND[name]
    assert flops(op, arguments, *outputs) == 2 * macs


NOT_TOLD: dict[str, tuple[str, list[Any]]] = {
    "several lengths in one": ("aten._flash_attention_forward.default", [(30, 4, 16), (30, 4, 16), (30, 4, 16), (4,), (4,), 9, 9]),
    "several lengths, batched": (
        "aten._efficient_attention_forward.default",
        [(1, 30, 4, 16), (1, 30, 4, 16), (1, 30, 4, 16), None, (4,), (4,)],
    ),
    "nested input of an encoder layer": (
        "aten._transformer_encoder_layer_fwd.default",
        [(2, 0, 8), 8, 2, (24, 8), (24,), (8, 8), (8,), True, False, 1e-5, *[(8,)] * 4, (32, 8), (32,), (8, 32), (8,)],
    ),
    "cuDNN's layers of weights in one": ("aten._cudnn_rnn.default", [(7, 2, 4), [(448,)], 4]),
    "distances that aren't sums of squares": ("aten.cdist.default", [(3, 8), (5, 8), 1.0]),
    "distances among rows that aren't sums of squares": ("aten.pdist.default", [(3, 8), 1.0]),
    "einsum of three, whose order is unknown": ("aten.einsum.default", ["ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)]]),
}


@pytest.mark.parametrize("name", NOT_TOLD)
def test_what_shapes_dont_tell_is_none(name: str) -> None:
    """Rather than a number that may be wrong."""
    op, arguments = NOT_TOLD[name]
    assert flops(op, arguments, (3, 5)) is None


def test_recurrent_functions_are_told_by_the_shapes_of_their_weights() -> None:
    """Those with two axes; states have three, sizes of packed batches and biases one. Other functions are the sums of their parts."""
    states = [(1, 2, 8), (1, 2, 8)]
    assert function_flops("torch.lstm", [(7, 2, 4), *states, *WEIGHTS]) == 2 * 7 * 2 * 32 * 12
    assert function_flops("torch.lstm", [(8, 4), (5,), *states, *WEIGHTS]) == 2 * 8 * 32 * 12
    assert function_flops("torch.lstm", []) is None
    assert function_flops("torch.nn.functional.linear", [(3, 4), (5, 4)]) is None


NOTHING = ("aten.relu.default", "aten.detach.default", "aten.linalg_vector_norm.default", "prims.convert_element_type.default")
HARMLESS = (
    "c10d.allreduce_.default",
    "_c10d_functional.all_gather_into_tensor.default",
    "quantized.add_relu.default",
    "torchvision.nms.default",
    "torchvision._roi_align_backward.default",
)
UNKNOWN = (
    "aten._fft_r2c.default",
    "aten.linalg_inv_ex.default",
    "aten.triangular_solve.default",
    "aten.det.default",
    "prims.fft_r2c.default",
)
OF_OTHERS = (
    "mylib.attend.default",
    "quantized.conv2d.new",
    "quantized.quantized_lstm_cell_dynamic.default",
    "aten._flash_attention_backward.default",
    "aten._pdist_backward.default",
    "torchvision._deform_conv2d_backward.default",
)


@pytest.mark.parametrize("name", [*NOTHING, *HARMLESS])
def test_elementwise_ops_and_collectives_count_nothing(name: str) -> None:
    """They have no formula, and none is missing."""
    assert formula_of(name) is None and counts_nothing(name)


@pytest.mark.parametrize("name", [*UNKNOWN, *OF_OTHERS])
def test_transforms_decompositions_and_ops_of_others_are_unknown(name: str) -> None:
    """They have no formula, and one is missing."""
    assert formula_of(name) is None and not counts_nothing(name)


# Words within names of ops that multiply and accumulate, and what bears such a word without doing so.
_MULTIPLIES = re.compile(
    r"(?:^|_)(?:\w*mm|\w*mv|v?dot|matmul|linear|conv\w*|attention|\w*rnn\w*|lstm|gru|bilinear|trilinear|einsum|tensordot|inner"
    r"|head|encoder|solve|svd|qr|inv|det|fft|stft)(?:_|$)"
)
_ONLY_BY_NAME = re.compile(
    r"upsample|interpolate|fused_(?:lstm|gru)_cell|differentiable_(?:lstm|gru)_cell|flatten_weight|flatten_dense|fftshift|fftfreq|pack|quantize_"
    r"|convert|reorder|thnn_fused|i?gamma|vecdot|resolve|comm|dropout|renorm|check_errors|softmax|scale_"
)


def test_no_op_of_torch_that_multiplies_counts_as_nothing() -> None:
    """Also none that the next torch brings: it has to get a formula, or a place among the unknown."""
    ops = {
        name.replace("::", ".", 1).partition(".")[2].split(".")[0]
        for name in torch._C._dispatch_get_all_op_names()
        if name.startswith("aten::")
    }
    multiplying = {op for op in ops if _MULTIPLIES.search(op) and not _ONLY_BY_NAME.search(op)}
    assert {"mm", "addmm_", "conv2d", "einsum", "_scaled_dot_product_attention_math", "linalg_solve", "_fft_c2c"} <= multiplying
    assert {op for op in multiplying if formula_of(f"aten.{op}") is None and counts_nothing(f"aten.{op}")} == set()


SIZE = st.integers(1, 5)


def counted(function: Callable[..., Any], *args: Any) -> tuple[int, tuple[Shape, ...]]:
    """What torch's counter says of it, and the shapes of what it gives."""
    with FlopCounterMode(display=False) as counter:
        result = function(*args)
    results = result if isinstance(result, tuple) else (result,)
    return counter.get_total_flops(), tuple(tuple(tensor.shape) for tensor in results if tensor is not None)


def meta(*shape: int) -> torch.Tensor:
    """A tensor of that shape, without contents."""
    return torch.empty(shape, device="meta")


@settings(max_examples=60, deadline=None)
@given(m=SIZE, k=SIZE, n=SIZE, batch=SIZE)
def test_any_product_is_counted_as_torch_counts_it(m: int, k: int, n: int, batch: int) -> None:
    """Plain, added and in batches."""
    calls: tuple[tuple[str, tuple[Shape, ...]], ...] = (
        ("mm", ((m, k), (k, n))),
        ("addmm", ((n,), (m, k), (k, n))),
        ("bmm", ((batch, m, k), (batch, k, n))),
        ("baddbmm", ((batch, m, n), (batch, m, k), (batch, k, n))),
    )
    for name, operands in calls:
        expected, outputs = counted(getattr(torch.ops.aten, name), *(meta(*shape) for shape in operands))
        assert flops(f"aten.{name}.default", operands, *outputs) == expected > 0


@settings(max_examples=60, deadline=None)
@given(
    batch=SIZE,
    channels=SIZE,
    filters=SIZE,
    kernel=st.integers(1, 3),
    side=st.integers(5, 8),
    stride=st.integers(1, 2),
    transposed=st.booleans(),
)
def test_any_convolution_is_counted_as_torch_counts_it(
    batch: int, channels: int, filters: int, kernel: int, side: int, stride: int, transposed: bool
) -> None:
    """Forward and backward, without groups, of which torch counts too many in the backward."""
    shapes = [(batch, channels, side), (channels, filters, kernel) if transposed else (filters, channels, kernel)]
    how = [[stride], [0], [1], transposed, [0], 1]
    expected, outputs = counted(torch.ops.aten.convolution.default, *(meta(*shape) for shape in shapes), None, *how)
    assert flops("aten.convolution.default", [*shapes, None, *how], *outputs) == expected > 0
    for wanted in ([True, True, False], [True, False, False], [False, True, False]):
        given_back = [outputs[0], *shapes]
        expected, _ = counted(torch.ops.aten.convolution_backward.default, *(meta(*shape) for shape in given_back), None, *how, wanted)
        assert flops("aten.convolution_backward.default", [*given_back, None, *how, wanted]) == expected > 0


@st.composite
def einsums(draw: st.DrawFn) -> tuple[str, list[Shape]]:
    """An equation of two operands, some of whose axes are 1 long or spread, and their shapes."""
    sizes = {letter: draw(SIZE) for letter in string.ascii_lowercase[:5]}
    dots = draw(st.lists(SIZE, max_size=2))
    terms, shapes = [], []
    for _ in range(2):
        letters = draw(st.lists(st.sampled_from(sorted(sizes)), unique=True, max_size=4))
        spread = draw(st.booleans())
        terms.append(("..." if spread else "") + "".join(letters))
        lead = [draw(st.sampled_from([1, size])) for size in dots] if spread else []
        shapes.append((*lead, *(draw(st.sampled_from([1, sizes[letter]])) for letter in letters)))
    equation = ",".join(terms)
    if draw(st.booleans()):
        return equation, shapes
    kept = draw(st.lists(st.sampled_from(sorted(set(equation) - {",", "."}) or [""]), unique=True))
    return equation + "->" + ("..." if "..." in equation and draw(st.booleans()) else "") + "".join(kept), shapes


@settings(max_examples=300, deadline=None)
@given(drawn=einsums())
def test_any_einsum_is_counted_as_the_product_that_torch_makes_of_it(drawn: tuple[str, list[Shape]]) -> None:
    """With and without an output, with axes that are spread, summed before, or only 1 long."""
    equation, shapes = drawn
    expected, outputs = counted(torch.einsum, equation, *(meta(*shape) for shape in shapes))
    assert flops("aten.einsum.default", [equation, shapes], *outputs) == expected
