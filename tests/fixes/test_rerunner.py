"""Re-runs are asked for sparingly."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
import torch
from torch import nn

from tb_shapeplugin.fixes.impact import batch_of, loses_batch
from tb_shapeplugin.fixes.rerunner import Budget, Rerunner
from tb_shapeplugin.record.site import Site
from tb_shapeplugin.record.trace import Trace
from tb_shapeplugin.tracing.execution import Examination, Options, examine
from tb_shapeplugin.tracing.subject import Subject

NOWHERE: frozenset[Site] = frozenset()
NARROWER = ({"module": "1", "arg": "in_features", "value": 8},)


def wide() -> Examination:
    """x[4,6] ─ 8 ─ fc 9 ✗."""
    return examine(Subject("model", nn.Sequential(nn.Linear(6, 8), nn.Linear(9, 2)), (torch.randn(4, 6),), {}), Options())


class Counted:
    """Counts what it is asked."""

    def __init__(self) -> None:
        self.asked = 0
        self._retry = wide().retry

    def __call__(self, changes: Sequence[Mapping[str, Any]], allowed: frozenset[Site] | None = None) -> Trace | None:
        self.asked += 1
        assert self._retry is not None
        return self._retry(changes, allowed)


def test_the_same_changes_are_run_once() -> None:
    """A run that completed is no other one where fewer failures are allowed."""
    counted = Counted()
    rerun = Rerunner(counted, Budget())
    first = rerun(NARROWER, NOWHERE)
    assert first is not None and first.trace.completed and not first.sites
    assert rerun(NARROWER, frozenset(wide_sites())) is first
    assert counted.asked == 1 and rerun.tried(NARROWER) and not rerun.tried(())


def wide_sites() -> frozenset[Site]:
    """Where it fails."""
    outcome = Rerunner(Counted(), Budget())((), NOWHERE)
    assert outcome is not None and len(outcome.sites) == 1
    return outcome.sites


@pytest.mark.parametrize("budget", [Budget(passes=0), Budget(seconds=0.0)])
def test_nothing_is_run_once_the_budget_is_spent(budget: Budget) -> None:
    """Neither counts nor seconds are overdrawn."""
    counted = Counted()
    assert Rerunner(counted, budget)(NARROWER, NOWHERE) is None
    assert counted.asked == 0


def test_changes_that_are_counted_in_two_ways_are_not_run() -> None:
    """An inserted flatten before a changed flatten: whoever applies them may count the calls otherwise."""
    counted = Counted()
    changes = (
        {"insert": "flatten", "before": "1", "dims": [0, 1]},
        {"call": "flatten", "module": "", "index": 0, "argument": 1, "value": 1},
    )
    assert Rerunner(counted, Budget())(changes, NOWHERE) is None
    assert counted.asked == 0


def test_changes_that_cant_be_applied_are_asked_for_once() -> None:
    """A layer that isn't there isn't there the second time either."""
    counted = Counted()
    rerun = Rerunner(counted, Budget())
    missing = ({"module": "7", "arg": "in_features", "value": 8},)
    assert rerun(missing, NOWHERE) is None and rerun(missing, NOWHERE) is None
    assert counted.asked == 1


def test_a_batch_that_is_no_batch_any_more_is_noticed() -> None:
    """Outputs of another length than the input: samples were joined."""
    whole = examine(Subject("model", lambda x: x * 2, (torch.randn(4, 6),), {}), Options()).trace
    joined = examine(Subject("model", lambda x: x.reshape(2, 12), (torch.randn(4, 6),), {}), Options()).trace
    assert batch_of(whole) == 4
    assert loses_batch(whole, joined) and not loses_batch(whole, whole) and not loses_batch(joined, whole)
