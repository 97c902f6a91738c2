"""How each storage's bytes change with the sizes of the inputs: polynomials, fitted to a run at another size and checked at a third."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any, TypeAlias

import numpy as np

from tb_shapeplugin.analyse.memory import peak_bytes
from tb_shapeplugin.record.columns import Ints, ints
from tb_shapeplugin.record.memory import (
    Allocation,
    Iteration,
    Memory,
    MemoryFacts,
    Size,
    SizeFact,
    Variant,
    VariantFact,
    WhatIf,
    WhatIfFacts,
)
from tb_shapeplugin.record.memory_lines import total_line
from tb_shapeplugin.record.values import Shape
from tb_shapeplugin.record.what_if_view import scaled_bytes

Polynomial: TypeAlias = tuple[float, ...]  # coefficients of 1, x, x² …
_CONSTANT: Polynomial = (1.0,)
_TOLERANCE = 0.03  # of a peak, at a size that nothing was fitted to


class _Unlike(Exception):
    """Runs at two sizes that can't be compared storage by storage; the message says why."""


def what_if_of(facts: WhatIfFacts, memory: Memory, logged: Iteration, columns: Callable[[MemoryFacts], Memory]) -> tuple[WhatIf, Memory]:
    """What the Record keeps of other sizes and trainings, and the logged memory, whose storages now tell how they scale.

    Args:
        facts: what the memory pass found at other sizes and for other trainings.
        memory: the logged one.
        logged: the iteration that it tells of.
        columns: makes such a memory of what a pass found.
    """
    unknown = dict(facts.unknown)
    kept: list[SizeFact] = []
    fits: list[list[Polynomial]] = []
    for size in facts.sizes:
        try:
            fits.append(_checked(logged, size))
            kept.append(size)
        except _Unlike as why:
            unknown[size.name] = str(why)
    scales = _Scales(len(kept))
    memory = _scaled(memory, scales.numbers(fits, len(logged.allocations)))
    known = {size.name: fit for size, fit in zip(kept, fits, strict=True)}
    variants = []
    for variant in facts.variants:
        made = variant.facts.iterations[-1]
        try:
            of_sizes = _of_variant(variant, facts.sizes, logged, known)
            numbers = scales.numbers(of_sizes, len(made.allocations))
            variants.append(Variant(variant.kind, variant.name, _scaled(columns(variant.facts), numbers)))
        except _Unlike as why:
            unknown[variant.name] = str(why)
    sizes = tuple(Size(size.name, size.logged, size.least, size.step, size.axes) for size in kept)
    found = WhatIf(sizes, scales.table(), tuple(variants), unknown)
    if facts.together is not None and len(kept) == len(facts.sizes):
        unknown |= _unlike_together(memory, found, *facts.together)
    return found, memory


def _unlike_together(memory: Memory, what_if: WhatIf, values: Sequence[int], iteration: Iteration) -> dict[str, str]:
    """Sizes that are right alone may be wrong together; then it is said."""
    at = {size.name: value for size, value in zip(what_if.sizes, values, strict=True)}
    told, found = int(total_line(memory, scaled_bytes(memory, what_if, at)).max(initial=0)), peak_bytes(iteration)
    if abs(told - found) <= _TOLERANCE * found:
        return {}
    where = ", ".join(f"{name} {value}" for name, value in at.items())
    return {" and ".join(at): f"at {where} together {found} bytes were alive at the peak, where {told} were expected"}


class _Scales:
    """The table of scales; the first one never changes."""

    def __init__(self, sizes: int) -> None:
        self._constant = (_CONSTANT,) * sizes
        self._numbers: dict[tuple[Polynomial, ...], int] = {self._constant: 0}

    def numbers(self, fits: Sequence[Sequence[Polynomial]], count: int) -> Ints:
        """The scale of each of so many storages, from its polynomials size by size."""
        rows = zip(*fits, strict=True) if fits else [()] * count
        return ints(self._numbers.setdefault(tuple(row), len(self._numbers)) for row in rows)

    def table(self) -> tuple[tuple[Polynomial, ...], ...]:
        """All of them by their numbers."""
        return tuple(self._numbers)


def _scaled(memory: Memory, numbers: Ints) -> Memory:
    return replace(memory, allocations=replace(memory.allocations, scale=numbers))


