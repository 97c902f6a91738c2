"""Every private name of torch.distributed, in one place beside ``compat``. Tried with torch 2.13."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist


@dataclass(frozen=True)
class Group:
    """A process group as one rank sees it."""

    ranks: int
    rank: int
    backend: str

    @property
    def reaches_nobody(self) -> bool:
        """Does a call of its end here, in this process?"""
        return self.backend == "fake" or (self.backend == "gloo" and self.ranks == 1)


def local_numel(tensor: torch.Tensor) -> int:
    """How many elements of a sharded tensor lie on this rank; -1 for one that isn't sharded."""
    held = getattr(tensor, "_local_tensor", None) if hasattr(type(tensor), "full_tensor") else None
    return int(held.numel()) if isinstance(held, torch.Tensor) else -1


def group_among(args: tuple[Any, ...]) -> Group | None:
    """The process group that a collective was given; None where torch doesn't tell."""
    with contextlib.suppress(Exception):
        for value in args:
            if isinstance(value, torch.ScriptObject) and "ProcessGroup" in str(value._type()):
                group = dist.ProcessGroup.unbox(value)
                return Group(group.size(), group.rank(), str(dist.get_backend(group)))
    return None


def speaks_to_ranks(function: Any) -> bool:
    """Is this a function of torch.distributed? None of them may be tried out."""
    return str(getattr(function, "__module__", "")).startswith("torch.distributed")


def is_collective(func: Any) -> bool:
    """Does an aten op send to other ranks, or wait for them?"""
    return bool(func.namespace == "c10d")


@contextlib.contextmanager
def own_groups() -> Iterator[None]:
    """Process groups that come up inside go down at the end; those that were there stay."""
    there = not dist.is_available() or dist.is_initialized()
    try:
        yield
    finally:
        if not there and dist.is_initialized():
            dist.destroy_process_group()
