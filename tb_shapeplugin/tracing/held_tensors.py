"""What a twin holds before its first op, each tensor with the module that it belongs to and its name."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from tb_shapeplugin.tracing.arguments import leaves
from tb_shapeplugin.tracing.inputs import bound_names
from tb_shapeplugin.tracing.twin import Twin


@dataclass(frozen=True)
class Held:
    """A tensor, the path of the module that it belongs to, and its name; None and "" where it belongs to none."""

    tensor: torch.Tensor
    owner: str | None = None
    name: str = ""


class HeldTensors:
    """The parameters, buffers, inputs and optimizer state of one twin."""

    def __init__(self, twin: Twin, paths: Mapping[int, str]) -> None:
        owners = [(paths.get(id(module)), module) for module in twin.copies]
        self.parameters = list(_held(owners, "_parameters"))
        self.buffers = list(_held(owners, "_buffers"))
        function = twin.model.forward if isinstance(twin.model, nn.Module) else twin.model
        named = bound_names(function, twin.args, twin.kwargs)
        found = [(name, leaf) for given, value in named for name, leaf in leaves(value, given)]
        self.inputs = [Held(leaf, None, name) for name, leaf in found if isinstance(leaf, torch.Tensor)]
        self._of_parameter = {id(held.tensor): held for held in reversed(self.parameters)}
        leaf_tensors = [held for held in (*self.parameters, *self.inputs) if held.tensor.is_leaf and held.tensor.requires_grad]
        self.leaves = list({id(held.tensor): held for held in leaf_tensors}.values())

    def gradients(self) -> list[Held]:
        """Those that the leaves have now, each named as its leaf."""
        return [Held(held.tensor.grad, held.owner, held.name) for held in self.leaves if held.tensor.grad is not None]

    def state(self, optimizer: Any) -> list[Held]:
        """What an optimizer keeps, each tensor named by its parameter and its key."""
        return [] if optimizer is None else list(self._state(optimizer.state.items()))

    def _state(self, states: Iterable[tuple[Any, Any]]) -> Iterator[Held]:
        for parameter, state in states:
            known = self._of_parameter.get(id(parameter))
            for key, leaf in leaves(state):
                if isinstance(leaf, torch.Tensor):
                    label = key[2:-2] if key.startswith("['") and key.endswith("']") else key
                    yield Held(leaf, known.owner if known else None, f"{known.name}.{label}" if known else label)


def _held(owners: Iterable[tuple[str | None, nn.Module]], kind: str) -> Iterator[Held]:
    for path, module in owners:
        for name, tensor in getattr(module, kind).items():
            if tensor is not None:
                yield Held(tensor, path, f"{path}.{name}" if path else name)
