"""Stable ids for tensors and storages: the same object keeps its id, an in-place op gives it a new one."""

import functools
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn

from tb_shapeplugin.record.trace import TensorFact
from tb_shapeplugin.record.values import TensorKind
from tb_shapeplugin.tracing.bookmarks import Undo
from tb_shapeplugin.tracing.compat import device_of, is_lazy, no_function_modes, storage_of
from tb_shapeplugin.tracing.compat_ranks import local_numel


@functools.cache
def dtype_name(dtype: torch.dtype) -> str:
    """``float32`` for torch.float32."""
    return str(dtype).removeprefix("torch.")


def shape_of(tensor: torch.Tensor) -> tuple[int, ...]:
    """A tensor's sizes as plain ints; a ragged axis, of a nested tensor, counts as 0."""
    try:
        return tuple(map(int, tensor.shape))
    except Exception:
        return tuple(_size_of(tensor, axis) for axis in range(tensor.dim()))


def _size_of(tensor: torch.Tensor, axis: int) -> int:
    try:
        return int(tensor.size(axis))
    except Exception:  # a ragged axis has none
        return 0


class TensorBook:
    """Hands out ids and keeps the facts; holds tensors weakly, so that capture keeps no memory alive."""

    def __init__(self) -> None:
        self.facts: list[TensorFact] = []
        self.depends: dict[int, frozenset[int]] = {}  # tensor id -> failures whose assumed outputs it comes from
        self.name_of: Callable[[torch.Tensor], str] = lambda _: ""  # names what comes up while a model runs
        self._ids: dict[int, tuple[weakref.ref[Any], int]] = {}
        self._earlier: list[tuple[int, int, tuple[weakref.ref[Any], int]]] = []  # a new id, of whom, and the one that it had
        self._storages: dict[int, tuple[weakref.ref[Any], int]] = {}
        self._storage_count = 0

    def depends_on(self, tensors: Iterable[int]) -> frozenset[int]:
        """The failures whose assumed outputs any of these tensors, by id, come from."""
        if not self.depends:
            return _NONE
        return _NONE.union(*(self.depends.get(index, frozenset()) for index in tensors))

    def known(self, tensor: torch.Tensor) -> int | None:
        """The tensor's id, None when it was never met."""
        entry = self._ids.get(id(tensor))
        return entry[1] if entry is not None and entry[0]() is tensor else None

    def id_of(self, tensor: torch.Tensor) -> int:
        """The tensor's id; one never met becomes a constant of the model."""
        known = self.known(tensor)
        if known is not None:
            return known
        kind: TensorKind = "parameter" if isinstance(tensor, nn.Parameter) else "constant"
        return self.add(tensor, kind=kind, name=self.name_of(tensor))

    def add(
        self, tensor: torch.Tensor, *, kind: TensorKind = "activation", producer: int = -1, name: str = "", assumed: bool = False
    ) -> int:
        """A new id for the tensor as it is now."""
        index = len(self.facts)
        with no_function_modes():  # reading dtype and device is a call that the recorder would ask about here
            self.facts.append(self._fact(tensor, kind, producer, name, assumed))
        before = self._ids.get(id(tensor))
        if before is not None and before[0]() is tensor:
            self._earlier.append((index, id(tensor), before))
        self._ids[id(tensor)] = (weakref.ref(tensor), index)
        return index

    def bookmark(self) -> Undo:
        """What takes back all ids that are given from here on."""
        size = len(self.facts)

        def undo() -> None:
            del self.facts[size:]
            while self._earlier and self._earlier[-1][0] >= size:
                _, key, entry = self._earlier.pop()
                self._ids[key] = entry
            self._ids = {key: entry for key, entry in self._ids.items() if entry[1] < size}
            self.depends = {index: numbers for index, numbers in self.depends.items() if index < size}

        return undo

    def _fact(self, tensor: torch.Tensor, kind: TensorKind, producer: int, name: str, assumed: bool) -> TensorFact:
        lazy = is_lazy(tensor)
        storage, storage_bytes = (-1, -1) if lazy else self._storage(tensor)
        return TensorFact(
            shape=() if lazy else shape_of(tensor),
            dtype=dtype_name(tensor.dtype),
            device=_device_name(device_of(tensor)),
            storage=storage,
            producer=producer,
            kind=kind,
            name=name,
            requires_grad=tensor.requires_grad,
            assumed=assumed,
            storage_bytes=storage_bytes,
            local_numel=local_numel(tensor),
        )

    def _storage(self, tensor: torch.Tensor) -> tuple[int, int]:
        """The storage's number and its bytes; without one storage a number of its own, and -1."""
        key, storage, size = storage_of(tensor)
        if storage is None:
            self._storage_count += 1
            return self._storage_count - 1, size
        known = self._storages.get(key)
        if known is None or known[0]() is not storage:  # gone since, and its place taken by another
            known = self._storages[key] = (weakref.ref(storage), self._storage_count)
            self._storage_count += 1
        return known[1], size


_device_name = functools.cache(str)
_NONE: frozenset[int] = frozenset()
