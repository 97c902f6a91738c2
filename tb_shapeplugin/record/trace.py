"""The Trace: raw facts of one run, as tracing writes them down and analyse reads them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from tb_shapeplugin.record.memory import MemoryFacts, WhatIfFacts
from tb_shapeplugin.record.values import OpCall, Shape, TensorKind

Execution: TypeAlias = Literal["fake", "real"]
Outcome: TypeAlias = Literal["ok", "failed", "assumed"]
ValueOrigin: TypeAlias = Literal["read", "assumed", "random"]


@dataclass(frozen=True, slots=True)
class TensorFact:
    """A tensor at one moment: an in-place op makes a new one of the same storage."""

    shape: Shape
    dtype: str
    device: str
    storage: int
    producer: int  # index of the op, -1 for what was there before
    kind: TensorKind
    name: str = ""  # dotted path of a parameter or buffer, name of an input
    requires_grad: bool = False
    assumed: bool = False  # a guess, or computed from one
    storage_bytes: int = -1  # of its whole storage, -1 where nobody knows
    local_numel: int = -1  # of a sharded tensor the elements that lie on this rank; -1 where it isn't sharded


@dataclass(frozen=True, slots=True)
class SourceFact:
    """A statement on the stack; ``caller`` is the index of the frame that called it, -1 at the bottom."""

    file: str
    line: int
    end_line: int = 0
    column: int = 0  # 0-based, of the call within its lines; both 0 where unknown
    end_column: int = 0
    code: str = ""  # the statement, its lines stripped and joined by one space
    function: str = ""
    text: str = ""  # the enclosing function's source, only with source="full"
    text_line: int = 0  # its first line
    caller: int = -1


@dataclass(frozen=True, slots=True)
class ChildFact:
    """An aten op that ran inside an op: its name (``aten.addmm.default``) and its outputs' types."""

    name: str
    outputs: tuple[tuple[Shape, str], ...]  # shape and dtype
    flops: int = 0  # -1 unknown


@dataclass(frozen=True, slots=True)
class OpFact:
    """One call of a torch function. ``arguments`` are (name, literal) in order; %0 stands for inputs[0]."""

    name: str
    call: int  # index of the module call it ran in, -1 outside any
    source: int  # index of its statement, -1 where none is known
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    arguments: tuple[tuple[str, str], ...] = ()
    children: tuple[ChildFact, ...] = ()
    failed: bool = False
    assumed: bool = False  # ran only because an earlier failure was passed over


@dataclass(frozen=True, slots=True)
class ModuleFact:
    """A module of the tree, called or not. Paths are dotted; the root's is ``""``."""

    path: str
    type: str
    parent: int  # index, -1 for the root
    config: str = ""  # what its own extra_repr says
    attributes: Mapping[str, int | str | bool | tuple[int, ...]] = field(default_factory=dict)  # plain ones, for the rules
    parameters: tuple[int, ...] = ()  # tensor ids, its own, not its children's
    trainable: tuple[int, ...] = ()  # those of them that require gradients
    buffers: tuple[int, ...] = ()
    shared_with: tuple[str, ...] = ()  # other paths of this module, or of its parameters
    lazy: bool = False  # has parameters that are not materialised: its counts are unknown
    packed: tuple[int, int] = (0, 0)  # elements and bytes of quantised weights, which are no Parameters


@dataclass(frozen=True, slots=True)
class CallFact:
    """One call of a module; ``number`` counts the calls of that module from 1. Its ops are first_op up to end_op."""

    module: int
    number: int
    parent: int  # index of the calling call, -1 for the root
    first_op: int
    end_op: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    outcome: Outcome = "ok"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A leaf of the model's inputs or outputs: ``batch['image']``; a literal where it is no tensor (tensor = -1)."""

    name: str
    tensor: int = -1
    literal: str = ""


