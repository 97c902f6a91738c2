"""Models that change themselves, their inputs, or the process while they run."""

import random
import threading
import warnings
from typing import Any

import numpy as np
import torch
from torch import nn

from tests.zoo.entry import Built, Enclosure

MEDDLERS = Enclosure()


class WritesItsInput(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor, batch: dict[str, Any]) -> torch.Tensor:
        x.mul_(2)
        x[:, 0] = 0
        batch["image"].add_(batch.pop("noise"))
        batch["seen"] = True
        batch["parts"].append(self.fc(x))
        return batch["parts"][-1] + batch["image"]


@MEDDLERS.entry("writes_its_input")
def writes_its_input() -> Built:
    """Scales its input in place, and pops from, adds to and appends into the dict it was given."""
    return WritesItsInput(), (torch.randn(2, 4), {"image": torch.randn(2, 4), "noise": torch.ones(2, 4), "parts": []}), {}


class Journal:
    """Not a module, not a container: an object of the user that the model carries along."""

    def __init__(self) -> None:
        self.calls = 0
        self.seen: list[torch.Tensor] = []


class KeepsState(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.calls = 0
        self.cache: torch.Tensor | None = None
        self.history: list[torch.Tensor] = [torch.zeros(3)]
        self.by_name: dict[str, Any] = {"last": torch.ones(3), "shapes": [(1, 2)]}
        self.table = torch.zeros(3)
        self.journal = Journal()
        self.register_buffer("average", torch.zeros(3))
        self.register_buffer("count", torch.zeros((), dtype=torch.long))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.fc(x)
        self.calls += 1
        self.cache = y
        self.history.append(y)
        self.by_name["last"] = y
        self.by_name["shapes"].append(tuple(y.shape))
        self.journal.calls += 1
        self.journal.seen.append(y)
        self.average = 0.9 * self.average + 0.1 * y.detach().mean(0)
        with torch.no_grad():
            self.table.add_(1)
            self.table += y.mean(0)
            self.count += 1
        self.fresh = y
        return y + self.average


@MEDDLERS.entry("keeps_state")
def keeps_state() -> Built:
    """Sets attributes, counts, appends, replaces a buffer, writes a plain tensor, and keeps a journal."""
    return KeepsState(), (torch.randn(2, 3),), {}


class Hooked(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.head = nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.fc(x))


SEEN_BY_HOOKS: list[Any] = []


@MEDDLERS.entry("hooks")
def hooks() -> Built:
    """Forward hooks that double an output, collect activations in a closure and in a global, and count in an object."""
    model = Hooked()
    SEEN_BY_HOOKS.clear()
    activations: list[torch.Tensor] = []
    journal = Journal()

    def collect(module: nn.Module, args: Any, output: torch.Tensor) -> torch.Tensor:
        activations.append(output)
        SEEN_BY_HOOKS.append(output)
        journal.calls += 1
        return output * 2

    def prepare(module: nn.Module, args: tuple[torch.Tensor]) -> tuple[torch.Tensor]:
        return (args[0] + 1,)

    model.fc.register_forward_hook(collect)
    model.head.register_forward_pre_hook(prepare)
    return model, (torch.randn(2, 3),), {}


class ForgetsTheProcess(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        torch.set_grad_enabled(False)
        torch.set_default_dtype(torch.float64)
        torch.set_autocast_enabled("cpu", True)
        warnings.simplefilter("ignore")
        noise = random.random() + float(np.random.rand())  # noqa: NPY002  the global generator is what is meant
        torch.manual_seed(1)
        return x + torch.rand(()) * noise


@MEDDLERS.entry("forgets_the_process")
def forgets_the_process() -> Built:
    """Leaves gradients off, another default dtype, autocast on, a warnings filter, and three random generators moved on."""
    return ForgetsTheProcess(), (torch.randn(2),), {}


class Locked(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()
        self.generator = torch.Generator().manual_seed(3)
        self.fc = nn.Linear(3, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with self.lock:
            return self.fc(x) + torch.rand(3, generator=self.generator)


@MEDDLERS.entry("locked")
def locked() -> Built:
    """Holds what can't be copied: a lock and a generator, which moves on."""
    return Locked(), (torch.randn(2, 3),), {}


class PenalisesItself(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.fc(x)
        y.square().mean().backward()
        return self.fc(x)


@MEDDLERS.entry("backward_inside")
def backward_inside() -> Built:
    """Calls backward in its forward, on top of gradients that are already there."""
    model = PenalisesItself()
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    return model, (torch.randn(2, 3),), {}


class SwitchesModes(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.drop = nn.Dropout(0.5)
        self.fc = nn.Linear(3, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.drop.eval()
        self.fc.weight.requires_grad_(False)
        self.fc.register_buffer("late", torch.zeros(1))
        self.extra = nn.Identity()
        return self.extra(self.fc(self.drop(x)))  # modules give Any


@MEDDLERS.entry("switches_modes")
def switches_modes() -> Built:
    """Puts a layer into evaluation, freezes a weight, registers a buffer and a module while it runs."""
    return SwitchesModes(), (torch.randn(2, 3),), {}
