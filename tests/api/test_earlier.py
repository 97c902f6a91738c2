"""add_shapes of an unchanged model and input gives the earlier capture; any change is a new run."""

import gc
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import tb_shapeplugin as shapes


class Net(nn.Module):
    """Has all that can change: attributes, containers, an object, buffers, a closure's global."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
        self.scale = 0.5
        self.plan = {"turns": [1, 2]}
        self.config = type("Config", (), {})()
        self.config.width = 4

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """As often as planned."""
        for _ in self.plan["turns"]:
            x = self.body(x)
        return x * self.scale * FACTORS["all"]


FACTORS = {"all": 2.0}


@pytest.fixture
def writer(tmp_path: Path) -> Any:
    """A run of its own."""
    with shapes.ShapeWriter(tmp_path) as opened:
        yield opened


@pytest.mark.parametrize("execution", ["auto", "real", "fake"])
def test_an_unchanged_model_and_input_give_the_earlier_capture(writer: Any, execution: Any) -> None:
    """The very same object, also where the run was a real one, which writes and takes back."""
    model, x = Net(), torch.ones(3, 4)
    first = writer.add_shapes(model, x, execution=execution)
    assert writer.add_shapes(model, x, execution=execution) is first


CHANGES: dict[str, Callable[[Net, torch.Tensor], Any]] = {
    "a training step": lambda model, x: touch(model),
    "the training flag of one module": lambda model, x: model.body[1].eval(),
    "a plain attribute": lambda model, x: setattr(model, "scale", 0.25),
    "an item deep in a container": lambda model, x: model.plan["turns"].append(3),
    "an attribute of an object": lambda model, x: setattr(model.config, "width", 8),
    "a global that forward names": lambda model, x: FACTORS.update(all=3.0),
    "a replaced layer": lambda model, x: model.body.__setitem__(0, nn.Linear(4, 4)),
    "a replaced parameter": lambda model, x: setattr(model.body[0], "weight", nn.Parameter(torch.ones(4, 4))),
    "a frozen parameter": lambda model, x: model.body[0].weight.requires_grad_(False),
    "other memory behind a parameter": lambda model, x: setattr(model.body[0].weight, "data", torch.ones(4, 4)),
    "a buffer": lambda model, x: model.body[1].running_mean.add_(1),
    "the input in place": lambda model, x: x.add_(1),
    "a hook": lambda model, x: model.register_forward_hook(lambda *_: None),
    "a new submodule": lambda model, x: model.add_module("aux", nn.Linear(1, 1)),
    "another forward": lambda model, x: setattr(model, "forward", lambda x: x),
}


def touch(model: Net) -> None:
    """An in-place write, as an optimizer's step makes it."""
    with torch.no_grad():
        model.body[0].weight.mul_(0.9)


@pytest.mark.parametrize("what", CHANGES)
def test_any_change_is_a_new_capture(writer: Any, what: str) -> None:
    """Whatever forward may look at."""
    FACTORS["all"] = 2.0
    model, x = Net(), torch.ones(3, 4)
    first = writer.add_shapes(model, x)
    CHANGES[what](model, x)
    assert writer.add_shapes(model, x) is not first


def test_other_modes_inputs_and_options_are_new_captures(writer: Any) -> None:
    """Each of them stands for itself; going back finds the earlier one again."""
    model, x = Net(), torch.ones(3, 4)
    first = writer.add_shapes(model, x)
    with torch.no_grad():
        assert writer.add_shapes(model, x) is not first
    assert writer.add_shapes(model, torch.ones(3, 4)) is not first
    named = writer.add_shapes(model, x, name="other")
    assert writer.add_shapes(model, x, name="other") is named
    assert named.name == "other"


def test_an_index_that_numpy_changed_is_seen(writer: Any) -> None:
    """A loader that fills one array again and again: contents of indices are compared."""
    array = np.array([1, 2, 3])
    index, model = torch.from_numpy(array), nn.Embedding(10, 4)
    assert writer.add_shapes(model, index).completed
    array[:] = 11
    assert not writer.add_shapes(model, index).completed


def test_what_is_kept_does_not_keep_the_model_alive(writer: Any) -> None:
    """Model and input go when the user lets them go."""
    model, x = Net(), torch.ones(3, 4)
    writer.add_shapes(model, x)
    watched = [weakref.ref(model), weakref.ref(x), weakref.ref(model.body[0].weight)]
    del model, x
    gc.collect()
    assert [reference() for reference in watched] == [None, None, None]


def test_a_function_is_recognised_too(writer: Any) -> None:
    """As long as its closure is the same."""
    weight = torch.ones(4, 2)

    def function(x: torch.Tensor) -> torch.Tensor:
        return x @ weight

    x = torch.ones(3, 4)
    first = writer.add_shapes(function, x)
    assert writer.add_shapes(function, x) is first
    weight = torch.ones(5, 2)
    assert not writer.add_shapes(function, x).completed
