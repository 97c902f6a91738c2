"""What was found wrong, told so that a beginner can act on it and an expert trusts it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from tb_shapeplugin.record.values import Shape

Severity: TypeAlias = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Clash:
    """A requirement of an op that its operands break: which dim carries which number, against which.

    ``operand`` and ``other`` are tensor ids (-1 where the number is no tensor's dim); dims count from 0. ``got`` is what
    the faulty side carries, ``want`` what the other side requires, both under the word that the field uses for them.
    """

    kind: str
    got: Mapping[str, int]
    want: Mapping[str, int]
    operand: int = -1
    dim: int = -1
    other: int = -1
    other_dim: int = -1
    words: str = ""  # the requirement in one clause: "the last dim of its input is 864, in_features is 1176"


@dataclass(frozen=True, slots=True)
class Mark:
    """One dim of one tensor that clashes: drawn red in the edge's label."""

    tensor: int
    dim: int


@dataclass(frozen=True, slots=True)
class Place:
    """Where a fault stands: module path, call number from 1, op name, statement, and the op's index in the record."""

    module: str
    call: int
    op: str
    file: str
    line: int
    code: str
    op_index: int = -1


@dataclass(frozen=True, slots=True)
class Origin:
    """The op that introduced the wrong number; op_index is -1 where an input or parameter brought it along."""

    module: str
    op: str
    file: str
    line: int
    code: str
    op_index: int = -1
    tensor: int = -1
    shape: Shape = ()


@dataclass(frozen=True, slots=True)
class Fix:
    """A change that may repair the model; ``verified`` only when the model was re-run with it and completed."""

    text: str
    changes: tuple[Mapping[str, Any], ...] = ()  # machine-readable; Any: values are of the changed argument's type
    verified: bool = False
    cost: str = ""  # "loses the pretrained weights of fc"


@dataclass(frozen=True, slots=True)
class Finding:
    """One mismatch or hazard. ``got`` and ``want`` are the clashing numbers; ``places`` all places of the same fault."""

    kind: str
    severity: Severity
    message: str  # one sentence
    module: str
    module_type: str
    call: int
    op: str
    file: str
    line: int
    code: str
    got: Mapping[str, int] = field(default_factory=dict)
    want: Mapping[str, int] = field(default_factory=dict)
    types: str = ""  # the operands: "f32[4,864] · f32[1176,120]"
    origin: Origin | None = None
    why: str = ""  # the arithmetic: "864 = 6·12·12"
    torch_message: str = ""  # eager's text, verbatim
    places: tuple[Place, ...] = ()
    marks: tuple[Mark, ...] = ()
    readings: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()
    caused_by: "Finding | None" = None
    op_index: int = -1
    cases: tuple[str, ...] = ()  # names of the cases that have it; () for a single run
