"""What a run that goes on past failures hands out about what raised, and what it gets back to stand in for its output."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from tb_shapeplugin.record.site import Site
from tb_shapeplugin.record.values import OpCall, Operand


@dataclass
class RaisedOp:
    """A torch function that raised, handed to whoever may go on past it."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    call: OpCall
    error: Exception
    site: Site
    said: Exception | None = None  # what eager raises for the call, None where it wasn't asked
    let_through: bool = False  # did a shape-level kernel run it, and eager refuses it?
    output: Any = None  # what that kernel gave


@dataclass(frozen=True)
class MadeInside:
    """An operand of what failed that an op of the same call gave: the how-manieth op, which of its outputs."""

    operand: Operand
    op: int
    position: int


@dataclass
class RaisedModule:
    """A module, or plain function, whose own Python code raised."""

    run: Callable[..., Any]
    module: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    error: Exception
    site: Site | None  # None where nothing is written down
    is_root: bool
    call: OpCall | None = None  # what failed, where that is its own code's; then it may be called once more
    made: tuple[MadeInside, ...] = ()


@dataclass(frozen=True)
class Again:
    """How a module whose own code raised is called once more.

    With other arguments, or with another tensor from one op on: then ``op`` is that op, counted from the call's first, and
    ``position`` which of its outputs.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    op: int = -1
    position: int = 0


@dataclass
class GoneOn:
    """What stands in for the output of something that raised; with ``again`` for what it was given."""

    output: Any
    shapes: tuple[tuple[int, ...], ...]
    alternatives: int = 1
    certain: bool = True  # its shape doesn't depend on a guess
    said: Exception | None = None  # what eager raises for the call, where a shape-level kernel raised in its place
    ends: bool = False  # nothing plausible stands in: the run ends here
    again: Again | None = None


class Recovery(Protocol):
    """Decides whether a run goes on past what raised; is told where a handler of the user let an error through."""

    escaped: set[Site]
    go_on: bool

    def insists(self, site: Site) -> bool:
        """Is the run to go on there although the user's code has a handler around it?"""

    def after_op(self, raised: RaisedOp) -> GoneOn | None:
        """What stands in for the output of a torch function that raised; None ends the run."""

    def after_module(self, raised: RaisedModule) -> GoneOn | None:
        """The same for a module whose own code raised."""


@dataclass(frozen=True)
class Withheld:
    """An error that a handler of the user may catch, and the way to write it down should it come through."""

    error: Exception
    site: Site
    write_down: Callable[[], None]
