"""Every kind of fix repairs what it is for and leaves other faults alone."""

import copy

import pytest
import torch

from tb_shapeplugin.analyse.findings import findings
from tb_shapeplugin.analyse.mismatches.registered import clash_of
from tb_shapeplugin.fixes.candidates import candidates
from tb_shapeplugin.fixes.registered import FIXES
from tb_shapeplugin.fixes.situation import Candidate, Situation
from tb_shapeplugin.tracing.changes import applied
from tb_shapeplugin.tracing.execution import Examination, Options, examine
from tb_shapeplugin.tracing.subject import Subject
from tests.fixes.broken import CASES, Built, Case, channels_last, coincidence, wide_head

NAMED = [pytest.param(case, id=case.kind.__name__) for case in CASES]


def examined(built: Built) -> Examination:
    """The run of a model that fails."""
    torch.manual_seed(0)
    return examine(Subject("model", *built, {}), Options())


def situation(examination: Examination) -> Situation:
    """Its first failure."""
    trace = examination.trace
    return Situation(trace, trace.failures[0], findings(trace)[0], clash_of(trace.failures[0], trace))


def offered(built: Built) -> tuple[Candidate, ...]:
    """Every candidate for its first failure."""
    trace = examined(built).trace
    return candidates(trace, trace.failures[0], findings(trace)[0])


def test_each_registered_kind_has_a_case() -> None:
    """A new kind of fix without a case that it repairs, and one that it must refuse, fails here."""
    assert [case.kind for case in CASES] == list(FIXES)


@pytest.mark.parametrize("case", NAMED)
def test_a_kind_says_its_fix_as_people_would_write_it(case: Case) -> None:
    """The text is code that can be copied, or a sentence where nothing can be tried."""
    assert case.text in [candidate.fix.text for candidate in case.kind(situation(examined(case.broken())))]


@pytest.mark.parametrize("case", [case for case in NAMED if case.values[0].kind.__name__ != "suggestion"])
def test_a_kind_repairs_what_it_is_for(case: Case) -> None:
    """Re-run with its change, the twin completes; where the change is one of layers or inputs, the real model runs, too."""
    examination = examined(case.broken())
    fix = next(candidate.fix for candidate in case.kind(situation(examination)) if candidate.fix.text == case.text)
    assert examination.retry is not None
    trace = examination.retry(fix.changes)
    assert trace is not None and trace.completed, trace and trace.error
    if not any("call" in change for change in fix.changes):
        model, args = case.broken()
        subject = applied(fix.changes, Subject("model", copy.deepcopy(model), args, {}))
        subject.model(*subject.args)


@pytest.mark.parametrize("case", NAMED)
def test_a_kind_leaves_other_faults_alone(case: Case) -> None:
    """For a fault that isn't its own it has nothing to offer that would run."""
    examination = examined(case.refused())
    assert examination.retry is not None
    for candidate in case.kind(situation(examination)):
        trace = examination.retry(candidate.fix.changes) if candidate.fix.changes else None
        assert trace is None or not trace.completed, candidate.fix.text


def test_a_layer_made_anew_loses_its_weights_and_the_fix_says_so() -> None:
    """What a fix costs stands with it."""
    costs = {candidate.fix.text: candidate.fix.cost for candidate in offered(wide_head())}
    assert costs["nn.Linear(1152, 4)"] == "loses model[3]'s pretrained weights"
    costs = {candidate.fix.text: candidate.fix.cost for candidate in offered(channels_last())}
    assert costs["x.permute(0, 3, 1, 2)"] == "changes what every caller of the model passes"


def test_sizes_that_happen_to_be_equal_are_not_preferred() -> None:
    """A 16×16 picture in front of 16 channels is no picture with its channels last: the layer's own argument comes first."""
    order = [candidate.fix.text for candidate in offered(coincidence())]
    assert order[0] == "nn.Conv2d(3, 4, 3)"
    moved = [at for at, text in enumerate(order) if "permute" in text or "transpose" in text]
    assert moved and min(moved) > 0


def test_a_fault_of_the_users_own_code_gets_no_invented_fix() -> None:
    """Where nothing has a wrong shape there is nothing to change."""

    class Refuses(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            raise ValueError("not today")

    assert offered((Refuses(), (torch.randn(2),))) == ()
