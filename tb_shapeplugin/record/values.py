"""What an op is called with, told without torch: tensors as operands, everything else as plain values."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from tb_shapeplugin.base.units import compact_type

Shape: TypeAlias = tuple[int, ...]
TensorKind: TypeAlias = Literal["activation", "parameter", "buffer", "input", "constant"]


@dataclass(frozen=True, slots=True)
class Operand:
    """A tensor as one call meets it: its id in the Trace, and what its kind of use is.

    Example:
        >>> str(Operand(id=0, shape=(4, 864), dtype="float32"))
        'f32[4,864]'
    """

    id: int
    shape: Shape
    dtype: str
    device: str = ""
    kind: TensorKind = "activation"
    name: str = ""
    low: int | None = None  # smallest and largest value, where they decide and are known
    high: int | None = None

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def numel(self) -> int:
        """Number of elements."""
        count = 1
        for size in self.shape:
            count *= size
        return count

    def __str__(self) -> str:
        return compact_type(self.dtype, self.shape, self.device)


@dataclass(frozen=True, slots=True)
class Opaque:
    """An argument that is neither tensor nor plain value, by its type and its text."""

    type: str
    text: str


Value: TypeAlias = Operand | Opaque | None | bool | int | float | complex | str | tuple["Value", ...] | Mapping[str, "Value"]


def operands_in(value: Value) -> Iterator[Operand]:
    """Every operand inside a value, in order, nested ones included."""
    if isinstance(value, Operand):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from operands_in(item)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from operands_in(item)


@dataclass(frozen=True, slots=True)
class OpCall:
    """One call of a torch function as the user wrote it: ``name`` as torch.overrides.resolve_name tells it.

    Example:
        >>> call = OpCall("torch.flatten", (Operand(0, (4, 6, 12, 12), "float32"), 1))
        >>> call.get(1, "start_dim", 0)
        1
    """

    name: str
    args: tuple[Value, ...] = ()
    kwargs: Mapping[str, Value] = field(default_factory=dict)

    @property
    def short_name(self) -> str:
        """The last part of the name: ``conv2d`` for ``torch.nn.functional.conv2d``."""
        return self.name.rpartition(".")[2]

    def get(self, position: int, name: str, default: Value = None) -> Value:
        """The argument at that position or of that name, else the default."""
        return self.args[position] if position < len(self.args) else self.kwargs.get(name, default)

    def operand(self, position: int, name: str) -> Operand | None:
        """The same, where it is a tensor; None where it isn't."""
        value = self.get(position, name)
        return value if isinstance(value, Operand) else None

    def integer(self, position: int, name: str, default: int) -> int:
        """The same, where it is an int; the default where it isn't."""
        value = self.get(position, name, default)
        return value if isinstance(value, int) else default

    def operands(self) -> tuple[Operand, ...]:
        """Every tensor among the arguments, nested ones included, in order."""
        return tuple(operands_in((self.args, self.kwargs)))
