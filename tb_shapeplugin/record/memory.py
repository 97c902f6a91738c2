"""What is alive when: the allocations of a forward, or of whole training steps, as facts and as the Record keeps them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from tb_shapeplugin.record.columns import Columns, Ints, ints
from tb_shapeplugin.record.values import Shape

Term: TypeAlias = Literal["parameters", "buffers", "inputs", "activations", "gradients", "optimizer", "temporaries"]
Phase: TypeAlias = Literal["forward", "loss", "backward", "step"]
SavedKind: TypeAlias = Literal["activation", "input", "buffer"]

# The position of a word is its number in the columns, here, in the proto and in the browser.
PHASES: tuple[Phase, ...] = ("forward", "loss", "backward", "step")
TERMS: tuple[Term, ...] = ("parameters", "buffers", "inputs", "activations", "gradients", "optimizer", "temporaries")


@dataclass(frozen=True, slots=True)
class CallKey:
    """A call of a module: its dotted path, and which of its calls it is, from 1. Path "" and number 0 stand for no call at all."""

    path: str = ""
    number: int = 0


@dataclass(frozen=True, slots=True)
class Allocation:
    """A storage that is alive from one aten op of an iteration up to another.

    ``born`` is -1 for what was there before the iteration, ``died`` the first op at which it is gone; the number of ops for what
    outlives it.
    """

    bytes: int
    term: Term
    born: int
    died: int
    shape: Shape = ()  # of the tensor that it was made for
    dtype: str = ""
    owner: str | None = None  # path of the module whose parameter or buffer it belongs to
    name: str = ""  # of that parameter or buffer, of the input; of optimizer state with its key
    kept_by: int = -1  # the op that autograd keeps it for, the first one


@dataclass(frozen=True, slots=True)
class MemoryOp:
    """An aten op, and the call that it ran in; of a backward op the call whose forward it goes back through;
    of an optimizer's op a call of the module whose parameter it steps.
    """

    name: str
    call: CallKey
    flops: int = 0  # of a backward op; -1 unknown


@dataclass(frozen=True, slots=True)
class Iteration:
    """The aten ops of one iteration, in order, and all that was alive during it."""

    ops: tuple[MemoryOp, ...]
    phases: tuple[tuple[Phase, int], ...]  # each with the number of the op that it ends before
    allocations: tuple[Allocation, ...]


@dataclass(frozen=True, slots=True)
class Saved:
    """A storage that autograd keeps for the backward, and the call whose op keeps it first."""

    bytes: int
    kind: SavedKind
    call: CallKey


@dataclass(frozen=True, slots=True)
class MemoryFacts:
    """What the memory pass found: the forward alone, or two whole training steps, of which the first makes the optimizer's state.

    Where the pass ended early the last iteration holds what ran up to there. The names of totals that nobody knows stand in
    ``unknown``, those that are no exact figures in ``estimated``, each with the reason.
    """

    iterations: tuple[Iteration, ...] = ()
    saved: tuple[Saved, ...] = ()
    unknown: Mapping[str, str] = field(default_factory=dict)
    estimated: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class MemoryOpColumns(Columns):
    """Aten ops of one iteration, in order."""

    name: Ints  # strings
    call: Ints  # calls, -1 outside any; backward and step: of the call gone back through, of the module whose parameter is stepped


@dataclass(frozen=True, slots=True, eq=False)
class AllocationColumns(Columns):
    """Storages, in the order in which they come up."""

    bytes: Ints
    term: Ints  # TERMS
    born: Ints  # memory ops, -1 for what was there before the iteration
    life: Ints  # after how many ops, counted from the one that made it or from the first, it is gone
    owner: Ints  # modules, of what belongs to a parameter or buffer, else -1
    name: Ints  # strings
    kept_by: Ints  # the memory op that autograd keeps it for, -1 for none
    shape: Ints  # shapes
    dtype: Ints  # strings
    scale: Ints  # WhatIf.scales


def no_ops() -> MemoryOpColumns:
    """The columns of an iteration without ops."""
    return MemoryOpColumns(ints(()), ints(()))


def no_allocations() -> AllocationColumns:
    """The columns of an iteration without storages."""
    return AllocationColumns(*(ints(()) for _ in range(10)))


@dataclass(frozen=True, slots=True)
class Memory:
    """What is alive over one iteration: the steady one of a training step, else the forward.

    Allocated bytes of tensors: no workspaces of kernels, no rounding or fragmentation of an allocator.
    """

    ops: MemoryOpColumns = field(default_factory=no_ops)
    phases: tuple[tuple[Phase, int], ...] = ()  # each with the number of the op that it ends before
    allocations: AllocationColumns = field(default_factory=no_allocations)
    saved_input_bytes: int = 0  # of what autograd keeps, those that are the model's inputs
    saved_buffer_bytes: int = 0  # and those that are its buffers
    unknown: Mapping[str, str] = field(default_factory=dict)  # the name of a total, and why nobody knows it
    estimated: Mapping[str, str] = field(default_factory=dict)  # the name of a total, and what it lacks


@dataclass(frozen=True, slots=True)
class Size:
    """A size of the inputs that may be another one: the answers hold for ``least``, ``least + step`` and so on."""

    name: str  # "batch" | "sequence" | "side"
    logged: int
    least: int
    step: int
    axes: tuple[str, ...]  # "x[0]": the axes of the inputs that have it


@dataclass(frozen=True, slots=True)
class Variant:
    """Another way to train the same model, and what is alive then at the logged sizes."""

    kind: str  # "dtype" | "optimizer" | "checkpointing"
    name: str
    memory: Memory


@dataclass(frozen=True, slots=True)
class WhatIf:
    """How memory changes with the sizes of the inputs and with other ways to train; the sizes apply to each of those ways.

    A storage's bytes over its logged bytes are the product, over all sizes, of a polynomial of that size: ``scales`` holds its
    coefficients for each size, those of 1, x, x² and so on. ``scales[0]`` is 1 whatever the sizes.
    """

    sizes: tuple[Size, ...] = ()
    scales: tuple[tuple[tuple[float, ...], ...], ...] = ()
    variants: tuple[Variant, ...] = ()
    unknown: Mapping[str, str] = field(default_factory=dict)  # a size or variant that can't be told, and why


@dataclass(frozen=True, slots=True)
class SizeFact:
    """A size of the inputs, and iterations at other values of it; the last one is the check."""

    name: str
    logged: int
    least: int
    step: int
    axes: tuple[str, ...]
    samples: tuple[tuple[int, Iteration], ...]


@dataclass(frozen=True, slots=True)
class VariantFact:
    """Another way to train: an iteration at the logged sizes, and some at other values of each size; none where sizes don't matter."""

    kind: str
    name: str
    facts: MemoryFacts
    samples: tuple[tuple[tuple[int, Iteration], ...], ...] = ()  # of each size


@dataclass(frozen=True, slots=True)
class WhatIfFacts:
    """What was found about other sizes, alone and all at once, and about other ways to train."""

    sizes: tuple[SizeFact, ...] = ()
    together: tuple[tuple[int, ...], Iteration] | None = None
    variants: tuple[VariantFact, ...] = ()
    unknown: Mapping[str, str] = field(default_factory=dict)
