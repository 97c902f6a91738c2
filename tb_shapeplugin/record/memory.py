"""What is alive when: the allocations of a forward, or of whole training steps, as facts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from tb_shapeplugin.record.values import Shape

Term: TypeAlias = Literal["parameters", "buffers", "inputs", "activations", "gradients", "optimizer", "temporaries"]
Phase: TypeAlias = Literal["forward", "loss", "backward", "step"]
SavedKind: TypeAlias = Literal["activation", "input", "buffer"]

PHASES: tuple[Phase, ...] = ("forward", "loss", "backward", "step")
TERMS: tuple[Term, ...] = ("parameters", "buffers", "inputs", "activations", "gradients", "optimizer", "temporaries")


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
    module: str = ""  # dotted path of the module that it was made in
    shape: Shape = ()  # of the tensor that it was made for
    dtype: str = ""


@dataclass(frozen=True, slots=True)
class Iteration:
    """The aten ops of one iteration, in order, and all that was alive during it."""

    ops: tuple[str, ...]
    phases: tuple[tuple[Phase, int], ...]  # each with the number of the op that it ends before
    allocations: tuple[Allocation, ...]


@dataclass(frozen=True, slots=True)
class Saved:
    """A storage that autograd keeps for the backward, and the module whose op keeps it first."""

    bytes: int
    kind: SavedKind
    module: str


@dataclass(frozen=True, slots=True)
class MemoryFacts:
    """What the memory pass found: the forward alone, or two whole training steps, of which the first makes the optimizer's state.

    Where the pass ended early the last iteration holds what ran up to there. The names of totals that nobody knows stand in
    ``unknown``, each with the reason.
    """

    iterations: tuple[Iteration, ...] = ()
    saved: tuple[Saved, ...] = ()
    unknown: Mapping[str, str] = field(default_factory=dict)


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
class Memory:
    """What is alive over one iteration: the steady one of a training step, else the forward.

    ``at`` are indices of aten ops, at most some hundreds, the highest of its neighbours each, and none for a forward alone; ``alive``
    the bytes by term at those ops. Allocated bytes of tensors: no workspaces of kernels, no rounding or fragmentation of an allocator.
    """

    ops: int = 0
    phases: tuple[tuple[Phase, int], ...] = ()  # each with the number of the op that it ends before
    at: tuple[int, ...] = ()
    alive: Mapping[Term, tuple[int, ...]] = field(default_factory=dict)
    peak: Peak | None = None
    unknown: Mapping[str, str] = field(default_factory=dict)  # the name of a total, and why nobody knows it