@dataclass(frozen=True, slots=True)
class ValueFact:
    """Contents of a tensor that decided what ran: real ones, assumed ones (nobody has them), or ones drawn at random."""

    tensor: int
    op: int  # index of the op whose result depends on them, -1 where Python read them: item(), a branch
    source: int  # index of the statement, -1 where none is known
    origin: ValueOrigin
    literal: str = ""  # of a single number: "True", "37"


@dataclass(frozen=True, slots=True)
class Branch:
    """Code of a forward that never ran: the head that leads to it, and the last line that it reaches."""

    file: str
    line: int  # of the head
    end_line: int
    code: str  # the head: "if self.aux is not None:"
    function: str  # "Net.forward"
    modules: tuple[int, ...]  # those that ran the function around it


@dataclass(frozen=True, slots=True)
class Case:
    """One named input, and what it ran of a graph that unites several; ops, calls, values and tensors are those of the union."""

    name: str
    completed: bool
    error: str
    execution: Execution
    ops: tuple[int, ...]  # what it ran, ascending
    calls: tuple[int, ...]  # the same of the modules' calls
    values: tuple[int, ...]  # and of the contents that decided what ran
    shapes: Mapping[int, Shape]  # tensors that have another shape in this case than in the union's row
    inputs: tuple[Endpoint, ...]
    outputs: tuple[Endpoint, ...]


@dataclass(frozen=True, slots=True)
class SignatureFact:
    """A call whose arguments don't fit: what the callable takes, and what it was given."""

    callable: str  # "Net.forward"
    signature: str  # "(x, mask=None)"
    given: str  # "(f32[4,3], f32[4,3], training=True)"
    takes: int  # positional arguments it can take, without self
    gave: int
    missing: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """One call that raised: its operands, its exception, where, and what was assumed to go on."""

    op: int  # index of the op in the trace
    call: OpCall
    module: int  # index of the module it ran in, -1 outside any
    error: str  # the exception's type
    message: str  # the exception's text, eager's words
    assumed: tuple[Shape, ...] = ()  # shapes of the outputs that were assumed; empty when the run ended here
    alternatives: int = 1  # how many equally plausible outputs there were
    depends_on: tuple[int, ...] = ()  # earlier failures that its operands come from
    caused_by: int = -1  # the earlier failure without which this one vanishes
    signature: SignatureFact | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything that one run left behind, in the order in which it happened."""

    name: str
    execution: Execution
    completed: bool
    error: str  # "RuntimeError: mat1 and …" of the first failure, else ""
    tensors: tuple[TensorFact, ...]
    ops: tuple[OpFact, ...]
    modules: tuple[ModuleFact, ...]
    calls: tuple[CallFact, ...]
    sources: tuple[SourceFact, ...]
    failures: tuple[Failure, ...]
    inputs: tuple[Endpoint, ...]
    outputs: tuple[Endpoint, ...]
    unchecked: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    values: tuple[ValueFact, ...] = ()
    branches: tuple[Branch, ...] | None = None  # that never ran; None: nobody asked
    cases: tuple[Case, ...] = ()  # of a union; () for a single run
    memory: MemoryFacts | None = None  # None: nobody asked, or the run didn't complete
    what_if: WhatIfFacts | None = None  # None: nobody asked


def reached_from(trace: Trace, ops: set[int]) -> set[int]:
    """The tensors that those ops gave, and all that were computed from them.

    Example:
        >>> reached_from(trace, {3})
        {7, 8}
    """
    reached: set[int] = set()
    for index, op in enumerate(trace.ops):
        if index in ops or not reached.isdisjoint(op.inputs):
            reached.update(op.outputs)
    return reached


def nothing_known(name: str, reasons: tuple[str, ...]) -> Trace:
    """The trace of a run of which nothing is known; the reasons say why."""
    return Trace(name, "real", False, reasons[0] if reasons else "", (), (), (), (), (), (), (), (), ("everything", *reasons))
