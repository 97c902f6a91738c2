"""The twin: a deep copy of model and arguments whose tensors are fake. Questions are asked of it, never of the model."""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from tb_shapeplugin.tracing.arguments import leaves
from tb_shapeplugin.tracing.compat import FakeTensorMode, fake_of, fresh_fake_mode, is_lazy, no_function_modes
from tb_shapeplugin.tracing.inputs import MAKE_TENSOR, Spec
from tb_shapeplugin.tracing.plain_state import Photograph


class CannotCopy(Exception):
    """Something in the model can't be copied; the message names it."""


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

    @cached_property
    def stand_ins(self) -> dict[int, nn.Module]:
        """The copy to run by the id of the module that is called: functions are not copied, so theirs are called by their originals."""
        return {id(original): twin for original, twin in zip(self.originals, self.copies, strict=True)}


class _CopyMode(TorchFunctionMode):
    """Makes deepcopy take the fake of every tensor instead of its contents."""

    def __init__(self, mode: FakeTensorMode) -> None:
        super().__init__()
        self._mode = mode
        self.copied: list[tuple[torch.Tensor, torch.Tensor]] = []

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        name = getattr(func, "__name__", "")
        if name == "clone":  # deepcopy of a Parameter clones its data
            with no_function_modes():
                return func(fake_of(self._mode, args[0]), **(kwargs or {}))
        if name == "__deepcopy__" and not isinstance(args[0], nn.Parameter):
            tensor, memo = args
            if id(tensor) not in memo:
                memo[id(tensor)] = fake_of(self._mode, tensor)
                self.copied.append((memo[id(tensor)], tensor))
            return memo[id(tensor)]
        with no_function_modes():
            return func(*args, **(kwargs or {}))


def make_twin(model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Twin:
    """The fake deep copy of model and arguments together, so that what they share stays shared. Nothing is allocated.

    Attributes that can't be copied (locks, generators, process groups) are shared with the original.

    Raises:
        CannotCopy: the model resists even so.
    """
    mode = fresh_fake_mode()

    def tensor_for(spec: Spec) -> torch.Tensor:
        with mode:
            return torch.empty(spec.shape, dtype=spec.dtype, device=spec.device)

    memo: dict[Any, Any] = {MAKE_TENSOR: tensor_for}
    originals = Photograph(model, args, kwargs).modules
    with _CopyMode(mode) as copying:
        try:
            copied = copy.deepcopy((model, args, kwargs, originals), dict(memo))
        except Exception:
            memo.update(_shared(originals, args, kwargs, memo))
            try:
                copied = copy.deepcopy((model, args, kwargs, originals), memo)
            except Exception as error:
                raise CannotCopy(f"{type(error).__name__}: {error}") from error
    twin, twins_args, twins_kwargs, copies = copied
    _make_lazy_fake(mode, copies)
    return Twin(mode, twin, twins_args, twins_kwargs, [*copying.copied, *_registered(originals, copies)], originals, copies)


def _make_lazy_fake(mode: FakeTensorMode, modules: list[nn.Module]) -> None:
    """Lazy parameters and buffers of the twin become fakes when they are materialised, whatever device they name."""
    for module in modules:
        for tensors in (module._parameters, module._buffers):
            for name, tensor in tensors.items():
                if tensor is not None and is_lazy(tensor):
                    setattr(tensor, "materialize", _materialising(mode, tensors, name, tensor))  # noqa: B010  its own is a method


def _materialising(mode: FakeTensorMode, home: dict[str, Any], name: str, lazy: torch.Tensor) -> Callable[..., None]:
    def materialize(shape: Any, device: Any = None, dtype: Any = None) -> None:
        with mode, no_function_modes():
            made = torch.empty(shape, device=device or lazy.device, dtype=dtype or lazy.dtype)
            home[name] = nn.Parameter(made, requires_grad=lazy.requires_grad) if isinstance(lazy, nn.Parameter) else made

    return materialize


def _registered(originals: list[nn.Module], copies: list[nn.Module]) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    for original, twin in zip(originals, copies, strict=True):
        for theirs, ours in ((original._parameters, twin._parameters), (original._buffers, twin._buffers)):
            for name, tensor in theirs.items():
                fake = ours.get(name)
                if tensor is not None and fake is not None and not is_lazy(tensor):
                    yield fake, tensor


def _shared(modules: list[nn.Module], args: tuple[Any, ...], kwargs: dict[str, Any], memo: dict[Any, Any]) -> dict[int, Any]:
    """A deepcopy memo in which every attribute that can't be copied stands for itself."""
    shared: dict[int, Any] = {}
    for module in modules:
        for name, value in vars(module).items():
            if name in ("_parameters", "_buffers", "_modules"):
                continue
            try:
                copy.deepcopy(value, dict(memo))
            except Exception:
                shared[id(value)] = value
    for _, leaf in leaves((args, kwargs)):
        if isinstance(leaf, (nn.Module, torch.Tensor)):
            continue
        try:
            copy.deepcopy(leaf, dict(memo))
        except Exception:
            shared[id(leaf)] = leaf
    return shared
