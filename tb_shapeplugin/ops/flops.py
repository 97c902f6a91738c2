"""What a formula of FLOPs is, and the table in which the families of aten ops file theirs.

One multiply-accumulate is two FLOPs. Counted are the multiply-accumulates of contractions: products of matrices, convolutions, attention,
recurrent layers. Biases, elementwise work, reductions, normalisation, pooling, resampling and lookups count 0, as torch's own
``FlopCounterMode`` and fvcore have it. A torch function is the sum of the aten ops that it runs, so that one table counts forward and
backward; a fused kernel counts as what it computes. A product of complex numbers is one multiply-accumulate.

An op that contracts or transforms and has no formula (fft, decompositions and solves, sparse products, ops of other libraries) is unknown,
never 0, and a sum with an unknown op in it is a lower bound: "≥".
"""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, TypeAlias

from tb_shapeplugin.base.registry import Registry
from tb_shapeplugin.record.values import Shape

# Any: whatever an aten op takes by position; tensors stand there as their shapes, lists of tensors as lists of shapes.
Arguments: TypeAlias = Sequence[Any]
# FLOPs of a call with those arguments and outputs of those shapes; None where they can't be told from shapes.
Formula: TypeAlias = Callable[[Arguments, Sequence[Shape]], int | None]

FORMULAS: Registry[Formula] = Registry("FLOP formula")


def multiply_accumulates(*sizes: int) -> int:
    """The FLOPs of as many multiply-accumulates as the product of those sizes.

    Example:
        >>> multiply_accumulates(2, 3, 4)
        48
    """
    return 2 * prod(sizes)
