"""FLOPs of fused attention: scores, and the weighted sum of values; a mask saves nothing, as kernels differ in what they skip."""

from collections.abc import Sequence
from math import prod

from tb_shapeplugin.ops.flops import FORMULAS, Arguments, multiply_accumulates
from tb_shapeplugin.record.values import Shape

_KERNELS = ("flash_attention", "flash_attention_for_cpu", "efficient_attention", "cudnn_attention", "fused_attention_overrideable")


def attention_flops(query: Shape, key: Shape, value: Shape, of_features: int, of_values: int) -> int:
    """So many products along the query's features, and so many along the value's, for each pair of positions.

    Shapes are [batch…, heads, positions, features]; fewer heads of keys serve several of queries.
    """
    pairs = prod(query[:-1]) * key[-2]
    return of_features * multiply_accumulates(pairs, query[-1]) + of_values * multiply_accumulates(pairs, value[-1])


@FORMULAS.register(*(f"aten._scaled_dot_product_{kernel}" for kernel in _KERNELS))
@FORMULAS.register("aten.scaled_dot_product_attention", "aten._scaled_dot_product_attention_math")
@FORMULAS.register("aten._scaled_dot_product_attention_math_for_mps")
def attention(args: Arguments, _outputs: Sequence[Shape]) -> int:
    """Of query, key and value: two products.

    Example:
        >>> attention([(2, 4, 10, 16), (2, 4, 20, 16), (2, 4, 20, 16)], [])
        102400
    """
    query, key, value = args[:3]
    return attention_flops(query, key, value, of_features=1, of_values=1)


@FORMULAS.register(*(f"aten._scaled_dot_product_{kernel}_backward" for kernel in _KERNELS))
def attention_backward(args: Arguments, _outputs: Sequence[Shape]) -> int:
    """Five products: the scores once more, the gradients of scores and values along the value's features, of query and key along theirs.

    Args: the output's gradient, query, key, value. From T. Dao et al., FlashAttention (2022), algorithm 4.

    Example:
        >>> attention_backward([(1, 1, 4, 8), (1, 1, 4, 8), (1, 1, 4, 8), (1, 1, 4, 8)], [])
        1280
    """
    query, key, value = args[1:4]
    return attention_flops(query, key, value, of_features=3, of_values=2)


@FORMULAS.register("aten._flash_attention_forward", "aten._efficient_attention_forward")
def attention_by_position(args: Arguments, _outputs: Sequence[Shape]) -> int | None:
    """The kernels below, whose heads come after the positions; None for sequences of several lengths in one.

    Example:
        >>> attention_by_position([(2, 10, 4, 16), (2, 20, 4, 16), (2, 20, 4, 16)], [])
        102400
    """
    offsets = any(isinstance(argument, tuple) and len(argument) == 1 for argument in args[3:6])  # a bias has more axes
    if offsets or any(len(shape) != 4 for shape in args[:3]):
        return None
    query, key, value = ((shape[0], shape[2], shape[1], shape[3]) for shape in args[:3])
    return attention_flops(query, key, value, of_features=1, of_values=1)


@FORMULAS.register("aten._native_multi_head_attention")
def whole_attention(args: Arguments, _outputs: Sequence[Shape]) -> int | None:
    """With its projections, as ``nn.MultiheadAttention`` runs it in inference; None for nested sequences.

    Args: query, key, value, features, heads, weight and bias of the inputs' projection, those of the output's.

    Example:
        >>> whole_attention([(2, 5, 8), (2, 5, 8), (2, 5, 8), 8, 2, (24, 8), (24,), (8, 8), (8,)], [])
        6720
    """
    query, key = args[0], args[1]
    return _projected(query, key[1] if len(key) == 3 else 0, args[5], args[7])


@FORMULAS.register("aten._transformer_encoder_layer_fwd")
def encoder_layer(args: Arguments, _outputs: Sequence[Shape]) -> int | None:
    """A whole layer, as ``nn.TransformerEncoderLayer`` runs it in inference; None for nested sequences.

    Args: source, features, heads, weight and bias of the inputs' projection, those of the output's, four of kind and norms, two norms of
    weight and bias, then weight and bias of both layers of the feed-forward.

    Example:
        >>> norms = [(8,)] * 4
        >>> encoder_layer([(2, 5, 8), 8, 2, (24, 8), (24,), (8, 8), (8,), True, False, 1e-5, *norms, (32, 8), (32,), (8, 32), (8,)], [])
        16960
    """
    source, first, second = args[0], args[14], args[16]
    attended = _projected(source, source[1] if len(source) == 3 else 0, args[3], args[5])
    return None if attended is None else attended + multiply_accumulates(prod(source[:2]), prod(first) + prod(second))


def _projected(query: Shape, positions: int, inputs: Shape, output: Shape) -> int | None:
    if len(query) != 3 or not prod(query) or not positions:
        return None
    batch, length, features = query
    projections = multiply_accumulates(batch * length, prod(inputs) + prod(output))
    return projections + 2 * multiply_accumulates(batch, length, positions, features)
