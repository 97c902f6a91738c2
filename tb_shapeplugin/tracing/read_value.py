"""A call that needed contents of tensors, and what it gave: what one run read can be given to the next."""

from dataclasses import dataclass
from typing import Any

import torch

from tb_shapeplugin.tracing.arguments import tensors_in
from tb_shapeplugin.tracing.compat import no_function_modes
from tb_shapeplugin.tracing.substitution import substituted


@dataclass(frozen=True)
class ReadValue:
    """The function, and its result: numbers as they are, tensors without their contents."""

    func: Any
    result: Any


def read_value(func: Any, result: Any) -> ReadValue:
    """The note of such a call."""
    with no_function_modes():
        empty = {id(tensor): torch.empty(tensor.shape, dtype=tensor.dtype, device="meta") for tensor in tensors_in(result)}
    return ReadValue(func, substituted(result, empty))
