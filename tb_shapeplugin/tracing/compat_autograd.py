"""Every private name of torch.autograd, in one place beside ``compat``. Tried with torch 2.13."""

import torch
from torch._C._autograd import _get_sequence_nr

_OF_NO_FORWARD = 2**64 - 1  # the number of what adds up gradients


def nodes_made() -> int:
    """How many nodes this thread's forwards have made up to now: the number that the next one gets."""
    return int(_get_sequence_nr())


def node_going_back() -> int:
    """The number of the node whose backward runs now; -1 outside a backward, and where gradients are added up."""
    if torch._C._current_graph_task_id() == -1:
        return -1
    number = torch._C._current_autograd_node()._sequence_nr()
    return -1 if number == _OF_NO_FORWARD else int(number)


def made_by_newest_node(tensor: torch.Tensor) -> bool:
    """Is the tensor what the node gives that was made last?"""
    node = tensor.grad_fn
    return node is not None and node._sequence_nr() + 1 == nodes_made()
