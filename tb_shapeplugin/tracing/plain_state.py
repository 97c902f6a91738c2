"""Photographs everything plain that a run can reach and change: attributes, containers, objects, closures, generators."""

import random
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from enum import Enum, auto
from functools import partial
from operator import is_
from types import FunctionType, MethodType, ModuleType
from typing import Any

import torch
from torch import nn

from tb_shapeplugin.tracing.source import is_users_file

# What is never looked into: it holds no state of the model, or belongs to the whole process.
_CLOSED = (bool, int, float, complex, str, bytes, type(None), type, ModuleType, weakref.ref, torch.dtype, torch.device, torch.Size)
_MOST_OBJECTS = 200_000


class _Kind(Enum):
    """How an object is looked into; the same for all objects of a type."""

    CLOSED = auto()
    TENSOR = auto()
    FUNCTION = auto()
    GENERATOR = auto()
    OPEN = auto()


_kinds: dict[type, _Kind] = {}
# By their builtin's methods containers are read and refilled: subclasses may forbid it, or do other things.
_BUILTINS: tuple[type, ...] = (OrderedDict, dict, list, set, deque)
_TABLES = frozenset(_BUILTINS)
_builtins: dict[type, Any] = {}  # Any: of a type's containers, None for a type that is none


def _kind_of(value: Any) -> _Kind:
    kind = type(value)
    known = _kinds.get(kind)
    if known is None:
        table = ((_CLOSED, _Kind.CLOSED), (torch.Tensor, _Kind.TENSOR), ((FunctionType, MethodType, partial), _Kind.FUNCTION))
        known = next((one for types, one in table if issubclass(kind, types)), None)
        if known is None:
            draws = issubclass(kind, (torch.Generator, random.Random)) or hasattr(kind, "bit_generator")
            known = _Kind.GENERATOR if draws else _Kind.OPEN
        _kinds[kind] = known
        _builtins[kind] = next((builtin for builtin in _BUILTINS if issubclass(kind, builtin)), None)
    return known


class Photograph:
    """Every attribute and item that can be reached from the given objects.

    ``tensors`` and ``modules`` list those among them; what tensors hold is not copied.
    """

    def __init__(self, *roots: Any) -> None:
        self.tensors: list[torch.Tensor] = []
        self.modules: list[nn.Module] = []
        self._flags: list[bool] = []  # of each tensor: does it require a gradient?
        self._generators: list[Callable[[], None]] = []
        self._empty: dict[Any, list[Any]] = {builtin: [] for builtin in _BUILTINS}  # most tables of a module are empty
        self._filled: list[tuple[Any, Any, list[Any], list[Any]]] = []  # with their keys, of dicts, and their items
        met: dict[int, Any] = {}  # the object too, so that its id isn't used again
        waiting = list(roots)
        while waiting and len(met) < _MOST_OBJECTS:
            value = waiting.pop()
            kind = _kinds.get(type(value)) or _kind_of(value)
            if kind is _Kind.CLOSED or id(value) in met:
                continue
            met[id(value)] = value
            if kind is _Kind.OPEN:
                waiting += self._opened(value)
            elif kind is _Kind.TENSOR:
                self.tensors.append(value)
                self._flags.append(value.requires_grad)
            elif kind is _Kind.FUNCTION:
                waiting += held_by_function(value)
            else:
                self._generators.append(_generator_undo(value))
        self._met = met

    def put_back(self) -> None:
        """Every attribute is again the object that it was, every container holds what it held."""
        for builtin, values in self._empty.items():
            for value in values:
                if builtin.__len__(value):
                    builtin.clear(value)
        for value, builtin, keys, items in self._filled:
            _refill(value, builtin, keys, items)
        for undo in self._generators:
            undo()
        for tensor, requires_grad in zip(self.tensors, self._flags, strict=True):
            if tensor.requires_grad != requires_grad and tensor.is_leaf:
                tensor.requires_grad_(requires_grad)

    def _opened(self, value: Any) -> list[Any]:
        """Remembers what the object holds; gives what is to be looked into next."""
        held: list[Any] = []
        builtin = _builtins[type(value)]
        if builtin is not None:
            held += self._container(value, builtin)
        elif isinstance(value, (tuple, frozenset)):
            held += value
        attributes = getattr(value, "__dict__", None)
        if isinstance(attributes, dict):
            held += self._container(attributes, dict)
            if isinstance(value, nn.Module):
                self.modules.append(value)
                held += held_by_class(type(value))
                held = [item for item in held if not self._is_empty(item)]
        return held

    def _is_empty(self, value: Any) -> bool:
        """Most of what a module holds are empty tables: remembered here, as looking into each of them takes its time."""
        kind = type(value)
        if kind not in _TABLES or value:
            return False
        self._empty[kind].append(value)
        return True

    def _container(self, value: Any, builtin: Any) -> list[Any]:
        if not builtin.__len__(value):
            self._empty[builtin].append(value)
            return []
        is_dict = issubclass(builtin, dict)
        keys = list(builtin.keys(value)) if is_dict else []
        items = list(builtin.values(value)) if is_dict else list(builtin.__iter__(value))
        self._filled.append((value, builtin, keys, items))
        return items


def _refill(value: Any, builtin: Any, keys: list[Any], items: list[Any]) -> None:
    if builtin.__len__(value) == len(items):
        now = builtin.values(value) if keys else builtin.__iter__(value)
        if all(map(is_, now, items)) and (not keys or all(map(is_, builtin.__iter__(value), keys))):
            return
    builtin.clear(value)
    if keys:
        for key, item in zip(keys, items, strict=True):
            builtin.__setitem__(value, key, item)
    elif builtin is set:
        builtin.update(value, items)
    else:
        builtin.extend(value, items)


def is_closed(value: Any) -> bool:
    """Is it never looked into: a number, a text, a type, a Python module?"""
    return (_kinds.get(type(value)) or _kind_of(value)) is _Kind.CLOSED


def is_function(value: Any) -> bool:
    """Is it a function, a bound method or a partial, which carry other objects along?"""
    return (_kinds.get(type(value)) or _kind_of(value)) is _Kind.FUNCTION


def items_of(value: Any) -> tuple[list[Any], list[Any]]:
    """Keys, of a dict, and items of a container; two empty lists for anything else."""
    kind = _kinds.get(type(value)) or _kind_of(value)
    builtin = _builtins[type(value)] if kind is _Kind.OPEN else None
    if builtin is None:
        return [], list(value) if isinstance(value, (tuple, frozenset)) else []
    if issubclass(builtin, dict):
        return list(builtin.keys(value)), list(builtin.values(value))
    return [], list(builtin.__iter__(value))


def held_by_class(kind: type[nn.Module]) -> list[Any]:
    """What a module's forward names among the globals; TorchScript's classes have none."""
    return _globals_of(getattr(kind, "forward", None))


def held_by_function(value: Any) -> Iterator[Any]:
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


def _generator_undo(value: Any) -> Callable[[], None]:
    if isinstance(value, torch.Generator):
        return partial(_set_generator, value, value.get_state())
    if isinstance(value, random.Random):
        return partial(value.setstate, value.getstate())
    bits = value.bit_generator  # numpy's
    return partial(setattr, bits, "state", bits.state)
