"""The twin: a deep copy of model and arguments whose tensors are fake. Questions are asked of it, never of the model."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import nn

from tb_shapeplugin.tracing.alteration import Alteration
from tb_shapeplugin.tracing.compat import FakeTensorMode, fresh_fake_mode, is_compiled, is_lazy, no_function_modes, with_contents
from tb_shapeplugin.tracing.copying import FakeCopy
from tb_shapeplugin.tracing.inputs import MAKE_TENSOR, Spec
from tb_shapeplugin.tracing.plain_state import Photograph


@dataclass(frozen=True)
class Twin:
    """The copy, and the mode under which it runs."""

    mode: FakeTensorMode
    model: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    roots: list[tuple[torch.Tensor, torch.Tensor]]  # each fake with the tensor that it stands for
    originals: list[nn.Module]  # every module that can be reached, those that a function closes over or finds among its globals too
    copies: list[nn.Module]  # theirs, in the same order
    optimizer: Any = None  # of the copy's parameters, where one was given
    had_lazy: bool = False  # were there layers that a first run materialises for good?

    @cached_property
    def compiled_parts(self) -> frozenset[int]:
        """Ids of the copies whose originals torch.compile compiles in place; copies forget it."""
        return frozenset(id(twin) for original, twin in zip(self.originals, self.copies, strict=True) if is_compiled(original))

    @cached_property
    def stand_ins(self) -> dict[int, nn.Module]:
        """The copy to run by the id of the module that is called: functions are not copied, so theirs are called by their originals."""
        return {id(original): twin for original, twin in zip(self.originals, self.copies, strict=True)}


def make_twin(
    model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], optimizer: Any = None, alteration: Alteration | None = None
) -> Twin:
    """The fake deep copy of model and arguments together, so that what they share stays shared. Nothing is allocated.

    Attributes that can't be copied (locks, generators, process groups) are shared with the original. With an ``alteration`` some of
    the tensors have another shape or dtype than those that they stand for.

    Raises:
        CannotCopy: the model resists even so.
    """
    mode = fresh_fake_mode()

    def tensor_for(spec: Spec) -> torch.Tensor:
        shape, dtype = (alteration.of_reached(spec) if alteration is not None else None) or (spec.shape, spec.dtype)
        with mode:
            return torch.empty(shape, dtype=dtype, device=spec.device)

    photograph = Photograph(model, args, kwargs, *_state_of(optimizer))
    copied = FakeCopy(mode, (model, args, kwargs, optimizer), photograph.modules, photograph.tensors, {MAKE_TENSOR: tensor_for}, alteration)
    twin, twins_args, twins_kwargs, twins_optimizer = copied.values
    had_lazy = _make_lazy_fake(mode, copied.modules)
    _remember_counts(copied.fakes, optimizer)
    return Twin(mode, twin, twins_args, twins_kwargs, copied.fakes, photograph.modules, copied.modules, twins_optimizer, had_lazy)


def _remember_counts(fakes: list[tuple[torch.Tensor, torch.Tensor]], optimizer: Any) -> None:
    """An optimizer reads how often it has stepped, which its state holds as single numbers."""
    states = optimizer.state.values() if optimizer is not None else ()
    counts = {id(value) for state in states if isinstance(state, dict) for value in state.values()}
    for fake, real in fakes:
        if id(real) in counts and real.numel() == 1 and real.device.type == "cpu":
            with_contents(fake, real)


def _state_of(optimizer: Any) -> tuple[Any, ...]:
    """What an optimizer holds; its hooks and schedulers are left out."""
    return () if optimizer is None else (optimizer.param_groups, list(optimizer.state.values()))


def _make_lazy_fake(mode: FakeTensorMode, modules: list[nn.Module]) -> bool:
    """Lazy parameters and buffers of the twin become fakes when they are materialised, whatever device they name; were there any?"""
    found = False
    for module in modules:
        for tensors in (module._parameters, module._buffers):
            for name, tensor in tensors.items():
                if tensor is not None and is_lazy(tensor):
                    found = True
                    setattr(tensor, "materialize", _materialising(mode, tensors, name, tensor))  # noqa: B010  its own is a method
    return found


def _materialising(mode: FakeTensorMode, home: dict[str, Any], name: str, lazy: torch.Tensor) -> Callable[..., None]:
    def materialize(shape: Any, device: Any = None, dtype: Any = None) -> None:
        with mode, no_function_modes():
            made = torch.empty(shape, device=device or lazy.device, dtype=dtype or lazy.dtype)
            home[name] = nn.Parameter(made, requires_grad=lazy.requires_grad) if isinstance(lazy, nn.Parameter) else made

    return materialize
