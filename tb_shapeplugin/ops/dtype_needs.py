"""Which dtypes ops take: of one dtype throughout, floating ones only, indices, masks, what is written into.

Real kernels are pickier than shape-level ones, and differ from device to device: these tables say what may be refused,
eager says whether it is.
"""

from typing import Final, TypeVar

Need = TypeVar("Need")

EVERY: Final[tuple[int, ...]] = ()  # every tensor among the arguments counts


def each(names: str, need: Need) -> dict[str, Need]:
    """The same need of several ops.

    Example:
        >>> each("relu gelu", 1)
        {'relu': 1, 'gelu': 1}
    """
    return dict.fromkeys(names.split(), need)


# Ops whose tensors have to be of one dtype, most others promote; with the positions that count, where not all do.
ONE_DTYPE: Final = {
    **each("linear bilinear matmul __matmul__ __rmatmul__ mm spmm bmm mv dot vdot inner addmm baddbmm addmv addbmm einsum lerp", EVERY),
    **each("conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d", EVERY),
    **each("index_add index_add_ index_copy index_copy_", (0, 3)),
    **each("binary_cross_entropy", (0, 1)),
}
# The same where only the floating ones among the tensors have to agree.
ONE_FLOATING_DTYPE: Final = frozenset(
    "batch_norm layer_norm group_norm instance_norm rms_norm prelu grid_sample lstm gru rnn_tanh rnn_relu lstm_cell gru_cell "  # noqa: SIM905  one word each reads better than forty quotes
    "rnn_tanh_cell rnn_relu_cell embedding_bag multi_head_attention_forward scaled_dot_product_attention "
    "cdist nll_loss cross_entropy ctc_loss bucketize searchsorted".split()
)
# Ops that take no integers and no booleans as their first tensor.
FLOATING: Final = frozenset(
    "mean std var std_mean var_mean softmax log_softmax softmin gelu silu elu selu celu mish leaky_relu softplus logsigmoid "  # noqa: SIM905  as above
    "hardswish hardsigmoid dropout batch_norm layer_norm group_norm instance_norm rms_norm local_response_norm avg_pool1d avg_pool2d "
    "avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d max_pool1d max_pool2d interpolate grid_sample norm "
    "normalize cdist cosine_similarity logsumexp quantile nanquantile inv pinv svd qr eigh cholesky solve det slogdet multinomial "
    "bernoulli lstm gru rnn_tanh rnn_relu multi_head_attention_forward scaled_dot_product_attention binary_cross_entropy "
    "cross_entropy nll_loss pixel_unshuffle erfinv lerp requires_grad_ logit".split()
)
# Ops that take no complex numbers: there is no order among those.
REAL: Final = frozenset(
    "relu relu_ relu6 gelu elu leaky_relu hardtanh clamp clamp_ clip max min amax amin argmax argmin sort topk median mode "  # noqa: SIM905  as above
    "floor ceil round trunc sign softmax log_softmax lt gt le ge __lt__ __gt__ __le__ __ge__ maximum minimum max_pool1d max_pool2d "
    "avg_pool1d avg_pool2d interpolate cross_entropy mse_loss smooth_l1_loss huber_loss batch_norm layer_norm group_norm".split()
)
# Arithmetic that booleans have none of.
NO_BOOLEANS: Final = frozenset("neg neg_ negative __neg__ sub sub_ subtract rsub __sub__ __rsub__ __isub__".split())  # noqa: SIM905  as above
# Ops on bits and counts.
WHOLE: Final = frozenset(
    "bitwise_and bitwise_or bitwise_xor bitwise_not bitwise_left_shift bitwise_right_shift __and__ __rand__ __or__ __ror__ __xor__ "  # noqa: SIM905  as above
    "__rxor__ __invert__ __lshift__ __rshift__ __iand__ __ior__ bincount gcd lcm".split()
)
# What is written has to be of the dtype of what it is written into: where the source stands.
WRITTEN: Final = {
    "__setitem__": 2,
    **each("scatter scatter_ scatter_add scatter_add_ scatter_reduce scatter_reduce_", 3),
    **each("masked_scatter masked_scatter_ index_put index_put_", 2),
}
# Arithmetic in place: the result has to go into the first operand.
IN_PLACE: Final = frozenset(
    "add_ sub_ mul_ div_ pow_ addcmul_ addcdiv_ lerp_ __iadd__ __isub__ __imul__ __itruediv__ __ipow__".split()  # noqa: SIM905  as above
)
_LONG, _INTS, _ANY_INTS, _BOOL = ("int64",), ("int64", "int32"), ("int64", "int32", "int16", "int8", "uint8", "bool"), ("bool",)
# Operands that number or pick others: position, name, what a sentence calls it, the dtypes that it may have.
PICKING: Final = {
    **dict.fromkeys(("embedding", "embedding_bag"), (0, "input", "index", _INTS)),
    **each("index_select index_fill index_fill_ index_add index_add_ index_copy index_copy_", (2, "index", "index", _INTS)),
    **each("gather scatter scatter_ scatter_add scatter_add_ scatter_reduce scatter_reduce_", (2, "index", "index", _INTS)),
    "take_along_dim": (1, "indices", "index", _LONG),
    "take": (1, "index", "index", _LONG),
    "one_hot": (0, "tensor", "index", _LONG),
    **dict.fromkeys(("cross_entropy", "nll_loss"), (1, "target", "target", _LONG)),
    **each("masked_fill masked_fill_ masked_select masked_scatter masked_scatter_", (1, "mask", "mask", _BOOL)),
    "where": (0, "condition", "condition", _BOOL),
}
INDEXING: Final = _ANY_INTS  # what brackets take
