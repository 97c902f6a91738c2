"""Puts back what a run changed: contents of tensors, gradients, random number generators, global modes."""

import contextlib
import random
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import nn

from tb_shapeplugin.tracing.aten_ops import aten_op
from tb_shapeplugin.tracing.compat import (
    autocast_state,
    bits_differ,
    is_lazy,
    same_memory,
    set_autocast_state,
    storage_key,
    written_operands,
)


def surely(put_back: Callable[[], None]) -> None:
    """Puts back what is the user's; once more where a fault of ours came in between: twice is the same as once."""
    try:
        put_back()
    except Exception:
        put_back()


class ProcessPhotograph:
    """Global modes and random number generators. What is as it was isn't touched: other threads may be at work.

    torch's own generator is put back by who draws from it, here only where the run seeded it: shape-level runs draw
    nothing, and another thread's training must not be sent back.
    """

    def __init__(self) -> None:
        self._python = random.getstate()
        self._torch = _TorchGenerators()
        self._numpy = _numpy_state()
        self._grad = torch.is_grad_enabled()
        self._autocast = autocast_state()
        self._dtype = torch.get_default_dtype()
        self._deterministic = (torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled())
        self._filters = list(warnings.filters)

    def put_back(self) -> None:
        """All of it is as it was."""
        if random.getstate() != self._python:
            random.setstate(self._python)
        if self._torch.seeded():
            self._torch.put_back()
        if self._numpy is not None and repr(_numpy_state()) != repr(self._numpy):
            sys.modules["numpy"].random.set_state(self._numpy)
        torch.set_grad_enabled(self._grad)
        set_autocast_state(self._autocast)
        if torch.get_default_dtype() != self._dtype:
            torch.set_default_dtype(self._dtype)
        torch.use_deterministic_algorithms(self._deterministic[0], warn_only=self._deterministic[1])
        if list(warnings.filters) != self._filters:
            warnings.filters[:] = self._filters  # type: ignore[index]  # a list, declared as a sequence


def _numpy_state() -> dict[str, Any] | None:
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return None
    state: dict[str, Any] = numpy.random.get_state(legacy=False)
    return {**state, "state": {**state["state"], "key": tuple(state["state"]["key"].tolist())}}


class _TorchGenerators:
    """torch's default generators, of the CPU and of the GPUs in use."""

    def __init__(self) -> None:
        self._seed = torch.initial_seed()
        self._cpu = torch.random.get_rng_state()
        in_use = torch.cuda.is_available() and torch.cuda.is_initialized()  # type: ignore[no-untyped-call]  # torch has no types there
        self._cuda = torch.cuda.get_rng_state_all() if in_use else None

    def seeded(self) -> bool:
        """Was the generator seeded since, even with the same seed?"""
        if torch.initial_seed() != self._seed:
            return True
        now = torch.random.get_rng_state()
        return not torch.equal(now, self._cpu) and torch.equal(now, torch.Generator().manual_seed(self._seed).get_state())

    def put_back(self) -> None:
        """They give the same numbers again."""
        torch.random.set_rng_state(self._cpu)
        if self._cuda is not None:
            torch.cuda.set_rng_state_all(self._cuda)


@contextlib.contextmanager
def generators_kept(drawing: bool) -> Iterator[None]:
    """What draws random numbers inside leaves torch's generators as they were. What doesn't, leaves them to other threads."""
    if not drawing:
        yield
        return
    generators = _TorchGenerators()
    try:
        yield
    finally:
        surely(generators.put_back)


class ContentKeeper:
    """Keeps the contents of a real run's tensors: buffers at once, all others and gradients before their first write; and
    torch's random numbers, where the run draws any."""

    def __init__(self, modules: list[nn.Module], tensors: list[torch.Tensor]) -> None:
        self._watched: dict[int, list[torch.Tensor]] = {}
        self._kept: list[
            tuple[torch.Tensor, torch.Tensor, torch.Tensor]
        ] = []  # each with its sizes and storage as they were, and its content
        self._gradients = [(t, t.grad) for t in tensors if t.is_leaf and t.requires_grad]
        self._generators = _TorchGenerators()
        self._drew = False
        with torch.no_grad():
            for tensor in (*tensors, *(gradient for _, gradient in self._gradients if gradient is not None)):
                self._watched.setdefault(storage_key(tensor), []).append(tensor)
            self._watched.pop(0, None)
            watched = [tensor for same in self._watched.values() for tensor in same]
            self._forms = [(tensor, tensor.detach()) for tensor in watched if not is_lazy(tensor)]
            for module in modules:
                for buffer in module._buffers.values():
                    if buffer is not None and not is_lazy(buffer):
                        self._keep(buffer)  # running statistics are written by kernels whose schema doesn't say so

    def _keep(self, tensor: torch.Tensor) -> None:
        for one in self._watched.pop(storage_key(tensor), [tensor]):
            self._kept.append((one, one.detach(), one.detach().clone()))

    def before_op(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Told of every aten op before it runs; copies what it is about to write to."""
        op = aten_op(func)
        self._drew = self._drew or op.draws
        if op.writes and self._watched:
            for tensor in written_operands(func, args, kwargs):
                if storage_key(tensor) in self._watched:
                    self._keep(tensor)

    def put_back(self) -> None:
        """Every kept tensor holds again what it held; none that does is written to: autograd counts writes."""
        if self._drew:
            self._generators.put_back()
        with torch.no_grad():
            for parameter, gradient in self._gradients:
                if parameter.grad is not gradient:
                    parameter.grad = gradient
            for tensor, form, content in self._kept:
                if not same_memory(tensor, form):
                    tensor.data = form  # t_, squeeze_ and their like
                if bits_differ(tensor, content):
                    tensor.data.copy_(content)
            for tensor, form in self._forms:
                if not same_memory(tensor, form):
                    tensor.data = form  # a module converted itself: ``self.head.to(x.dtype)``
