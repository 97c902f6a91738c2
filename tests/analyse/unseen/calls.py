"""Calls with a wrong number or kind of arguments."""

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from tests.analyse.unseen.row import Row, ints, ones


class Scores(nn.Module):
    """x[n, 4] -> 3 scores, weighed where a weight is given."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 3)

    def forward(self, x: torch.Tensor, weight: torch.Tensor | None = None) -> torch.Tensor:
        scores = self.layer(x)
        return scores if weight is None else scores * weight


class Pair(nn.Module):
    """Two inputs through one tower, with a third argument or without."""

    def __init__(self, extra: bool) -> None:
        super().__init__()
        self.tower, self.extra = Scores(), extra

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        first = self.tower(a, ones(3), b) if self.extra else self.tower(a)
        return first - self.tower(b)


class Halves(nn.Module):
    """x[n, 4] -> mean and variance; a decoder that takes one of them."""

    def __init__(self, unpack: bool) -> None:
        super().__init__()
        self.encoder, self.decoder, self.unpack = nn.Linear(4, 8), nn.Linear(4, 4), unpack

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        halves = self.encoder(x).chunk(2, -1)
        return self.decoder(halves[0] if self.unpack else halves)


class Named(nn.Module):
    """Scores under a name."""

    def __init__(self) -> None:
        super().__init__()
        self.scores = Scores()

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"logits": self.scores(x)}


class Forgetful(nn.Module):
    """A forward without a return."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> None:
        self.layer(x)


