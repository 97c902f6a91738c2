"""Writes down when each storage comes up and when it goes, op by op; works alike on fakes and on real tensors.

autograd keeps fakes alive exactly as it would keep the tensors that they stand for.
"""

import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch

from tb_shapeplugin.record.memory import Allocation, Iteration, Phase, Term
from tb_shapeplugin.tracing.arguments import tensors_in
from tb_shapeplugin.tracing.aten_ops import AtenOp, aten_op
from tb_shapeplugin.tracing.compat import FakeTensor, TorchDispatchMode, device_of, no_function_modes, storage_key, storage_of
from tb_shapeplugin.tracing.tensors import dtype_name, shape_of


@dataclass
class _Row:
    """A storage's life as it is written down."""

    bytes: int
    term: Term
    phase: int  # the number of the phase that it came up in; -1 before all of them
    born: int
    module: str
    shape: tuple[int, ...]
    dtype: str
    died: int = -1  # alive


class Liveness(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch has no types there
    """The storages of one model, iteration by iteration.

    A new storage counts from the op whose result is the first to use it; scratch memory inside a kernel is no tensor, and isn't seen.
    """

    def __init__(self, where: Callable[[], str]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._where = where
        self.fault: Exception | None = None  # of ours: what is written down from there on tells nothing
        self._alive: dict[int, _Row] = {}  # by the storage's key
        self._watching: dict[int, weakref.ref[Any]] = {}
        self._rows: list[_Row] = []
        self._ops: list[str] = []
        self.phases: list[tuple[Phase, int]] = []

    def hold(self, tensors: Iterable[torch.Tensor], term: Term) -> None:
        """These storages are there before the first op."""
        for tensor in tensors:
            self._meet(tensor, term, -1)

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        """Nothing of ours may raise here: below some of these calls torch can only end the process."""
        op = None
        try:
            op = aten_op(func)
            if op.asks_device:  # most of what is dispatched; the fakes know
                return device_of(args[0])
        except Exception as fault:
            self.fault = self.fault or fault
        if op is not None and op.collective:
            raise RuntimeError("the model sends to other ranks here, or waits for them: nobody has what they would give")
        result = func(*args, **(kwargs or {}))
        if op is not None and self.fault is None:
            try:
                self._note(op, result)
            except Exception as fault:
                self.fault = fault
        return result

    def _note(self, op: AtenOp, result: Any) -> None:
        if not op.noise:
            self._ops.append(op.name)
        for tensor in (result,) if type(result) is FakeTensor else tensors_in(result):
            self._meet(tensor, "temporaries", len(self._ops) - 1)

    def _meet(self, tensor: torch.Tensor, term: Term, born: int) -> None:
        with no_function_modes():
            key, storage, size = storage_of(tensor)
            if storage is None or size <= 0 or key in self._alive:
                return
            row = _Row(size, term, len(self.phases), born, self._where(), shape_of(tensor), dtype_name(tensor.dtype))
        self._alive[key] = row
        self._rows.append(row)
        self._watching[key] = weakref.ref(storage, lambda _: self._gone(key))

    def _gone(self, key: int) -> None:
        self._watching.pop(key, None)
        row = self._alive.pop(key, None)
        if row is not None:
            row.died = len(self._ops)

    def ended(self, phase: Phase) -> None:
        """A phase is over. What the forward made and leaves behind are activations, whoever keeps them."""
        number = len(self.phases)
        self.phases.append((phase, len(self._ops)))
        if phase in ("forward", "loss"):
            for row in self._alive.values():
                if row.phase == number and row.term == "temporaries":
                    row.term = "activations"

    def belong(self, tensors: Iterable[torch.Tensor], term: Term) -> None:
        """Those of these storages that came up as temporaries belong to that term."""
        for tensor in tensors:
            row = self._alive.get(storage_key(tensor))
            if row is not None and row.term == "temporaries":
                row.term = term

    def iteration(self) -> Iteration:
        """What was written down since the last call; what is alive now was there before the next one. Raises a fault of ours."""
        if self.fault is not None:
            raise self.fault
        count = len(self._ops)
        allocations = tuple(
            Allocation(row.bytes, row.term, row.born, count if row.died < 0 else row.died, row.module, row.shape, row.dtype)
            for row in self._rows
        )
        made = Iteration(tuple(self._ops), tuple(self.phases), allocations)
        self._ops, self.phases = [], []
        self._rows = list(self._alive.values())
        for row in self._rows:
            row.born, row.phase = -1, -1
        return made

    def close(self) -> None:
        """Forgets all storages: none of them reports its end any more."""
        self._watching.clear()
        self._alive.clear()
