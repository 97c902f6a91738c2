"""Runs the model again with changes: at most so often and so long, and never twice with the same ones."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from tb_shapeplugin.record.site import Site, sites
from tb_shapeplugin.record.trace import Trace

Changes: TypeAlias = tuple[Mapping[str, Any], ...]  # Any: values are of the type of what they replace


class Rerun(Protocol):
    """A run of the twin with these changes, ended at the first failure that isn't allowed; None where they can't be applied."""

    def __call__(self, changes: Sequence[Mapping[str, Any]], allowed: frozenset[Site] | None = None) -> Trace | None:
        """The run's trace."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How much trying may cost: re-runs of the twin, and seconds."""

    passes: int = 64
    seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """A run with changes, and where it fails."""

    trace: Trace
    sites: frozenset[Site]


class Rerunner:
    """Asks for re-runs within a budget, and remembers their outcomes.

    Example:
        >>> outcome = Rerunner(examination.retry, Budget())(fix.changes, allowed=frozenset())
    """

    def __init__(self, rerun: Rerun, budget: Budget) -> None:
        self._rerun = rerun
        self._left = budget.passes
        self._deadline = time.monotonic() + budget.seconds
        self._known: dict[str, dict[frozenset[Site], Outcome | None]] = {}

    def __call__(self, changes: Changes, allowed: frozenset[Site]) -> Outcome | None:
        """The outcome of a run that may fail at those sites; None where the changes can't be applied, or the budget is spent."""
        known = self._known.setdefault(_key(changes), {})
        for among, outcome in known.items():
            if among == allowed or (outcome is not None and outcome.sites <= allowed & among) or outcome is None:
                return outcome
        if _confusable(changes):
            return None
        if self._left <= 0 or time.monotonic() > self._deadline:
            return None
        self._left -= 1
        trace = self._rerun(changes, allowed)
        known[allowed] = None if trace is None else Outcome(trace, frozenset(sites(trace)))
        return known[allowed]

    def tried(self, changes: Changes) -> bool:
        """Was the model run with these changes, in whatever company?"""
        return bool(self._known.get(_key(changes)))


def _key(changes: Changes) -> str:
    return repr([dict(change) for change in changes])


def _confusable(changes: Changes) -> bool:
    """Would a step that is inserted be counted as one of the calls that are changed, or not, depending on who counts?"""
    inserted = {change["insert"] for change in changes if "insert" in change}
    return any(change.get("call") in inserted for change in changes)
