"""What the CPU allocator holds at its peak, and which of it no tensor is: by the op that asked for it."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch._C._profiler import _EventType
from torch.profiler import ProfilerActivity, profile
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

_MAKERS = ("aten::empty", "aten::empty_strided", "aten::resize_", "[memory]")  # they allocate for the op around them


class _Births(TorchDispatchMode):
    """When each address was first met as a tensor's storage."""

    def __init__(self) -> None:
        super().__init__()
        self.met: dict[int, list[int]] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(result):
            if isinstance(leaf, torch.Tensor) and leaf.layout is torch.strided:
                self.met.setdefault(leaf.untyped_storage().data_ptr(), []).append(time.time_ns())
        return result


@dataclass(frozen=True)
class _Held:
    """An allocation: its bytes, from when to when, and for which op."""

    bytes: int
    start: int
    end: int
    address: int
    op: str


@dataclass(frozen=True)
class Allocated:
    """Bytes at the allocator's peak, above what was there before, and of those what no tensor is, by op."""

    peak: int
    hidden: dict[str, int]


def allocated(run: Callable[[], Any]) -> Allocated:
    """What a run of the function asks the allocator for; what it gives is held to the end."""
    births = _Births()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler, births:
        given = run()
    del given
    held = list(_held(profiler.profiler.kineto_results.experimental_event_tree()))
    changes = sorted([(one.start, one.bytes) for one in held] + [(one.end, -one.bytes) for one in held])
    now = peak = at = 0
    for moment, size in changes:
        now += size
        if now > peak:
            peak, at = now, moment
    hidden: Counter[str] = Counter()
    for one in held:
        if one.start <= at < one.end and not any(one.start <= met <= one.end for met in births.met.get(one.address, ())):
            hidden[one.op] += one.bytes
    return Allocated(peak, dict(hidden.most_common()))


def _held(roots: list[Any]) -> Iterator[_Held]:
    alive: dict[int, Any] = {}
    last = 0
    for event in sorted(_allocations(roots), key=lambda event: event.start_time_ns):
        fields = event.typed[1]
        last = max(last, event.start_time_ns)
        if fields.alloc_size > 0:
            alive[fields.ptr] = event
        elif fields.ptr in alive:
            began = alive.pop(fields.ptr)
            yield _Held(began.typed[1].alloc_size, began.start_time_ns, event.start_time_ns, fields.ptr, _op_of(began))
    for address, event in alive.items():
        yield _Held(event.typed[1].alloc_size, event.start_time_ns, last + 1, address, _op_of(event))


def _allocations(events: list[Any]) -> Iterator[Any]:
    waiting = list(events)
    while waiting:
        event = waiting.pop()
        if event.typed[0] == _EventType.Allocation:
            yield event
        waiting.extend(event.children)


def _op_of(event: Any) -> str:
    above = event.parent
    while above is not None and above.name in _MAKERS:
        above = above.parent
    return "outside any op" if above is None else str(above.name)
