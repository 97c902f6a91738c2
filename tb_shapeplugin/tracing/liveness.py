"""Writes down when each storage comes up and when it goes, op by op; works alike on fakes and on real tensors.

autograd keeps fakes alive exactly as it would keep the tensors that they stand for.
"""

import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch

from tb_shapeplugin.record.memory import Allocation, CallKey, Iteration, MemoryOp, Phase, Term
from tb_shapeplugin.tracing.arguments import tensors_in
from tb_shapeplugin.tracing.aten_ops import AtenOp, aten_op
from tb_shapeplugin.tracing.compat import FakeTensor, TorchDispatchMode, device_of, no_function_modes, storage_key, storage_of
from tb_shapeplugin.tracing.compat_autograd import nodes_made
from tb_shapeplugin.tracing.counting import flops_of
from tb_shapeplugin.tracing.held_tensors import Held
from tb_shapeplugin.tracing.tensors import dtype_name, shape_of


@dataclass(slots=True)
class _Row:
    """A storage's life as it is written down."""

    bytes: int
    term: Term
    phase: int  # the number of the phase that it came up in; -1 before all of them
    born: int
    shape: tuple[int, ...]
    dtype: str
    owner: str | None = None
    name: str = ""
    died: int = -1  # alive
    kept_by: int = -1


