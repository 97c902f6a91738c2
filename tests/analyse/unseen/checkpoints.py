"""Checkpoints whose keys, shapes or groups aren't the model's."""

from typing import Any

import torch
from torch import nn

from tests.analyse.unseen.row import Row, ones


class Net(nn.Module):
    """A convolution, perhaps a norm, and a classifier."""

    def __init__(self, classes: int = 3, norm: bool = False) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3)
        self.norm = nn.BatchNorm2d(8) if norm else nn.Identity()
        self.head = nn.Linear(8, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.norm(self.conv(x)).mean((2, 3)))


class Restoring(nn.Module):
    """A model that loads its part when it is called."""

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self.part = Net()
        self.saved = under(prefix)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.part.load_state_dict(self.saved)
        return self.part(x)


def under(prefix: str, **renamed: str) -> dict[str, torch.Tensor]:
    """A checkpoint of Net whose keys begin with the prefix, some parts under another name."""
    saved = Net().state_dict()
    for old, new in renamed.items():
        saved = {key.replace(old, new): value for key, value in saved.items()}
    return {prefix + key: value for key, value in saved.items()}


def restore(model: nn.Module, saved: Any) -> None:
    """Loads, and gives nothing."""
    model.load_state_dict(saved)


def resume(model: nn.Module, saved: dict[str, Any]) -> None:
    """Loads an optimizer's state."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer.load_state_dict(saved)


def optimizer_state(model: nn.Module) -> dict[str, Any]:
    """What an optimizer of that model saves."""
    return torch.optim.SGD(model.parameters(), lr=0.1).state_dict()


LOAD = "torch.nn.Module.load_state_dict"
ROWS: dict[str, Row] = {
    "another head, and a part under another name": Row(
        lambda: (restore, (Net(5), under("", conv="first"))),
        "state_dict",
        LOAD,
        {"out_features": 3},
        {"out_features": 5},
        lambda: (restore, (Net(3), under(""))),
        code="model.load_state_dict(saved)",
        says="; 2 keys unexpected, first.weight first; what the checkpoint calls 'first' is 'conv' in the model",
    ),
    "saved by a data-parallel wrapper": Row(
        lambda: (restore, (Net(), under("module."))),
        "state_dict",
        LOAD,
        {"unexpected": 4},
        {"missing": 4},
        lambda: (restore, (Net(), under(""))),
        code="model.load_state_dict(saved)",
        says="the checkpoint's begin with 'module.'",
    ),
    "saved compiled": Row(
        lambda: (restore, (Net(), under("_orig_mod."))),
        "state_dict",
        LOAD,
        {"unexpected": 4},
        {"missing": 4},
        lambda: (restore, (Net(), {key.removeprefix("_orig_mod."): value for key, value in under("_orig_mod.").items()})),
        code="model.load_state_dict(saved)",
        says="'_orig_mod.'",
    ),
    "loaded into a wrapper": Row(
        lambda: (restore, (nn.ModuleDict({"model": Net()}), under(""))),
        "state_dict",
        LOAD,
        {"unexpected": 4},
        {"missing": 4},
        lambda: (restore, (nn.ModuleDict({"model": Net()}), under("model."))),
        code="model.load_state_dict(saved)",
        says="only the model's begin with 'model.'",
    ),
    "a part that was renamed": Row(
        lambda: (restore, (Net(), under("", head="fc"))),
        "state_dict",
        LOAD,
        {"unexpected": 2},
        {"missing": 2},
        lambda: (restore, (Net(), under(""))),
        code="model.load_state_dict(saved)",
        says="'fc' is 'head' in the model",
    ),
    "without the norm's statistics": Row(
        lambda: (restore, (Net(norm=True), under(""))),
        "state_dict",
        LOAD,
        {"unexpected": 0},
        {"missing": 4},
        lambda: (restore, (Net(norm=True), Net(norm=True).state_dict())),
        code="model.load_state_dict(saved)",
        says="norm.weight",
    ),
    "another number of classes": Row(
        lambda: (restore, (Net(5), Net(1000).state_dict())),
        "state_dict",
        LOAD,
        {"out_features": 1000},
        {"out_features": 5},
        lambda: (restore, (Net(5), Net(5).state_dict())),
        code="model.load_state_dict(saved)",
        says="head.weight",
    ),
    "inside a forward": Row(
        lambda: (Restoring("model."), (ones(1, 1, 5, 5),)),
        "state_dict",
        LOAD,
        {"unexpected": 4},
        {"missing": 4},
        lambda: (Restoring(""), (ones(1, 1, 5, 5),)),
        code="self.part.load_state_dict(self.saved)",
        says="'model.'",
    ),
    "no checkpoint at all": Row(
        lambda: (restore, (Net(), [1, 2])),
        "state_dict",
        LOAD,
        {},
        {},
        lambda: (restore, (Net(), under(""))),
        code="model.load_state_dict(saved)",
        says="dict-like",
    ),
    "an optimizer of another model": Row(
        lambda: (resume, (Net(), optimizer_state(Net(norm=True)))),
        "state_dict",
        "torch.optim.SGD.load_state_dict",
        {"parameters": 6},
        {"parameters": 4},
        lambda: (resume, (Net(), optimizer_state(Net()))),
        code="optimizer.load_state_dict(saved)",
    ),
}
