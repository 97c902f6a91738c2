"""FLOPs of products of vectors and matrices: each number of the result is a sum of as many products as the contracted axis is long."""

from collections.abc import Sequence
from math import prod

from tb_shapeplugin.ops.flops import FORMULAS, Arguments, multiply_accumulates
from tb_shapeplugin.record.values import Shape


@FORMULAS.register(
    *("aten.mm", "aten.bmm", "aten.matmul", "aten.linear", "aten.mkldnn_linear", "mkldnn._linear_pointwise", "mkl._mkl_linear"),
    *("aten.inner", "aten.linalg_matmul", "aten._int_mm", "aten._scaled_mm", "aten._scaled_mm_v2", "aten._mixed_dtypes_linear"),
    *("aten._weight_int8pack_mm", "aten._weight_int4pack_mm", "aten._weight_int4pack_mm_for_cpu", "aten._dyn_quant_matmul_4bit"),
    *("aten._weight_int4pack_mm_with_scales_and_zeros", "aten._wrapped_quantized_linear_prepacked"),
    *(f"aten.fbgemm_linear_{kind}_weight{form}" for kind in ("fp16", "int8") for form in ("", "_fp32_activation")),
    *(
        "quantized.linear",
        "quantized.linear_relu",
        "quantized.linear_dynamic",
        "quantized.linear_relu_dynamic",
        "quantized.linear_dynamic_fp16",
    ),
)
def product(args: Arguments, outputs: Sequence[Shape]) -> int:
    """Of matrices, whose first operand has the contracted axis last.

    Example:
        >>> product([(2, 3), (3, 4)], [(2, 4)])
        48
    """
    return multiply_accumulates(prod(outputs[0]), args[0][-1])


@FORMULAS.register("aten._grouped_mm", "aten._scaled_grouped_mm", "aten._scaled_grouped_mm_v2")
def grouped_product(args: Arguments, outputs: Sequence[Shape]) -> int | None:
    """Of matrices in groups of rows, as mixtures of experts multiply; two plain matrices share out the contracted axis instead.

    Example:
        >>> grouped_product([(3, 10), (10, 4)], [(5, 3, 4)])
        240
    """
    first, second = args[:2]
    return multiply_accumulates(prod(first), second[-1]) if len(first) == len(second) == 2 else product(args, outputs)


@FORMULAS.register("aten.addmm", "aten.baddbmm", "aten._addmm_activation", "aten.addmv", "aten.addmm_", "aten.baddbmm_", "aten.addmv_")
def added_product(args: Arguments, outputs: Sequence[Shape]) -> int:
    """Of matrices, added to a first argument, which counts nothing.

    Example:
        >>> added_product([(4,), (2, 3), (3, 4)], [(2, 4)])
        48
    """
    return multiply_accumulates(prod(outputs[0]), args[1][-1])


@FORMULAS.register("aten.addbmm", "aten.addbmm_")
def summed_products(args: Arguments, outputs: Sequence[Shape]) -> int:
    """Of batches of matrices, summed over the batch.

    Example:
        >>> summed_products([(2, 4), (5, 2, 3), (5, 3, 4)], [(2, 4)])
        240
    """
    return multiply_accumulates(prod(outputs[0]), args[1][0], args[1][-1])


@FORMULAS.register("aten.mv", "aten.dot", "aten.vdot")
def product_with_vector(args: Arguments, _outputs: Sequence[Shape]) -> int:
    """Of a matrix or a vector with a vector.

    Example:
        >>> product_with_vector([(2, 3), (3,)], [(2,)])
        12
    """
    return multiply_accumulates(prod(args[0]))


@FORMULAS.register("aten._trilinear")
def trilinear(args: Arguments, _outputs: Sequence[Shape]) -> int:
    """Of three tensors whose axes are first aligned, as ``bilinear`` runs it.

    Args: three operands, and of each the axes that it gets inserted.

    Example:
        >>> trilinear([(5, 2), (4, 2, 3), (5, 3), [1, 3], [0], [1, 2], [2, 3]], [(5, 4)])
        240
    """
    aligned = []
    for shape, inserted in zip(args[:3], args[3:6], strict=True):
        sizes = list(shape)
        for axis in sorted(inserted):
            sizes.insert(axis, 1)
        aligned.append(sizes)
    return multiply_accumulates(*(max(sizes) for sizes in zip(*aligned, strict=True)))


@FORMULAS.register("aten._cdist_forward", "aten.cdist", "aten._euclidean_dist")
def distances(args: Arguments, outputs: Sequence[Shape]) -> int | None:
    """Of all pairs of rows, where they are sums of squares; None for other norms, which aren't.

    Example:
        >>> distances([(3, 8), (5, 8), 2.0], [(3, 5)])
        240
    """
    power = args[2] if len(args) > 2 else 2
    return multiply_accumulates(prod(outputs[0]), args[0][-1]) if power == 2 else None


@FORMULAS.register("aten._pdist_forward", "aten.pdist")
def distances_within(args: Arguments, outputs: Sequence[Shape]) -> int | None:
    """The same of one set of rows: each pair once.

    Example:
        >>> distances_within([(4, 8), 2.0], [(6,)])
        96
    """
    power = args[1] if len(args) > 1 else 2
    return multiply_accumulates(prod(outputs[0]), args[0][-1]) if power == 2 else None


@FORMULAS.register("aten.bilinear")
def bilinear(args: Arguments, outputs: Sequence[Shape]) -> int:
    """Of two vectors with a matrix for each output.

    Example:
        >>> bilinear([(5, 2), (5, 3), (4, 2, 3)], [(5, 4)])
        240
    """
    return multiply_accumulates(prod(outputs[0]), *args[2][1:])


@FORMULAS.register("aten.tensordot")
def tensordot(args: Arguments, outputs: Sequence[Shape]) -> int:
    """Along the axes that are named of both operands.

    Example:
        >>> tensordot([(2, 3, 4), (4, 5), [-1], [0]], [(2, 3, 5)])
        240
    """
    first, second, of_first, of_second = args[:4]
    # Where either is a single row, torch sums the other over it.
    return multiply_accumulates(prod(outputs[0]), *(min(first[i], second[j]) for i, j in zip(of_first, of_second, strict=True)))
