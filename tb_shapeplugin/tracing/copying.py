"""Copies a model and its arguments with fakes in place of tensors: module by module, so that no depth of nesting is too deep."""

import copy
import copyreg
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from tb_shapeplugin.tracing.alteration import Alteration, altered_fake
from tb_shapeplugin.tracing.arguments import leaves
from tb_shapeplugin.tracing.compat import FakeTensor, FakeTensorMode, fake_of, is_lazy, is_sharded, no_function_modes
from tb_shapeplugin.tracing.plain_state import Photograph

_ATOMS = (bool, int, float, complex, str, bytes, type(None), type, torch.dtype, torch.device)
_HELD_BY_NAME = ("_parameters", "_buffers", "_modules")


class CannotCopy(Exception):
    """Something in the model can't be copied; the message names it."""


class _Memo(dict[Any, Any]):
    """What deepcopy remembers, upon what is given: trials leave the given as it is."""

    def __init__(self, given: Mapping[Any, Any]) -> None:
        super().__init__()
        self._given = given

    def __missing__(self, key: Any) -> Any:
        return self._given[key]

    def get(self, key: Any, default: Any = None) -> Any:
        """Its own entry, else the given one."""
        return self[key] if key in self else self._given.get(key, default)


def lazy_buffers(tensors: Sequence[torch.Tensor]) -> dict[int, torch.Tensor]:
    """A memo for ``copy.deepcopy`` of those among them that aren't materialised: unlike parameters they don't know how they are copied."""
    lazy = (tensor for tensor in tensors if isinstance(tensor, nn.UninitializedBuffer))
    make: Callable[..., torch.Tensor] = nn.UninitializedBuffer  # torch's types are those of its parent
    return {id(tensor): make(tensor.requires_grad, tensor.device, tensor.dtype) for tensor in lazy}


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
            if memo.get(id(tensor)) is None:
                memo[id(tensor)] = fake_of(self._mode, tensor)
                self.copied.append((memo[id(tensor)], tensor))
            return memo.get(id(tensor))
        with no_function_modes():
            return func(*args, **(kwargs or {}))


class FakeCopy:
    """A fake copy of several values together, so that what they share stays shared.

    Attributes that can't be copied (locks, generators, process groups) are shared with the original.

    Args:
        mode: the mode of the fakes.
        values: what to copy.
        modules: every module that can be reached from them.
        tensors: tensors that can be reached from them; others are found on the way.
        memo: as ``copy.deepcopy`` takes it: what is known already.
        alteration: which of the tensors get a fake of another shape or dtype.

    Raises:
        CannotCopy: something resists even so.
    """

    def __init__(
        self,
        mode: FakeTensorMode,
        values: tuple[Any, ...],
        modules: Sequence[nn.Module],
        tensors: Sequence[torch.Tensor],
        memo: Mapping[Any, Any],
        alteration: Alteration | None = None,
    ) -> None:
        sharded = next((module for module in modules if is_sharded(module)), None)
        if sharded is not None:
            raise CannotCopy(f"FSDP gathers the parameters of its {type(sharded).__name__} as it runs")
        given = {**memo, **lazy_buffers(tensors)}
        self.fakes: list[tuple[torch.Tensor, torch.Tensor]] = []  # each with the tensor that it stands for
        for tensor in tensors:
            if type(tensor) in (torch.Tensor, nn.Parameter, FakeTensor):
                try:
                    altered = alteration.of_reached(tensor) if alteration is not None else None
                    given[id(tensor)] = fake = fake_of(mode, tensor) if altered is None else altered_fake(mode, tensor, altered)
                except Exception as error:
                    kind = "nested" if tensor.is_nested else str(tensor.layout)
                    raise CannotCopy(f"a {kind} tensor has no shape-level twin: {type(error).__name__}: {error}") from error
                self.fakes.append((fake, tensor))
        with _CopyMode(mode) as copying:
            try:
                self.values, self.modules = _copied_together(values, modules, given)
            except Exception:
                given.update(_shared(values, modules, given))  # may raise CannotCopy, too
                try:
                    self.values, self.modules = _copied_together(values, modules, given)
                except Exception as error:
                    raise CannotCopy(f"{type(error).__name__}: {error}") from error
        self.fakes += copying.copied
        met = {id(fake) for fake, _ in self.fakes}
        self.fakes += [pair for pair in _registered(modules, self.modules) if id(pair[0]) not in met]