def loss(model: nn.Module, x: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """A loss on whatever the model gives."""
    return F.cross_entropy(model(x), labels)


def probabilities(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """A method of a tensor on whatever the model gives."""
    return model(x).softmax(-1)


def without_target(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """A loss that is called with one argument."""
    criterion = nn.CrossEntropyLoss()
    return criterion(model(x))


def layer_without_width(x: torch.Tensor) -> torch.Tensor:
    """A constructor that lacks an argument."""
    return nn.Linear(4)(x)  # type: ignore[call-arg]  # that is the fault


def residual(halves: Any, x: torch.Tensor) -> torch.Tensor:
    """A tuple meets a tensor."""
    return halves + x


CALL = "python.call"
ROWS: dict[str, Row] = {
    "an array of what needs a gradient": Row(
        lambda: (lambda x: (x * 2).numpy(), (torch.ones(3, requires_grad=True),)),
        "opaque",
        "torch.Tensor.numpy",
        {},
        {},
        lambda: (lambda x: (x * 2).detach().numpy(), (torch.ones(3, requires_grad=True),)),
        code="(x * 2).numpy()",
        says="Use tensor.detach().numpy() instead",
    ),
    "joined without a list": Row(
        lambda: (lambda a, b: torch.cat(a, b), (ones(2, 3), ones(2, 3))),
        "call_signature",
        "torch.cat",
        {"lists": 0},
        {"lists": 1},
        lambda: (lambda a, b: torch.cat((a, b)), (ones(2, 3), ones(2, 3))),
        code="torch.cat(a, b)",
        says="one tensor is given where a tuple or list of tensors belongs",
    ),
    "one argument missing": Row(
        lambda: (Pair(False), (ones(2, 4),)),
        "call_signature",
        CALL,
        {"arguments": 1},
        {"arguments": 2},
        lambda: (Pair(False), (ones(2, 4), ones(2, 4))),
        says="b missing",
    ),
    "a part that gets one too many": Row(
        lambda: (Pair(True), (ones(2, 4), ones(2, 4))),
        "call_signature",
        CALL,
        {"arguments": 4},
        {"arguments": 3},
        lambda: (Pair(False), (ones(2, 4), ones(2, 5))),
        twin_kind="linear_in_features",
        module="tower",
        code="self.tower(a, ones(3), b)",
        says="Scores.forward takes (x, weight=None)",
    ),
    "a recurrent layer in a row of layers": Row(
        lambda: (nn.Sequential(nn.GRU(4, 5), nn.Dropout(0.0), nn.Linear(5, 2)), (ones(3, 2, 4),)),
        "call_signature",
        "torch.nn.functional.dropout",
        {"values": 2},
        {"values": 1},
        lambda: (nn.Sequential(nn.Linear(4, 5), nn.Dropout(0.0), nn.Linear(5, 2)), (ones(3, 2, 4),)),
        module="1",
    ),
    "two halves into one layer": Row(
        lambda: (Halves(False), (ones(2, 4),)),
        "call_signature",
        "torch.nn.functional.linear",
        {"values": 2},
        {"values": 1},
        lambda: (Halves(True), (ones(2, 4),)),
        module="decoder",
        code="self.decoder(",
        says="(f32[2,4], f32[2,4])",
    ),
    "a loss of a dict": Row(
        lambda: (loss, (Named(), ones(2, 4), ints(0, 1))),
        "call_signature",
        "torch.nn.functional.cross_entropy",
        {"tensors": 0},
        {"tensors": 1},
        lambda: (loss, (Scores(), ones(2, 4), ints(0, 1))),
        code="F.cross_entropy(model(x)",
        says="a dict {logits: f32[2,3]}",
    ),
    "a method of a dict": Row(
        lambda: (probabilities, (Named(), ones(2, 4))),
        "call_signature",
        "python.error",
        {"tensors": 0},
        {"tensors": 1},
        lambda: (probabilities, (Scores(), ones(2, 4))),
        code="model(x).softmax(-1)",
        says="dict",
    ),
    "nothing was returned": Row(
        lambda: (probabilities, (Forgetful(), ones(2, 4))),
        "call_signature",
        "python.error",
        {"tensors": 0},
        {"tensors": 1},
        lambda: (probabilities, (nn.Linear(4, 3), ones(2, 4))),
        code="model(x).softmax(-1)",
        says="None is used where a tensor belongs",
    ),
    "a batch as a dict": Row(
        lambda: (Scores(), ({"x": ones(2, 4), "name": "first"},)),
        "call_signature",
        "torch.nn.functional.linear",
        {"tensors": 0},
        {"tensors": 1},
        lambda: (Scores(), (ones(2, 4),)),
        module="layer",
        code="self.layer(x)",
    ),
    "an array": Row(
        lambda: (Scores(), (np.ones((2, 4), dtype=np.float32),)),
        "call_signature",
        "torch.nn.functional.linear",
        {"tensors": 0},
        {"tensors": 1},
        lambda: (Scores(), (torch.from_numpy(np.ones((2, 4), dtype=np.float32)),)),
        module="layer",
        says="numpy.ndarray",
    ),
    "None": Row(
        lambda: (Scores(), (None,)),
        "call_signature",
        "torch.nn.functional.linear",
        {"tensors": 0},
        {"tensors": 1},
        lambda: (Scores(), (ones(2, 4), None)),
        module="layer",
        says="None is used where a tensor belongs",
    ),
    "a loss without its target": Row(
        lambda: (without_target, (Scores(), ones(2, 4))),
        "call_signature",
        CALL,
        {"arguments": 1},
        {"arguments": 2},
        lambda: (loss, (Scores(), ones(2, 4), ones(2, 3))),
        code="criterion(model(x))",
        says="target",
    ),
    "a layer without its width": Row(
        lambda: (layer_without_width, (ones(2, 4),)),
        "call_signature",
        CALL,
        {"missing": 1},
        {"missing": 0},
        lambda: (lambda x: nn.Linear(4, 2)(x), (ones(2, 4),)),
        code="nn.Linear(4)",
        says="out_features",
    ),
    "a tuple plus a tensor": Row(
        lambda: (residual, ((ones(2), ones(2)), ones(2))),
        "call_signature",
        "python.error",
        {"values": 2},
        {"values": 1},
        lambda: (residual, (ones(2), ones(2))),
        code="halves + x",
    ),
    "a fraction for a size": Row(
        lambda: (lambda x: x.view(2, 4 / 2, 2), (ones(2, 4),)),
        "call_signature",
        "torch.Tensor.view",
        {},
        {},
        lambda: (lambda x: x.view(2, 4 // 2, 2), (ones(2, 4),)),
        code="x.view(2, 4 / 2, 2)",
        says="float is given where an int belongs",
    ),
}
