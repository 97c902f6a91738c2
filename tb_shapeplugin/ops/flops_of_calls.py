"""FLOPs of torch functions whose aten ops aren't always seen: recurrent layers over packed sequences read memory in C++."""

from collections.abc import Sequence
from math import prod

from tb_shapeplugin.ops.aten_flops import counts_nothing, formula_of
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


def unseen_flops(name: str, inputs: Sequence[Shape], outputs: Sequence[Shape]) -> int | None:
    """The FLOPs of a call inside which no aten op was seen: those of the aten op of its name; None where nobody knows.

    A function that has no shape-level kernel runs for real at once, as PyTorch 2.13's grouped products of float32 do.

    Args:
        name: as ``torch.overrides.resolve_name`` has it.
        inputs: shapes of its tensors, in order.
        outputs: those of what it gave.

    Example:
        >>> unseen_flops("torch._grouped_mm", [(10, 16), (3, 16, 8), (3,)], [(10, 8)])
        2560
    """
    namespace, _, op = name.removeprefix("torch.ops.").rpartition(".")
    aten = f"{namespace}.{op}" if name.startswith("torch.ops.") else f"aten.{op}"
    formula = formula_of(aten)
    if formula is None:
        return 0 if counts_nothing(aten) else None
    try:
        return formula(inputs, outputs)
    except (IndexError, TypeError, ValueError, StopIteration):  # it needs more than shapes of tensors
        return None
