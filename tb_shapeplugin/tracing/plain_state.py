"""Photographs everything plain that a run can reach and change: attributes, containers, objects, closures, generators."""

import random
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from functools import partial
from types import FunctionType, MethodType, ModuleType
from typing import Any

import torch
from torch import nn

from tb_shapeplugin.tracing.source import is_users_file

# What is never looked into: it holds no state of the model, or belongs to the whole process.
_CLOSED = (bool, int, float, complex, str, bytes, type(None), type, ModuleType, weakref.ref, torch.dtype, torch.device, torch.Size)
_MOST_OBJECTS = 200_000


_closed_kinds: dict[type, bool] = {}


def _is_closed(value: Any) -> bool:
    kind = type(value)
    known = _closed_kinds.get(kind)
    if known is None:
        known = _closed_kinds[kind] = issubclass(kind, _CLOSED)
    return known


class Photograph:
    """Every attribute and item that can be reached from the given objects.

    ``tensors`` and ``modules`` list those among them; what tensors hold is not copied.
    """

    def __init__(self, *roots: Any) -> None:
        self.tensors: list[torch.Tensor] = []
        self.modules: list[nn.Module] = []
        self._undo: list[Callable[[], None]] = []
        self._met: dict[int, Any] = {}  # the object too, so that its id isn't used again
        waiting = list(roots)
        while waiting and len(self._met) < _MOST_OBJECTS:
            value = waiting.pop()
            if _is_closed(value) or id(value) in self._met:
                continue
            self._met[id(value)] = value
            waiting += self._taken(value)

    def put_back(self) -> None:
        """Every attribute is again the object that it was, every container holds what it held."""
        for undo in reversed(self._undo):
            undo()

    def _taken(self, value: Any) -> list[Any]:
        """Remembers what the object holds; gives what is to be looked into next."""
        if isinstance(value, torch.Tensor):
            self.tensors.append(value)
            self._undo.append(partial(_set_flags, value, value.requires_grad))
            return []
        if isinstance(value, (FunctionType, MethodType, partial)):
            return list(_held_by_function(value))
        generator = _generator_undo(value)
        if generator is not None:
            self._undo.append(generator)
            return []
        held: list[Any] = []
        if isinstance(value, (dict, list, set, deque)):
            held += self._container(value)
        elif isinstance(value, (tuple, frozenset)):
            held += value
        attributes = getattr(value, "__dict__", None)
        if isinstance(attributes, dict):
            held += self._container(attributes)
            if isinstance(value, nn.Module):
                self.modules.append(value)
                held += _globals_of(type(value).forward)
        return held

    def _container(self, value: Any) -> list[Any]:
        content = list(value.items()) if isinstance(value, dict) else list(value)
        self._undo.append(partial(_refill, value, content))
        return [item for _, item in content if not _is_closed(item)] if isinstance(value, dict) else content


def _refill(value: Any, content: list[Any]) -> None:
    """The container holds again what it held, by its builtin's methods: subclasses may forbid or do other things."""
    current = list(value.items()) if isinstance(value, dict) else list(value)
    if isinstance(value, dict):
        if len(current) == len(content) and all(a == c and b is d for (a, b), (c, d) in zip(current, content, strict=True)):
            return
        kind: Any = OrderedDict if isinstance(value, OrderedDict) else dict
        kind.clear(value)
        for key, item in content:
            kind.__setitem__(value, key, item)
    elif len(current) != len(content) or any(a is not b for a, b in zip(current, content, strict=True)):
        if isinstance(value, list):
            list.__setitem__(value, slice(None), content)
        else:
            kind = deque if isinstance(value, deque) else set
            kind.clear(value)
            (deque.extend if kind is deque else set.update)(value, content)


def _set_flags(tensor: torch.Tensor, requires_grad: bool) -> None:
    if tensor.is_leaf and tensor.requires_grad != requires_grad:
        tensor.requires_grad_(requires_grad)


def _held_by_function(value: Any) -> Iterator[Any]:
    """What a function carries along: its closure, what it names among the globals, its arguments."""
    if isinstance(value, partial):
        yield from (value.func, value.args, value.keywords)
    elif isinstance(value, MethodType):
        yield from (value.__self__, value.__func__)
    elif is_users_file(value.__code__.co_filename):
        for cell in value.__closure__ or ():
            try:
                yield cell.cell_contents
            except ValueError:  # not yet filled
                continue
        yield from _globals_of(value)


def _globals_of(function: Any) -> list[Any]:
    function = getattr(function, "__wrapped__", function)
    if not isinstance(function, FunctionType) or not is_users_file(function.__code__.co_filename):
        return []
    named = (function.__globals__.get(name) for name in function.__code__.co_names)
    return [value for value in named if isinstance(value, (dict, list, set, deque, nn.Module, torch.Tensor, FunctionType))]


def _set_generator(generator: torch.Generator, state: torch.Tensor) -> None:
    generator.set_state(state)


def _generator_undo(value: Any) -> Callable[[], None] | None:
    if isinstance(value, torch.Generator):
        return partial(_set_generator, value, value.get_state())
    if isinstance(value, random.Random):
        return partial(value.setstate, value.getstate())
    bits = getattr(value, "bit_generator", None)  # numpy's
    return partial(setattr, bits, "state", bits.state) if bits is not None else None
