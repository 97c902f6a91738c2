"""Other ways to train the same model: another dtype, another optimizer, blocks that are computed once more in the backward."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from tb_shapeplugin.tracing.alteration import Alteration, OtherDtype
from tb_shapeplugin.tracing.passes.memory import Training
from tb_shapeplugin.tracing.twin import Twin

_FEWEST_BLOCKS = 2

_OPTIMIZERS: dict[str, Callable[[list[Any]], Any]] = {
    "SGD": lambda parameters: torch.optim.SGD(parameters, lr=1e-3),
    "SGD with momentum": lambda parameters: torch.optim.SGD(parameters, lr=1e-3, momentum=0.9),
    "Adam": lambda parameters: torch.optim.Adam(parameters),
    "AdamW": lambda parameters: torch.optim.AdamW(parameters),
}


def as_it_is(twin: Twin) -> None:
    """Changes nothing."""


@dataclass(frozen=True)
class OtherTraining:
    """One way to train, as what it changes: tensors of the twin, the optimizer, the context of forward and loss, blocks of the twin."""

    kind: str  # "dtype" | "optimizer" | "checkpointing"
    name: str
    training: Training | None
    alteration: Alteration | None = None
    around: Callable[[], contextlib.AbstractContextManager[Any]] = contextlib.nullcontext
    prepare: Callable[[Twin], None] = as_it_is


def other_trainings(model: Any, training: Training | None) -> Iterator[OtherTraining]:
    """Those that come into question for a model as it is trained, or for its forward alone."""
    if not isinstance(model, nn.Module):
        return
    yield from _dtypes(model, training)
    if training is None:
        return
    groups = training.optimizer.param_groups if training.optimizer is not None else [{"params": model.parameters()}]
    parameters = [parameter for group in groups for parameter in group["params"] if parameter.requires_grad]
    present = type(training.optimizer).__name__ if training.optimizer is not None else ""
    for name, make in _OPTIMIZERS.items() if parameters else ():
        if name != present or name == "SGD":
            yield OtherTraining("optimizer", name, replace(training, optimizer=make(parameters)))
    path = repeated_blocks(model)
    if path is not None:
        yield OtherTraining("checkpointing", f"checkpointed {path}", training, prepare=lambda twin: _checkpointed(twin, path))


def _dtypes(model: nn.Module, training: Training | None) -> Iterator[OtherTraining]:
    floating = {parameter.dtype for parameter in model.parameters() if parameter.is_floating_point()}
    if len(floating) != 1:
        return
    (dtype,) = floating
    device = next(model.parameters()).device.type
    if dtype is torch.float32 and torch.amp.is_autocast_available(device) and not torch.is_autocast_enabled(device):
        yield OtherTraining("dtype", "bfloat16 autocast", training, around=lambda: torch.autocast(device, torch.bfloat16))
    for other in (torch.float32, torch.bfloat16):
        if other is not dtype:
            yield OtherTraining("dtype", str(other).removeprefix("torch."), training, OtherDtype(other))


def repeated_blocks(model: nn.Module) -> str | None:
    """The path of the container of the largest equal blocks; None without any."""
    best, most = None, 0
    for path, module in model.named_modules():
        blocks = list(module._modules.values())
        if not isinstance(module, (nn.ModuleList, nn.Sequential)) or len(blocks) < _FEWEST_BLOCKS or None in blocks:
            continue
        sizes = {(type(block), sum(parameter.numel() for parameter in block.parameters())) for block in blocks if block is not None}
        held = sum(parameter.numel() for parameter in module.parameters())
        if len(sizes) == 1 and held > most:
            best, most = path, held
    return best


def _checkpointed(twin: Twin, path: str) -> None:
    for block in twin.model.get_submodule(path).children():
        vars(block)["forward"] = _once_more(block.forward)


def _once_more(forward: Callable[..., Any]) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        return checkpoint(forward, *args, use_reentrant=False, **kwargs)

    return run
