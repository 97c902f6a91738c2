"""Real values on demand: only the slice of ops that a value depends on runs for real, under a budget, nothing twice."""

import contextlib
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from tb_shapeplugin.tracing.arguments import tensors_in
from tb_shapeplugin.tracing.compat import (
    FakeTensor,
    FakeTensorMode,
    TorchDispatchMode,
    fake_of,
    is_value_read,
    no_function_modes,
    real_execution,
    storage_key,
    written_operands,
)
from tb_shapeplugin.tracing.substitution import substituted

# Multiply-adds that all slices of one run may cost together: about a second of one core.
BUDGET = 10_000_000_000


_trials = threading.local()


@contextlib.contextmanager
def only_trying() -> Iterator[None]:
    """Inside, nothing runs for real: calls with changed operands, tried to go on past a failure, are nobody's."""
    _trials.running = True
    try:
        yield
    finally:
        _trials.running = False


class Unknowable(Exception):
    """A value that would cost more than the budget, or that no device here holds; shape-level execution ends there."""


@dataclass(frozen=True)
class _Step:
    """One aten op that ran at the shape level."""

    func: Any
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    result: Any
    inputs: tuple[int, ...]  # storages
    outputs: tuple[int, ...]
    writes: tuple[int, ...]  # those of the inputs that it writes to


class ValuesOnDemand(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch has no types there
    """Stands above a fake mode; where an op needs values, computes them for the op alone and goes on with fakes.

    Works backwards from the value over the steps that wrote to the storages it depends on, so that views and in-place
    ops are right. What was computed is kept, unless a step of the slice writes in place.
    """

    def __init__(self, mode: FakeTensorMode, roots: list[tuple[torch.Tensor, torch.Tensor]], budget: int = BUDGET) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._mode = mode
        self._steps: list[_Step] = []
        self._real: dict[int, torch.Tensor] = {}  # id of a fake -> its contents
        self._fakes: list[torch.Tensor] = []  # keeps those ids from being used again
        self._left = budget
        self.reads = 0
        for fake, real in roots:
            self._root(fake, real)

    def _root(self, fake: torch.Tensor, real: torch.Tensor) -> None:
        with real_execution(), no_function_modes():
            self._real[id(fake)] = real.detach()
        self._fakes.append(fake)

    def _lifted(self, tensor: torch.Tensor) -> torch.Tensor:
        """A tensor that stayed real (of a closure or a global) as a fake whose contents are known."""
        if isinstance(tensor, FakeTensor):
            return tensor
        fake = fake_of(self._mode, tensor)
        if id(fake) not in self._real:
            self._root(fake, tensor)
        return fake

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        strays = {id(t): self._lifted(t) for t in tensors_in((args, kwargs)) if not isinstance(t, FakeTensor)}
        args, kwargs = substituted((args, kwargs or {}), strays) if strays else (args, kwargs or {})
        try:
            result = func(*args, **kwargs)
        except Exception as error:
            if not is_value_read(error):
                raise
            return self.run(func, args, kwargs, error)
        self._steps.append(_step(func, args, kwargs, result))
        return result

    def run(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], error: Exception) -> Any:
        """That call on real values, its tensors as fakes; ``error`` again in a trial, and where the budget doesn't allow it."""
        if getattr(_trials, "running", False):
            raise error
        try:
            real_args, real_kwargs = self._contents((args, kwargs))
        except Unknowable:
            raise error from None
        self.reads += 1
        with self._for_real():
            result = func(*real_args, **real_kwargs)
        fakes = {}
        for tensor in tensors_in(result):
            fakes[id(tensor)] = fake = fake_of(self._mode, tensor)
            self._root(fake, tensor)
        return substituted(result, fakes)

    def contents(self, tensor: torch.Tensor) -> torch.Tensor | None:
        """What a fake would hold in the real run; None where that would cost too much."""
        try:
            content: torch.Tensor = self._contents(tensor)
        except Unknowable:
            return None
        return content

    def range_of(self, tensor: torch.Tensor, ignored: int | None = None) -> tuple[int, int] | None:
        """Smallest and largest entry of an integer tensor, (0, 0) when none counts; None where that can't be known."""
        content = self.contents(tensor)
        if content is None:
            return None
        with self._for_real():
            counted = content if ignored is None else content[content != ignored]
            return (int(counted.min()), int(counted.max())) if counted.numel() else (0, 0)

    @contextlib.contextmanager
    def _for_real(self) -> Iterator[None]:
        random = torch.random.get_rng_state()
        try:
            with real_execution(), no_function_modes(), torch.no_grad():
                yield
        finally:
            torch.random.set_rng_state(random)

    def _contents(self, value: Any) -> Any:
        """A nested value with its fakes replaced by what they hold."""
        wanted = [t for t in tensors_in(value) if id(t) not in self._real or self._written_since(t)]
        steps = self._slice({storage_key(t) for t in wanted}) if wanted else []
        in_place = any(step.writes for step in steps)
        if not in_place:
            steps = [step for step in steps if not all(id(t) in self._real for t in tensors_in(step.result))]
        self._left -= sum(map(_cost, steps))
        if self._left < 0:
            raise Unknowable
        known = {} if in_place else self._real
        with self._for_real():
            for step in steps:
                try:
                    self._replay(step, known, in_place)
                except Exception as error:
                    raise Unknowable from error
        return substituted(value, {id(t): self._held(t, known, in_place) for t in tensors_in(value)})

    def _replay(self, step: _Step, known: dict[int, torch.Tensor], in_place: bool) -> None:
        held = {id(t): self._held(t, known, in_place) for t in tensors_in((step.args, step.kwargs))}
        args, kwargs = substituted((step.args, dict(step.kwargs)), held)
        result = step.func(*args, **kwargs)
        for fake, real in zip(tensors_in(step.result), tensors_in(result), strict=False):
            known[id(fake)] = real
            self._fakes.append(fake)

    def _held(self, fake: torch.Tensor, known: dict[int, torch.Tensor], in_place: bool) -> torch.Tensor:
        held = known.get(id(fake))
        if held is None:
            root = self._real.get(id(fake))
            if root is None:  # a spec: nobody has its values
                raise Unknowable
            known[id(fake)] = held = root.clone() if in_place else root
        if held.is_meta:
            raise Unknowable
        return held

    def _written_since(self, tensor: torch.Tensor) -> bool:
        key = storage_key(tensor)
        return any(key in step.writes for step in self._steps)

    def _slice(self, needed: set[int]) -> list[_Step]:
        """The steps that the storages' contents depend on, in the order in which they ran."""
        found = []
        for step in reversed(self._steps):
            if needed.intersection(step.outputs) or needed.intersection(step.writes):
                found.append(step)
                needed = needed.union(step.inputs, step.outputs)
        return found[::-1]


