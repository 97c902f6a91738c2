"""FLOPs of torch functions whose aten ops aren't always seen: recurrent layers over packed sequences read memory in C++."""

from collections.abc import Sequence
from math import prod

from tb_shapeplugin.ops.flops import multiply_accumulates
from tb_shapeplugin.record.values import Shape

_RECURRENT = ("torch.lstm", "torch.gru", "torch.rnn_tanh", "torch.rnn_relu")


def function_flops(name: str, inputs: Sequence[Shape]) -> int | None:
    """The FLOPs of a call of a torch function; None where the aten ops inside it tell.

    Args:
        name: as ``torch.overrides.resolve_name`` has it.
        inputs: shapes of its tensors, in order.

    Example:
        >>> function_flops("torch.gru", [(7, 2, 4), (1, 2, 8), (24, 4), (24, 8)])
        8064
    """
    if name not in _RECURRENT or not inputs:
        return None
    # States have three axes and sizes of batches one; the literal of a long list of weights is cut short, so it can't say which they are.
    weights = sum(prod(shape) for shape in inputs[1:] if len(shape) == 2)
    steps = prod(inputs[0][:-1])  # packed or not: each sequence's each step
    return multiply_accumulates(steps, weights) if weights else None
