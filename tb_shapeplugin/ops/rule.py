"""What a rule is, and the table in which the op families file theirs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from tb_shapeplugin.base.registry import Registry
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall, Shape

Outputs: TypeAlias = tuple[Shape, ...]  # the shapes of all tensor outputs
Requirement: TypeAlias = Callable[[OpCall], Clash | None]
Outcome: TypeAlias = Callable[[OpCall], tuple[Outputs, ...]]


def nothing(_call: OpCall) -> None:
    """The requirement of an op that takes any shape."""


def unknown(_call: OpCall) -> tuple[Outputs, ...]:
    """The outcome of an op whose outputs nobody can tell from shapes."""
    return ()


@dataclass(frozen=True, slots=True)
class Rule:
    """What an op requires of its operands, and the outputs it would plausibly have given, most plausible first.

    Both may raise Unreadable where the call's arguments aren't of the form that the rule knows.
    """

    requires: Requirement = nothing
    gives: Outcome = unknown


RULES: Registry[Rule] = Registry("op rule")


def one(shape: Shape) -> tuple[Outputs, ...]:
    """The alternatives of an op with a single output whose shape is certain.

    Example:
        >>> one((4, 10))
        (((4, 10),),)
    """
    return ((shape,),)


def any_of(shapes: tuple[Shape, ...]) -> tuple[Outputs, ...]:
    """The alternatives of an op with a single output.

    Example:
        >>> any_of(((4,), (5,)))
        (((4,),), ((5,),))
    """
    return tuple((shape,) for shape in shapes)
