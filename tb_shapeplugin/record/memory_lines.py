"""Bytes alive over the ops of one iteration: sums over its storages."""

from collections.abc import Sequence

import numpy as np

from tb_shapeplugin.record.columns import Ints
from tb_shapeplugin.record.memory import TERMS, AllocationColumns, Memory, Phase, Term


def line(born: Ints, life: Ints, sizes: Ints, ops: int) -> Ints:
    """Bytes alive at each op of storages that come up at ``born`` (-1: before the first op) and are gone ``life`` ops later.

    Args:
        born: ops, one per storage.
        life: numbers of ops, one per storage.
        sizes: bytes, one per storage.
        ops: how many ops there are.

    Example:
        >>> line(ints([-1, 1]), ints([3, 1]), ints([40, 8]), 3).tolist()
        [40, 48, 40]
    """
    first = np.maximum(born, 0)
    changes = np.zeros(ops + 1, dtype=np.int64)
    np.add.at(changes, np.minimum(first, ops), sizes)
    np.add.at(changes, np.minimum(first + life, ops), -sizes)
    return np.cumsum(changes[:-1])


def lines(memory: Memory, sizes: Ints | None = None) -> dict[Term, Ints]:
    """Bytes alive at each op, by term.

    Args:
        memory: of one iteration.
        sizes: bytes of its storages in place of the logged ones.
    """
    made = memory.allocations
    given = made.bytes if sizes is None else sizes
    found: dict[Term, Ints] = {}
    for number, term in enumerate(TERMS):
        of_term = made.term == number
        found[term] = line(made.born[of_term], made.life[of_term], given[of_term], len(memory.ops))
    return found


def total_line(memory: Memory, sizes: Ints | None = None) -> Ints:
    """Bytes alive at each op.

    Example:
        >>> int(total_line(memory).max()) == totals.peak_bytes
        True
    """
    made = memory.allocations
    return line(made.born, made.life, made.bytes if sizes is None else sizes, len(memory.ops))


def alive_at(made: AllocationColumns, op: int) -> Ints:
    """The rows of the storages that are alive at an op, the largest first."""
    first = np.maximum(made.born, 0)
    rows = np.flatnonzero((first <= op) & (op < first + made.life))
    return rows[np.argsort(-made.bytes[rows], kind="stable")]


def phase_at(phases: Sequence[tuple[Phase, int]], op: int) -> Phase:
    """The phase that an op belongs to."""
    return next((phase for phase, end in phases if op < end), "forward")
