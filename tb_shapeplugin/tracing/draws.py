"""Random numbers of a shape-level run: each step draws what it would draw in a real one, which draws them all in order."""

from typing import Any

import torch

from tb_shapeplugin.tracing.arguments import tensors_in
from tb_shapeplugin.tracing.compat import device_of
from tb_shapeplugin.tracing.slices import Step
from tb_shapeplugin.tracing.substitution import substituted

_MOST_ELEMENTS = 1 << 24  # that are drawn for a step whose numbers nobody asked for: a tenth of a second


class Draws:
    """The steps that draw from torch's CPU generator. What is asked of it runs for real, with the generator put back by the caller."""

    def __init__(self) -> None:
        self._waiting: dict[int, Step] = {}  # in order, by id; nothing was drawn for them yet
        self._before: dict[int, torch.Tensor] = {}  # id of a step -> the generator's state when its turn comes
        self._now: torch.Tensor | None = None  # behind the last step that had its turn; None: as the caller left it

    def add(self, step: Step) -> None:
        """The latest step that draws; those of a generator of their own, and of other devices, are left to it."""
        own = any(isinstance(value, torch.Generator) for value in (*step.args, *step.kwargs.values()))
        if not own and all(device_of(tensor).type == "cpu" for tensor in tensors_in(step.result)):
            self._waiting[id(step)] = step

    def come_to(self, step: Step) -> None:
        """Puts the generator where a real run has it when that step draws: every step before draws first, on stand-ins."""
        while id(step) in self._waiting:
            one = self._waiting.pop(next(iter(self._waiting)))
            if self._now is not None:
                torch.random.set_rng_state(self._now)
            self._before[id(one)] = torch.random.get_rng_state()
            _draw(one)
            self._now = torch.random.get_rng_state()
        if id(step) in self._before:
            torch.random.set_rng_state(self._before[id(step)])


def _draw(step: Step) -> None:
    """How much is drawn depends on sizes alone, with few exceptions."""
    given: Any = (step.args, dict(step.kwargs))
    if sum(tensor.numel() for tensor in tensors_in(step.result)) > _MOST_ELEMENTS:
        return
    ones = {id(tensor): torch.ones(tuple(tensor.shape), dtype=tensor.dtype) for tensor in tensors_in(given)}
    args, kwargs = substituted(given, ones)
    try:
        step.func(*args, **kwargs)
    except Exception:  # values that it refuses: what comes after draws other numbers then
        return
