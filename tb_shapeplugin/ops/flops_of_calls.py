"""FLOPs of torch functions whose aten ops aren't always seen: recurrent layers over packed sequences read memory in C++."""

import re
from collections.abc import Mapping, Sequence
from math import prod

from tb_shapeplugin.ops.flops import multiply_accumulates
from tb_shapeplugin.record.values import Shape

_RECURRENT = ("torch.lstm", "torch.gru", "torch.rnn_tanh", "torch.rnn_relu")


def function_flops(name: str, inputs: Sequence[Shape], arguments: Mapping[str, str]) -> int | None:
    """The FLOPs of a call of a torch function; None where the aten ops inside it tell.

    Args:
        name: as ``torch.overrides.resolve_name`` has it.
        inputs: shapes of its tensors, in order.
        arguments: literals by name, in which ``%0`` stands for the first of the inputs.

    Example:
        >>> function_flops("torch.gru", [(7, 2, 4), (1, 2, 8), (24, 4), (24, 8)], {"input": "%0", "hx": "%1", "params": "[%2, %3]"})
        8064
    """
    if name not in _RECURRENT or not inputs:
        return None
    weights = next((text for text in arguments.values() if text.startswith("[%")), "")
    matrices = [inputs[int(place)] for place in re.findall(r"%(\d+)", weights) if int(place) < len(inputs)]
    steps = prod(inputs[0][:-1])  # packed or not: each sequence's each step
    return multiply_accumulates(steps, sum(prod(matrix) for matrix in matrices if len(matrix) == 2)) if matrices else None
