"""What a kind of mismatch says about a failure, and the words that all kinds share."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from tb_shapeplugin.record.finding import Clash, Mark
from tb_shapeplugin.record.trace import Failure, Trace
from tb_shapeplugin.record.values import Operand

_MOST_TYPES = 3
_LONGEST = 200  # characters of an exception's words


@dataclass(frozen=True, slots=True)
class Explanation:
    """A failure in plain words: its kind, one sentence, the clashing numbers, the operands' types, the dims to mark."""

    kind: str
    message: str
    got: Mapping[str, int] = field(default_factory=dict)
    want: Mapping[str, int] = field(default_factory=dict)
    types: str = ""
    marks: tuple[Mark, ...] = ()


Explain: TypeAlias = Callable[[Failure, Clash | None, Trace], Explanation | None]


def subject(failure: Failure, trace: Trace) -> str:
    """What a sentence about a failure begins with: the module's path, at the root the op's short name."""
    path = trace.modules[failure.module].path if failure.module >= 0 else ""
    name = failure.call.name
    if name in ("python.error", "python.call"):
        return path or "forward"
    if name.endswith(".__init__"):
        return name.split(".")[-2]  # the layer that couldn't be built, whoever was building it
    return path or failure.call.short_name


def clashing(failure: Failure, clash: Clash) -> tuple[Operand, ...]:
    """The operands that the clash is about, in the call's order; the first few of the call where it names none."""
    operands = {operand.id: operand for operand in failure.call.operands()}
    named = tuple(operand for operand in operands.values() if operand.id in (clash.operand, clash.other))
    return named or tuple(operands.values())[:_MOST_TYPES]


def types_of(*operands: Operand) -> str:
    """Operands' compact types side by side.

    Example:
        >>> types_of(Operand(0, (4, 48), "float32"), Operand(1, (4, 24), "float32"))
        'f32[4,48] · f32[4,24]'
    """
    return " · ".join(map(str, operands))


def marks_of(clash: Clash) -> tuple[Mark, ...]:
    """The dims that the clash is about, the faulty side's first."""
    sides = ((clash.operand, clash.dim), (clash.other, clash.other_dim))
    return tuple(Mark(tensor, dim) for tensor, dim in sides if tensor >= 0 and dim >= 0)


def told(failure: Failure, clash: Clash, trace: Trace, types: str | None = None) -> Explanation:
    """The explanation that a clash is by itself."""
    return Explanation(
        kind=clash.kind,
        message=f"{subject(failure, trace)}: {clash.words}",
        got=clash.got,
        want=clash.want,
        types=types_of(*clashing(failure, clash)) if types is None else types,
        marks=marks_of(clash),
    )


def said(
    kind: str,
    failure: Failure,
    trace: Trace,
    words: str,
    got: Mapping[str, int] | None = None,
    want: Mapping[str, int] | None = None,
) -> Explanation:
    """An explanation that rests on the words of the exception, where no rule knows the call."""
    types = types_of(*failure.call.operands()[:_MOST_TYPES])
    return Explanation(kind, f"{subject(failure, trace)}: {words}", got or {}, want or {}, types)


def pair_said(message: str, forms: Iterable[re.Pattern[str]]) -> tuple[int, int] | None:
    """The two numbers that a message states in one of the forms, by their groups ``got`` and ``want``; None where it states none.

    Example:
        >>> pair_said("it is 3, not 4", [re.compile(r"is (?P<got>[0-9]+), not (?P<want>[0-9]+)")])
        (3, 4)
    """
    found = next((match for form in forms if (match := form.search(message))), None)
    return (int(found["got"]), int(found["want"])) if found else None


def first_line(failure: Failure) -> str:
    """The first line of what the exception says, whole sentences of it where it is long; its type where it says nothing."""
    lines = failure.message.strip().splitlines()
    return _shortened(lines[0].strip()) if lines else failure.error


def _shortened(text: str) -> str:
    """At most 200 characters, which end with a sentence, else with a word and an ellipsis."""
    if len(text) <= _LONGEST:
        return text
    head = text[:_LONGEST]
    sentence, space = head.rfind(". "), head.rfind(" ")
    return head[: sentence + 1] if sentence > _LONGEST // 3 else f"{head[:space] if space > 0 else head} …"


def of_kind(kind: str) -> Explain:
    """Explains failures of one kind by their clash alone."""

    def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
        return told(failure, clash, trace) if clash is not None and clash.kind == kind else None

    return explain


def of_kind_or_said(kind: str, forms: Iterable[re.Pattern[str]], word: str, sentence: str) -> Explain:
    """Explains failures of one kind by their clash; where no rule knows the call, by the two numbers that torch's words state.

    Args:
        kind: the kind.
        forms: how torch states them, with groups ``got`` and ``want``.
        word: what both numbers count, "features".
        sentence: what is said of them, with ``{got}`` and ``{want}``.
    """
    patterns = tuple(forms)

    def explain(failure: Failure, clash: Clash | None, trace: Trace) -> Explanation | None:
        if clash is not None:
            return told(failure, clash, trace) if clash.kind == kind else None
        pair = pair_said(failure.message, patterns)
        if pair is None:
            return None
        got, want = pair
        return said(kind, failure, trace, sentence.format(got=got, want=want), {word: got}, {word: want})

    return explain
