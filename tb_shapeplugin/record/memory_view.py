"""A Record's memory as people ask for it: the peak, the line over time, what is alive at an op."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from tb_shapeplugin.base.units import compact_type
from tb_shapeplugin.record.columns import Ints
from tb_shapeplugin.record.memory import TERMS, Memory, Phase, Term
from tb_shapeplugin.record.memory_lines import alive_at, lines, phase_at
from tb_shapeplugin.record.record import Record
from tb_shapeplugin.record.values import Shape

_MOST_POINTS = 500


@dataclass(frozen=True, slots=True)
class Peak:
    """The op of an iteration at which most is alive: its index and name, the module that it ran in, its phase, and bytes by term."""

    bytes: int
    op: int
    op_name: str
    module: str
    phase: Phase
    terms: Mapping[Term, int]


@dataclass(frozen=True, slots=True)
class AllocationRow:
    """A storage: its bytes and term, its module, the ops that it comes up at and is gone at, what it was made for, why it is kept.

    ``born`` is -1 for what was there before the iteration. ``kept_by`` names the op that autograd keeps it for, "" for none.
    """

    bytes: int
    term: Term
    module: str
    name: str
    born: int
    died: int
    shape: Shape
    dtype: str
    made_by: str
    kept_by: str

    def __str__(self) -> str:
        what = self.name or f"{self.made_by} of {self.module or 'the model'}"
        return f"{self.bytes} B {self.term}: {what} {compact_type(self.dtype, self.shape, '')}"


class MemoryView:
    """What is alive over one iteration: the steady one of a training step, else the forward. Ops are aten ops.

    Allocated bytes of tensors: no workspaces of kernels, no rounding or fragmentation of an allocator.
    """

    def __init__(self, record: Record, memory: Memory) -> None:
        self._record = record
        self._memory = memory

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MemoryView) and self._memory == other._memory

    def __hash__(self) -> int:
        return id(self._memory)

    def __len__(self) -> int:
        return len(self._memory.ops)

    @property
    def ops(self) -> int:
        """How many aten ops the iteration has."""
        return len(self._memory.ops)

    @property
    def phases(self) -> tuple[tuple[Phase, int], ...]:
        """Forward, loss, backward and step in order, each with the op that it ends before."""
        return self._memory.phases

    @property
    def unknown(self) -> Mapping[str, str]:
        """The names of totals that nobody knows, each with the reason."""
        return self._memory.unknown

    @property
    def estimated(self) -> Mapping[str, str]:
        """The names of totals that are no exact figures, each with what they lack."""
        return self._memory.estimated

    @property
    def saved_input_bytes(self) -> int:
        """Of what autograd keeps, the bytes of the model's inputs: they are there anyhow."""
        return self._memory.saved_input_bytes

    @property
    def saved_buffer_bytes(self) -> int:
        """Of what autograd keeps, the bytes of the model's buffers."""
        return self._memory.saved_buffer_bytes

    @cached_property
    def _lines(self) -> dict[Term, Ints]:
        return lines(self._memory)

    @cached_property
    def _total(self) -> Ints:
        return sum(self._lines.values(), np.zeros(self.ops, dtype=np.int64))

    @cached_property
    def at(self) -> tuple[int, ...]:
        """Ops to draw the line by, at most some hundreds: the first, the last, and the highest of each stretch between."""
        return tuple(_highest(self._total))

    @property
    def alive(self) -> dict[Term, tuple[int, ...]]:
        """Bytes by term at the ops ``at``."""
        picked = list(self.at)
        return {term: tuple(line[picked].tolist()) for term, line in self._lines.items()}

    @cached_property
    def peak(self) -> Peak | None:
        """The op at which most is alive; None where no op ran."""
        if not self.ops:
            return None
        op = int(self._total.argmax())
        terms = {term: int(line[op]) for term, line in self._lines.items()}
        name = self._record.strings[int(self._memory.ops.name[op])]
        return Peak(int(self._total[op]), op, name, self._module_of(op), phase_at(self.phases, op), terms)

    def alive_at(self, op: int) -> tuple[AllocationRow, ...]:
        """The storages that are alive at an op, the largest first; those at the peak: ``memory.alive_at(memory.peak.op)``."""
        return tuple(map(self._row, alive_at(self._memory.allocations, op).tolist()))

    def _module_of(self, op: int) -> str:
        call = int(self._memory.ops.call[op])
        return self._path(int(self._record.calls.module[call])) if call >= 0 else ""

    def _path(self, module: int) -> str:
        return self._record.strings[int(self._record.modules.path[module])]

    def _op_name(self, op: int) -> str:
        return self._record.strings[int(self._memory.ops.name[op])] if op >= 0 else ""

    def _row(self, index: int) -> AllocationRow:
        made, strings = self._memory.allocations, self._record.strings
        born, owner = int(made.born[index]), int(made.owner[index])
        return AllocationRow(
            bytes=int(made.bytes[index]),
            term=TERMS[int(made.term[index])],
            module=self._path(owner) if owner >= 0 else self._module_of(born) if born >= 0 else "",
            name=strings[int(made.name[index])],
            born=born,
            died=max(born, 0) + int(made.life[index]),
            shape=self._record.shapes[int(made.shape[index])],
            dtype=strings[int(made.dtype[index])],
            made_by=self._op_name(born),
            kept_by=self._op_name(int(made.kept_by[index])),
        )


def _highest(totals: Ints) -> Iterator[int]:
    """All ops where they are few, else of each stretch the one at which most is alive."""
    count = len(totals)
    if count <= _MOST_POINTS:
        yield from range(count)
        return
    edges: Sequence[int] = [count * number // _MOST_POINTS for number in range(_MOST_POINTS + 1)]
    for start, end in pairwise(edges):
        yield start + int(totals[start:end].argmax())
