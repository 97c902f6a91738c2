"""The kinds of mismatches in the order in which they are asked: the first that recognises a failure explains it."""

from tb_shapeplugin.analyse.mismatches import (
    attn_layout,
    broadcast,
    call_signature,
    cat,
    collective,
    compile_guard,
    conv_channels,
    conv_kernel,
    device,
    divisible,
    dtype,
    index_range,
    index_shape,
    linear_in_features,
    loss_target_range,
    loss_target_shape,
    mask_shape,
    matmul_dims,
    norm_batch_one,
    norm_features,
    opaque,
    out_of_memory,
    pad_size,
    rank,
    rnn_input,
    rnn_state,
    seq_lengths,
    split_sizes,
    stack_ragged,
    state_dict,
    user_error,
    view_numel,
    view_stride,
)
from tb_shapeplugin.analyse.mismatches.explanation import Explain, Explanation
from tb_shapeplugin.ops.rules import requires
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace

__all__ = ["MISMATCHES", "Explanation", "clash_of", "explain"]

# In this order: first what the words of an exception settle whatever the shapes are, then what the operands show.
MISMATCHES: tuple[tuple[str, Explain], ...] = (
    (call_signature.KIND, call_signature.explain),
    (state_dict.KIND, state_dict.explain),
    (out_of_memory.KIND, out_of_memory.explain),
    (compile_guard.KIND, compile_guard.explain),
    (collective.KIND, collective.explain),
    (device.KIND, device.explain),
    (dtype.KIND, dtype.explain),
    (view_stride.KIND, view_stride.explain),
    (norm_batch_one.KIND, norm_batch_one.explain),
    (loss_target_range.KIND, loss_target_range.explain),
    (index_range.KIND, index_range.explain),
    (seq_lengths.KIND, seq_lengths.explain),
    (linear_in_features.KIND, linear_in_features.explain),
    (conv_channels.KIND, conv_channels.explain),
    (conv_kernel.KIND, conv_kernel.explain),
    (norm_features.KIND, norm_features.explain),
    (cat.KIND, cat.explain),
    (stack_ragged.KIND, stack_ragged.explain),
    (mask_shape.KIND, mask_shape.explain),
    (attn_layout.KIND, attn_layout.explain),
    (rnn_input.KIND, rnn_input.explain),
    (rnn_state.KIND, rnn_state.explain),
    (loss_target_shape.KIND, loss_target_shape.explain),
    (index_shape.KIND, index_shape.explain),
    (split_sizes.KIND, split_sizes.explain),
    (pad_size.KIND, pad_size.explain),
    (divisible.KIND, divisible.explain),
    (view_numel.KIND, view_numel.explain),
    (rank.KIND, rank.explain),
    (matmul_dims.KIND, matmul_dims.explain),
    (broadcast.KIND, broadcast.explain),
    (user_error.KIND, user_error.explain),
)


def clash_of(failure: Failure, trace: Trace) -> Clash | None:
    """The requirement that the failing call's operands break, None where no rule knows."""
    attributes = trace.modules[failure.module].attributes if failure.module >= 0 else None
    return requires(failure.call, attributes)


def explain(failure: Failure, trace: Trace) -> Explanation:
    """What happened, by the first kind that recognises the failure; ``opaque`` where none does.

    Example:
        >>> explain(trace.failures[0], trace).message
        'fc1: the last dim of its input is 864, in_features is 1176'
    """
    clash = clash_of(failure, trace)
    of_torch = not user_error.is_own_raise(failure)  # what the code itself says may speak of shapes, too
    for kind, recognise in MISMATCHES:
        explanation = recognise(failure, clash, trace) if of_torch or kind == user_error.KIND else None
        if explanation is not None:
            return explanation
    return opaque.explain(failure, clash, trace)
