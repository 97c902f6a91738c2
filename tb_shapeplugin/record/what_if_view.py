"""What memory would be taken at other sizes of the inputs and by other ways to train, from what the Record keeps."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.polynomial.polynomial import polyval

from tb_shapeplugin.base.errors import ShapesError
from tb_shapeplugin.record.columns import Ints
from tb_shapeplugin.record.memory import Memory, Size, WhatIf
from tb_shapeplugin.record.memory_lines import total_line

_LARGEST = 1 << 40  # of a size that is looked for: nothing that fits any memory is larger


def scaled_bytes(memory: Memory, what_if: WhatIf, sizes: Mapping[str, int]) -> Ints:
    """Bytes of each storage at those sizes; a size that isn't named is the logged one.

    Example:
        >>> int(total_line(memory, scaled_bytes(memory, what_if, {"batch": 64})).max())
        4263936
    """
    values = [sizes.get(size.name, size.logged) for size in what_if.sizes]
    factors = [np.prod([polyval(value, part) for value, part in zip(values, scale, strict=True)]) for scale in what_if.scales]
    scaled: Ints = np.rint(memory.allocations.bytes * np.array(factors or [1.0])[memory.allocations.scale]).astype(np.int64)
    return scaled


class WhatIfView:
    """Peaks at other sizes and of other ways to train; ``sizes`` and ``variants`` say which are known, ``unknown`` why others aren't.

    Example:
        >>> capture.what_if.peak_bytes(batch=64, variant="Adam")  # doctest: +SKIP
        4263936
    """

    def __init__(self, memory: Memory, what_if: WhatIf) -> None:
        self._memory = memory
        self._what_if = what_if

    @property
    def sizes(self) -> Mapping[str, Size]:
        """The sizes that may be others, by their names: "batch", "sequence", "side"."""
        return {size.name: size for size in self._what_if.sizes}

    @property
    def variants(self) -> tuple[str, ...]:
        """The other ways to train."""
        return tuple(variant.name for variant in self._what_if.variants)

    @property
    def unknown(self) -> Mapping[str, str]:
        """The names of sizes and variants that can't be told, each with the reason."""
        return self._what_if.unknown

    def peak_bytes(self, variant: str | None = None, **sizes: int) -> int:
        """The most bytes alive at once, in a steady iteration of training or in the forward alone.

        Args:
            variant: one of ``variants``; as logged without one.
            sizes: values of sizes by their names; those that aren't given are as logged.

        Raises:
            ShapesError: a size or variant that isn't known, or a value that isn't a whole number from 1.
        """
        for name, value in sizes.items():
            if name not in self.sizes:
                why = self.unknown.get(name)
                raise ShapesError(f"what_if has no size {name!r}{f': {why}' if why else ''}. It has {_listed(self.sizes)}.")
            given: Any = value  # Any: what callers without a type checker may give
            if not isinstance(given, int) or isinstance(given, bool) or given < 1:
                raise ShapesError(f"what_if: {name} is {value!r}. Give a whole number, 1 or more.")
        memory = self._memory_of(variant)
        return int(total_line(memory, scaled_bytes(memory, self._what_if, sizes)).max(initial=0))

    def largest(self, name: str, limit_bytes: int, variant: str | None = None, **sizes: int) -> int | None:
        """The largest value of a size at which the peak is within the limit, others as given; None where not even the smallest is.

        Raises:
            ShapesError: a size or variant that isn't known.
        """
        self.peak_bytes(variant, **{**sizes, name: 1})
        size = self.sizes[name]

        def fits(steps: int) -> bool:
            return self.peak_bytes(variant, **{**sizes, name: size.least + steps * size.step}) <= limit_bytes

        if not fits(0):
            return None
        low, high = 0, 1
        while fits(high) and high < _LARGEST:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if fits(middle) else (low, middle)
        return size.least + low * size.step

    def _memory_of(self, variant: str | None) -> Memory:
        if variant is None:
            return self._memory
        found = next((one.memory for one in self._what_if.variants if one.name == variant), None)
        if found is None:
            why = self.unknown.get(variant)
            raise ShapesError(f"what_if has no variant {variant!r}{f': {why}' if why else ''}. It has {_listed(self.variants)}.")
        return found


def _listed(names: Mapping[str, Size] | tuple[str, ...]) -> str:
    return ", ".join(map(repr, names)) or "none"