class LiftedStrays(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch has no types there
    """Stands above a fake mode where no values are at hand: tensors of closures and globals become fakes, so that no op writes to them."""

    def __init__(self, mode: FakeTensorMode) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._mode = mode

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        strays = {id(t): fake_of(self._mode, t) for t in tensors_in((args, kwargs)) if not isinstance(t, FakeTensor)}
        args, kwargs = substituted((args, kwargs or {}), strays) if strays else (args, kwargs or {})
        return func(*args, **kwargs)


class FunctionsOnDemand(TorchFunctionMode):
    """The same for functions that read memory before any aten op is met: packed sequences, numpy, tolist."""

    def __init__(self, values: ValuesOnDemand) -> None:
        super().__init__()
        self._values = values

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        try:
            return func(*args, **(kwargs or {}))
        except (RuntimeError, TypeError) as error:
            if not is_value_read(error):
                raise
            return self._values.run(func, args, kwargs or {}, error)


def _step(func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], result: Any) -> _Step:
    inputs = tuple(storage_key(t) for t in tensors_in((args, kwargs)))
    outputs = tuple(storage_key(t) for t in tensors_in(result))
    writes = tuple(storage_key(t) for t in written_operands(func, args, kwargs))
    return _Step(func, args, kwargs, result, inputs, outputs, writes)


def _cost(step: _Step) -> int:
    """Multiply-adds of a step, roughly: of a matrix product exactly (√(mk·kn·mn)), else the elements touched."""
    inputs = [t.numel() for t in tensors_in((step.args, step.kwargs))]
    outputs = [t.numel() for t in tensors_in(step.result)]
    name = str(step.func)
    if any(word in name for word in ("mm", "matmul", "conv", "linear", "attention", "rnn", "lstm", "gru")) and len(inputs) > 1 and outputs:
        largest = sorted(inputs)[-2:]
        return int((largest[0] * largest[1] * outputs[0]) ** 0.5) + sum(outputs)
    return sum(inputs) + sum(outputs)
