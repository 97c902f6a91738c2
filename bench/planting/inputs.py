"""Wrong inputs: one tensor that a model is called with in another shape or of another dtype."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch

Built: TypeAlias = tuple[Any, tuple[Any, ...], dict[str, Any]]


@dataclass(frozen=True)
class WrongInput:
    """What is done to one argument before the model is called."""

    argument: int | str
    what: str  # a name in _WAYS
    dims: tuple[int, ...]  # that it is done to

    module = ""
    kind = "input"

    def __str__(self) -> str:
        return f"argument {self.argument!r} {self.what} {self.dims}"


def _longer(x: torch.Tensor, dim: int) -> torch.Tensor:
    return torch.cat([x, x.narrow(dim, 0, 1)], dim)


_WAYS: dict[str, Callable[..., torch.Tensor]] = {
    "without its batch": lambda x: x.select(0, 0),
    "with a batch too many": lambda x: x.unsqueeze(0),
    "with an axis too many at the end": lambda x: x.unsqueeze(-1),
    "with two axes exchanged": lambda x, a, b: x.transpose(a, b).contiguous(),
    "flattened": lambda x: x.flatten(1),
    "one longer": _longer,
    "one shorter": lambda x, dim: x.narrow(dim, 0, x.shape[dim] - 1),
    "one wide": lambda x, dim: x.narrow(dim, 0, 1),
    "in double precision": lambda x: x.double(),
    "as whole numbers": lambda x: x.long(),
    "as floats": lambda x: x.float(),
    "as bytes": lambda x: x.to(torch.uint8),
}
_OF_ONE_DIM = ("one longer", "one shorter", "one wide")


def wrong_input(rng: random.Random, args: tuple[Any, ...], kwargs: dict[str, Any]) -> WrongInput:
    """One way of getting one of the model's tensors wrong."""
    given: dict[int | str, Any] = dict([*enumerate(args), *kwargs.items()])
    argument = rng.choice([name for name, value in given.items() if isinstance(value, torch.Tensor) and value.dim()])
    x, what = given[argument], rng.choice(list(_WAYS))
    if what == "with two axes exchanged":
        return WrongInput(argument, what, tuple(rng.sample(range(x.dim()), 2)) if x.dim() > 1 else (0, 0))
    return WrongInput(argument, what, (rng.randrange(x.dim()),) if what in _OF_ONE_DIM else ())


def with_wrong_input(wrong: WrongInput, built: Built) -> Built:
    """The model and its arguments, that one of them wrong."""
    model, args, kwargs = built
    change = _WAYS[wrong.what]
    if isinstance(wrong.argument, str):
        return model, args, {**kwargs, wrong.argument: change(kwargs[wrong.argument], *wrong.dims)}
    return model, tuple(change(x, *wrong.dims) if at == wrong.argument else x for at, x in enumerate(args)), kwargs