class Liveness(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch has no types there
    """The storages of one model, iteration by iteration.

    A new storage counts from the op whose result is the first to use it; scratch memory inside a kernel is no tensor, and isn't seen.
    """

    def __init__(self, where: Callable[[bool], CallKey]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._where = where  # which call an op belongs to; is it one of a backward?
        self.going_back = False
        self.stepping = False  # is it the optimizer that runs?
        self.fault: Exception | None = None  # of ours: what is written down from there on tells nothing
        self._alive: dict[int, _Row] = {}  # by the storage's key
        self._watching: dict[int, weakref.ref[Any]] = {}
        self._rows: list[_Row] = []
        self._ops: list[MemoryOp] = []
        self._nodes = -1  # how many nodes of autograd there were when the last op ran
        self.phases: list[tuple[Phase, int]] = []

    def hold(self, held: Iterable[Held], term: Term) -> None:
        """These storages are there before the first op."""
        for one in held:
            row = self._meet(one.tensor, term, -1)
            if row is not None:
                row.owner, row.name = one.owner, one.name

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        """Nothing of ours may raise here: below some of these calls torch can only end the process."""
        op = None
        try:
            op = aten_op(func)
            if op.asks_device:  # most of what is dispatched; the fakes know
                return device_of(args[0])
            if not op.noise:
                self._nodes = nodes_made()
        except Exception as fault:
            self.fault = self.fault or fault
        if op is not None and op.collective:
            raise RuntimeError("the model sends to other ranks here, or waits for them: nobody has what they would give")
        # Most of what an optimizer runs writes in place, and makes nothing; what it counts by its contents is asked.
        written = self.stepping and op is not None and op.in_place and getattr(args[0], "constant", self) is None
        result = args[0] if written else func(*args, **(kwargs or {}))
        if op is not None and self.fault is None:
            try:
                self._note(op, args, result)
            except Exception as fault:
                self.fault = fault
        return result

    def _note(self, op: AtenOp, args: tuple[Any, ...], result: Any) -> None:
        if not op.noise:
            flops = flops_of(op, args, result) if self.going_back else 0
            call = self._owner_among(args) if self.stepping else self._where(self.going_back)
            self._ops.append(MemoryOp(op.name, call, flops))
        for tensor in (result,) if type(result) is FakeTensor else tensors_in(result):
            row = self._meet(tensor, "temporaries", len(self._ops) - 1)
            if row is not None and self.stepping and self._ops[-1].call.number:
                row.owner = self._ops[-1].call.path

    def _owner_among(self, args: tuple[Any, ...]) -> CallKey:
        """A call of the module whose parameter, gradient or state an op of the optimizer works on."""
        for tensor in args:
            row = self._alive.get(storage_key(tensor)) if isinstance(tensor, torch.Tensor) else None
            if row is not None and row.owner is not None:
                return CallKey(row.owner, 1)
        return CallKey()

    def _meet(self, tensor: torch.Tensor, term: Term, born: int) -> _Row | None:
        """A storage's row where it is a new one."""
        with no_function_modes():
            key, storage, size = storage_of(tensor)
            if storage is None or size <= 0 or key in self._alive:
                return None
            row = _Row(size, term, len(self.phases), born, shape_of(tensor), dtype_name(tensor.dtype))
        self._alive[key] = row
        self._rows.append(row)
        self._watching[key] = weakref.ref(storage, lambda _: self._gone(key))
        return row

    def _gone(self, key: int) -> None:
        self._watching.pop(key, None)
        row = self._alive.pop(key, None)
        if row is not None:
            row.died = len(self._ops)

    def kept(self, key: int) -> None:
        """autograd keeps that storage.

        It keeps an op's inputs before the op runs and its outputs after it, and makes the op's node before both: where a node was made
        since the last op, the next op is the one.
        """
        row = self._alive.get(key)
        if row is not None and row.kept_by < 0:
            row.kept_by = len(self._ops) - (nodes_made() == self._nodes)

    def ended(self, phase: Phase) -> None:
        """A phase is over. What the forward made and leaves behind are activations, whoever keeps them."""
        number = len(self.phases)
        self.phases.append((phase, len(self._ops)))
        if phase in ("forward", "loss"):
            for row in self._alive.values():
                if row.phase == number and row.term == "temporaries":
                    row.term = "activations"

    def belong(self, held: Iterable[Held], term: Term) -> None:
        """Those of these storages that came up as temporaries belong to that term."""
        for one in held:
            row = self._alive.get(storage_key(one.tensor))
            if row is not None and row.term == "temporaries":
                row.term, row.owner, row.name = term, one.owner, one.name

    def iteration(self) -> Iteration:
        """What was written down since the last call; what is alive now was there before the next one. Raises a fault of ours."""
        made = self._told(self._rows, [(row.born, row.died) for row in self._rows], self._ops, self.phases)
        self._ops, self.phases, self._nodes = [], [], -1
        self._rows = list(self._alive.values())
        for row in self._rows:
            row.born, row.phase, row.kept_by = -1, -1, -1
        return made

    def stepped_twice(self) -> tuple[Iteration, Iteration | None]:
        """Of an iteration whose last two phases are steps: as it was without the last one, and as it would be without the first of them.

        The other one is the iteration that comes next, as far as nothing but the optimizer's state stays. It is None where the first
        step took away what the second one would need.
        """
        (_, before), (_, between) = self.phases[-3:-1]
        count, less = len(self._ops), between - before
        first = [row for row in self._rows if row.born < between]
        lives = [(row.born, row.died if row.died <= between else between) for row in first]
        made = self._told(first, lives, self._ops[:between], self.phases[:-1])
        if any(row.born < before < row.died <= between for row in first):
            return made, None
        stays = [row for row in self._rows if row.born < before or not 0 <= row.died <= between]
        lives = [(_moved(row.born, before, between), row.died - less * (row.died > before)) for row in stays]
        phases: list[tuple[Phase, int]] = [*self.phases[:-2], (self.phases[-1][0], count - less)]
        return made, self._told(stays, lives, self._ops[:before] + self._ops[between:], phases)

    def outlived(self) -> bool:
        """Is anything still alive that came up before the last two phases, which are over?"""
        before = self.phases[-3][1]
        return any(0 <= row.born < before for row in self._alive.values())

    def _told(self, rows: list[_Row], lives: list[tuple[int, int]], ops: list[MemoryOp], phases: list[tuple[Phase, int]]) -> Iteration:
        if self.fault is not None:
            raise self.fault
        count = len(ops)
        allocations = tuple(
            Allocation(
                bytes=row.bytes,
                term=row.term,
                born=born,
                died=count if died < 0 else died,
                shape=row.shape,
                dtype=row.dtype,
                owner=row.owner,
                name=row.name,
                kept_by=min(row.kept_by, count - 1),
            )
            for row, (born, died) in zip(rows, lives, strict=True)
        )
        return Iteration(tuple(ops), tuple(phases), allocations)

    def close(self) -> None:
        """Forgets all storages: none of them reports its end any more."""
        self._watching.clear()
        self._alive.clear()


def _moved(born: int, before: int, between: int) -> int:
    """When a storage comes up where the ops from ``before`` up to ``between`` don't run; what they made is there from the start."""
    return born if born < before else -1 if born < between else born - (between - before)
