"""Which contents of tensors decided what ran: read by Python, needed by an op; real, assumed or random ones."""

from collections.abc import Callable, Sequence
from typing import Any

from tb_shapeplugin.record.trace import ValueFact, ValueOrigin
from tb_shapeplugin.tracing.arguments import tensors_in
from tb_shapeplugin.tracing.bookmarks import Undo
from tb_shapeplugin.tracing.tensors import TensorBook

# Functions that read memory before any aten op is met.
_READS_MEMORY = {"tolist", "numpy", "__array__", "_pack_padded_sequence"}
# Their results are made of sizes alone, whatever the tensor holds.
_OF_SIZES = ("zeros_like", "ones_like", "empty_like", "full_like", "new_zeros", "new_ones", "new_empty", "new_full")
_SHORTEST_FLOAT = ".6g"


class Reads:
    """The notes of one run, and which tensors come from random numbers or stand in for what failed."""

    def __init__(self, tensors: TensorBook) -> None:
        self.facts: list[ValueFact] = []
        self._tensors = tensors
        self._random: set[int] = set()
        self._assumed: set[int] = set()

    def bookmark(self) -> Undo:
        """What takes back all notes from here on."""
        size, known = len(self.facts), len(self._tensors.facts)

        def undo() -> None:
            del self.facts[size:]
            self._random = {index for index in self._random if index < known}
            self._assumed = {index for index in self._assumed if index < known}

        return undo

    def stood_in(self, outputs: Sequence[int]) -> None:
        """Those tensors stand in for the outputs of a call that failed: nobody knows what they would hold."""
        self._assumed.update(outputs)

    def wrote(self, function: Callable[..., Any], inputs: Sequence[int], outputs: Sequence[int], drew: bool) -> None:
        """An op gave those tensors; ``drew``: some of its aten ops drew random numbers."""
        if drew:
            self._random.update(outputs)
        for marked in (self._random, self._assumed):
            if marked and not marked.isdisjoint(inputs) and getattr(function, "__name__", "") not in _OF_SIZES:
                marked.update(outputs)

    def note(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Any, result: Any, op: int, source: int, assumed: bool
    ) -> None:
        """The function needed contents. ``op``: its index, -1 where it is none; ``assumed``: nobody has them, zeros stood in."""
        operands = tensors_in((args, kwargs))
        if not operands:
            return
        read = next((tensor for tensor in operands if not tensor.is_floating_point()), operands[0])
        index = self._tensors.id_of(read)
        self.facts.append(ValueFact(index, op, source, self._origin(index, assumed), _literal(result)))

    def _origin(self, index: int, assumed: bool) -> ValueOrigin:
        if assumed or index in self._assumed:
            return "assumed"
        return "random" if index in self._random else "read"


def reads_memory(function: Callable[..., Any]) -> bool:
    """Does a torch function look at contents where no aten op tells of it?"""
    return getattr(function, "__name__", "") in _READS_MEMORY


def _literal(result: Any) -> str:
    if isinstance(result, float):
        return format(result, _SHORTEST_FLOAT)
    return repr(result) if isinstance(result, (bool, int)) else ""
