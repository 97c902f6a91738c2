"""What a capture stands on, in a form that can be compared: is it still the same model, input and mode?"""

import weakref
from collections import OrderedDict
from collections.abc import Iterable
from types import FunctionType
from typing import Any

import torch
from torch import nn

from tb_shapeplugin.tracing.compat import autocast_state, is_lazy, storage_key
from tb_shapeplugin.tracing.plain_state import held_by_class, held_by_function, is_closed, is_function, items_of

_MOST_OBJECTS = 50_000
_MOST_ELEMENTS = 1 << 16  # of an index, mask or length whose contents are compared
_PLAIN = frozenset({bool, int, float, str, type(None)})
_USUAL = frozenset({torch.Tensor, nn.Parameter})
_TENSORS = ("_parameters", "_buffers")
_TABLES = frozenset({dict, OrderedDict, set, list})  # most of a module's are empty: those are passed over at once


class Fingerprint:
    """Structure, plain attributes, and of each tensor the object, its memory and its count of writes.

    Equal fingerprints mean that nothing was changed by any means that torch or Python tell of. Nobody tells of a write into
    floating numbers through memory that numpy shares. What it looked at is not kept alive.
    """

    def __init__(self, *roots: Any) -> None:
        self.complete = True  # False: too much to look at, or something that can't be proven the same
        self._tensors: list[weakref.ref[torch.Tensor]] = []
        self._parts: list[Any] = [
            torch.is_grad_enabled(),
            torch.is_inference_mode_enabled(),
            autocast_state(),
            torch.get_default_dtype(),
            torch.are_deterministic_algorithms_enabled(),
        ]
        self._classes: set[type] = set()
        met: set[int] = set()
        waiting = self._sorted(roots)
        while waiting and self.complete:
            value = waiting.pop()
            if id(value) in met:
                self._parts.append(id(value))
            else:
                met.add(id(value))
                self.complete = len(met) < _MOST_OBJECTS
                waiting += self._looked_into(value)

    def _sorted(self, values: Iterable[Any]) -> list[Any]:
        """Compares plain values at once; gives those that are to be looked into."""
        open_ones = []
        take = self._parts.append
        for value in values:
            kind = type(value)
            if kind in _TABLES:
                if value:
                    open_ones.append(value)
            elif kind in _PLAIN or (kind is tuple and all(type(item) in _PLAIN for item in value)) or is_closed(value):
                take(value)
            else:
                open_ones.append(value)
        return open_ones

    def equals(self, other: "Fingerprint") -> bool:
        """Is everything as it was?"""
        if not (self.complete and other.complete) or len(self._tensors) != len(other._tensors):
            return False
        pairs = zip(self._tensors, other._tensors, strict=True)
        return all((tensor := mine()) is not None and tensor is theirs() for mine, theirs in pairs) and self._parts == other._parts

    def _looked_into(self, value: Any) -> list[Any]:
        if isinstance(value, torch.Tensor):
            self._tensor(value)
            return []
        self._parts += (id(value), type(value))
        if isinstance(value, nn.Module):
            return self._module(value)
        if is_function(value):
            if isinstance(value, FunctionType):
                self._parts.append(value.__code__)
            return self._sorted(held_by_function(value))
        keys, items = items_of(value)
        self._parts += keys
        attributes = getattr(value, "__dict__", None)
        if isinstance(attributes, dict):
            self._parts += attributes
            items += attributes.values()
        return self._sorted(items)

    def _module(self, module: nn.Module) -> list[Any]:
        """The same for what there is most of, without a detour through its tables."""
        attributes = vars(module)
        self._parts += attributes
        held = [value for name, value in attributes.items() if name not in _TENSORS]
        for name in _TENSORS:
            table = attributes.get(name) or {}
            self._parts += table
            for tensor in table.values():
                if tensor is None:
                    self._parts.append(None)
                else:
                    self._tensor(tensor)
        if type(module) not in self._classes:
            self._classes.add(type(module))
            held += held_by_class(type(module))
        return self._sorted(held)

    def _tensor(self, tensor: torch.Tensor) -> None:
        self._tensors.append(weakref.ref(tensor))
        if type(tensor) not in _USUAL and is_lazy(tensor):
            return
        if tensor.is_inference():  # its writes aren't counted
            self.complete = False
            return
        self._parts += (tensor._version, tensor.shape, tensor.dtype, tensor.device, tensor.requires_grad, storage_key(tensor))
        if tensor.is_floating_point() or type(tensor) is not torch.Tensor or tensor.numel() > _MOST_ELEMENTS:
            return
        if tensor.layout is torch.strided and tensor.device.type == "cpu":
            self._parts.append(tensor.numpy().tobytes())