def _copied_together(
    values: tuple[Any, ...], modules: Sequence[nn.Module], given: Mapping[Any, Any]
) -> tuple[tuple[Any, ...], list[nn.Module]]:
    memo = _Memo(given)
    states = []
    for module in modules:
        state = None if given.get(id(module)) is not None else _plain_state(module)
        if state is not None:
            memo[id(module)] = made = type(module).__new__(type(module))
            memo[id(vars(module))] = vars(made)
            states.append((made, state))
    for made, state in reversed(states):  # inner ones first, as deepcopy finishes them
        made.__setstate__({name: _copied(value, memo) for name, value in state.items()})
    return tuple(_copied(value, memo) for value in values), [_copied(module, memo) for module in modules]


def _plain_state(module: nn.Module) -> Mapping[str, Any] | None:
    """What a module consists of; None for one that says itself how it is copied."""
    if hasattr(type(module), "__deepcopy__") or type(module) in copyreg.dispatch_table:
        return None
    reduced = module.__reduce_ex__(4)
    if not isinstance(reduced, tuple) or len(reduced) < 3:
        return None
    made_by, made_of, state = reduced[:3]
    plain = getattr(made_by, "__name__", "") == "__newobj__" and made_of == (type(module),) and not any(reduced[3:])
    return state if plain and isinstance(state, dict) else None


def _copied(value: Any, memo: _Memo) -> Any:
    """``copy.deepcopy``, with short ways for what modules are full of: empty tables of hooks and tables of what is copied already."""
    kind = type(value)
    if kind in _ATOMS:
        return value
    known = memo.get(id(value))
    if known is not None:
        return known
    if kind is dict or (kind is OrderedDict and not vars(value)):
        memo[id(value)] = made = kind()
        for key, item in value.items():
            made[_copied(key, memo)] = _copied(item, memo)
        return made
    return copy.deepcopy(value, memo)


def _shared(values: tuple[Any, ...], modules: Sequence[nn.Module], given: Mapping[Any, Any]) -> dict[int, Any]:
    """A memo in which every attribute and argument that can't be copied stands for itself."""
    held = dict(given)
    for module in modules:
        if _copies_plainly(module):
            held[id(module)] = module  # copied by itself: an attribute isn't to blame for what another module holds
    attributes = (value for module in modules for name, value in vars(module).items() if name not in _HELD_BY_NAME)
    arguments = (leaf for _, leaf in leaves(values) if not isinstance(leaf, (nn.Module, torch.Tensor)))
    shared = [value for value in (*attributes, *arguments) if not _can_be_copied(value, held)]
    for value in shared:
        reached = Photograph(value)
        if reached.tensors or reached.modules:  # a run of the copy would write to the user's own
            raise CannotCopy(f"a {type(value).__name__} resists, and holds tensors")
    return {id(value): value for value in shared}


def _copies_plainly(module: nn.Module) -> bool:
    try:
        return _plain_state(module) is not None
    except Exception:
        return False


def _can_be_copied(value: Any, given: Mapping[Any, Any]) -> bool:
    try:
        _copied(value, _Memo(given))
    except Exception:
        return False
    return True


def _registered(originals: Sequence[nn.Module], copies: Sequence[nn.Module]) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    for original, twin in zip(originals, copies, strict=True):
        for theirs, ours in ((original._parameters, twin._parameters), (original._buffers, twin._buffers)):
            fakes = dict(ours.items())  # TorchScript's own tables have no get
            for name, tensor in theirs.items():
                fake = fakes.get(name)
                if tensor is not None and fake is not None and not is_lazy(tensor):
                    yield fake, tensor