def _of_variant(
    variant: VariantFact, sizes: Sequence[SizeFact], logged: Iteration, fits: Mapping[str, Sequence[Polynomial]]
) -> list[list[Polynomial]]:
    """Of each size that is known the polynomials of the variant's storages."""
    made = variant.facts.iterations[-1]
    if variant.samples:
        pairs = zip(sizes, variant.samples, strict=True)
        return [_fitted(made, size.logged, samples) for size, samples in pairs if size.name in fits]
    before = [_before_step(logged, one) for one in logged.allocations]
    mine = [_before_step(made, one) for one in made.allocations]
    if sum(mine) != sum(before):
        raise _Unlike("its forward and backward are others than those that were logged")
    rest = [iter([part for part, is_before in zip(fit, before, strict=True) if is_before]) for fit in fits.values()]
    return [[next(fit) if is_before else _CONSTANT for is_before in mine] for fit in rest]


def _before_step(iteration: Iteration, made: Allocation) -> bool:
    start = next((end for phase, end in reversed(iteration.phases) if phase == "backward"), len(iteration.ops))
    return made.term != "optimizer" and made.born < start


def _checked(logged: Iteration, size: SizeFact) -> list[Polynomial]:
    """The polynomials, fitted to all samples but the last."""
    *samples, (check, checked) = size.samples
    fitted = _fitted(logged, size.logged, samples)
    told, found = _peak_at(logged, fitted, check), peak_bytes(checked)
    if abs(told - found) > _TOLERANCE * found:
        where = f"at {check} instead of {size.logged} {found} bytes were alive at the peak"
        raise _Unlike(f"{where}, where {told} were expected from those at {', '.join(str(value) for value, _ in samples)}")
    return fitted


def _peak_at(logged: Iteration, fitted: Sequence[Polynomial], value: int) -> int:
    made = tuple(
        replace(one, bytes=round(one.bytes * float(np.polynomial.polynomial.polyval(value, polynomial))))
        for one, polynomial in zip(logged.allocations, fitted, strict=True)
    )
    return peak_bytes(replace(logged, allocations=made))


def _fitted(logged: Iteration, value: int, samples: Sequence[tuple[int, Iteration]]) -> list[Polynomial]:
    """Of each storage the polynomial by which its bytes change from those at ``value``."""
    for other, iteration in samples:
        if [op.name for op in iteration.ops] != [op.name for op in logged.ops]:
            raise _Unlike(f"at {other} instead of {value} other ops run")
        if len(iteration.allocations) != len(logged.allocations):
            raise _Unlike(f"at {other} instead of {value} other storages come up")
    values = [value, *(other for other, _ in samples)]
    known: dict[tuple[tuple[int, Shape], ...], Polynomial] = {}
    found = []
    for rows in zip(logged.allocations, *(iteration.allocations for _, iteration in samples), strict=True):
        key = tuple((row.bytes, row.shape) for row in rows)
        if key not in known:
            known[key] = _polynomial(rows, values)
        found.append(known[key])
    return found


def _polynomial(rows: Sequence[Allocation], values: Sequence[int]) -> Polynomial:
    """Bytes over those of the first row: the product of its dims, each a polynomial through as many values as there are."""
    first, ranks = rows[0], {len(row.shape) for row in rows}
    if all(row.bytes == first.bytes for row in rows):
        return _CONSTANT
    dims = list(zip(*(row.shape for row in rows), strict=True)) if len(ranks) == 1 else []
    if not all(row.bytes * prod(first.shape) == first.bytes * prod(row.shape) for row in rows) or not dims:
        dims = [tuple(row.bytes for row in rows)]  # the storage is larger than the tensor that it was made for
    product = np.ones(1)
    for sizes in dims:
        if len(set(sizes)) > 1 and sizes[0]:
            product = np.polynomial.polynomial.polymul(product, _through(values, sizes) / sizes[0])
    return tuple(float(coefficient) for coefficient in product)


def _through(values: Sequence[int], sizes: Sequence[int]) -> Any:
    """The coefficients of the polynomial of the lowest degree through those points."""
    for degree in range(1, len(values)):
        fitted = np.polynomial.polynomial.polyfit(values, sizes, degree)
        if degree == len(values) - 1 or np.allclose(np.polynomial.polynomial.polyval(np.array(values), fitted), sizes, rtol=1e-9):
            return fitted
    return np.ones(1)
