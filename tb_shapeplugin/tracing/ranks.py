"""Which of several processes this one is: asks torch.distributed, else the launcher's environment."""

import os

import torch

_RANK_VARIABLES = ("RANK", "SLURM_PROCID", "LOCAL_RANK")


def rank() -> int:
    """This process's rank, 0 when it is alone.

    Example:
        >>> rank()
        0
    """
    distributed = torch.distributed
    if distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank()
    for name in _RANK_VARIABLES:
        value = os.environ.get(name, "")
        if value.isdecimal():
            return int(value)
    return 0
