"""Every kind of fix repairs what it is for and leaves other faults alone."""

import copy

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tb_shapeplugin.analyse.findings import findings
from tb_shapeplugin.analyse.mismatches.registered import clash_of
from tb_shapeplugin.fixes.candidates import candidates
from tb_shapeplugin.fixes.registered import FIXES
from tb_shapeplugin.fixes.situation import Candidate, Situation
from tb_shapeplugin.tracing.changes import applied
from tb_shapeplugin.tracing.execution import Examination, Options, examine
from tb_shapeplugin.tracing.subject import Subject
from tests.fixes.broken import CASES, Built, Case, Net, channels_last, coincidence, one_class_too_few, two_clips, wide_head
from tests.fixes.forms import labels_of_another_batch

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


def test_a_step_says_what_it_does_to_the_contents() -> None:
    """Cropping, filling, resampling and statistics that go lost are consequences."""
    costs = {candidate.fix.text: candidate.fix.cost for candidate in offered(two_clips())}
    assert costs["F.interpolate(b, size=(37,)) in add"] == "resamples 36 to 37"
    assert costs["F.pad(b, [0, 1]) in add"] == "adds zeros"
    norm = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(6, affine=False))
    costs = {candidate.fix.text: candidate.fix.cost for candidate in offered((norm, (torch.randn(2, 3, 9, 9),)))}
    assert costs["nn.BatchNorm2d(8, affine=False)"] == "loses model[1]'s running statistics"
    costs = {candidate.fix.text: candidate.fix.cost for candidate in offered(labels_of_another_batch())}
    assert costs["y.narrow(0, 0, 4)"] == "changes what every caller of the model passes; crops 2 of 6 at dim 0"
    assert "argument y: dim 0 should be 4" in costs


def test_heads_that_dont_divide_the_width_become_the_nearest_number_that_does() -> None:
    """18 features for 4 heads: 3 is one off, 2 is two."""
    run = Net(lambda s, x: x.view(2, 9, 4, -1))
    texts = [candidate.fix.text for candidate in offered((run, (torch.randn(2, 9, 18),)))]
    assert texts[0] == "view(2, 9, 3, -1)" and "view(2, 9, 2, -1)" in texts


def test_a_layer_that_is_viewed_in_parts_is_made_as_wide_as_the_parts() -> None:
    """20 features as heads of 8: 16 and 24 are the widths near."""
    run = Net(lambda s, x: s.query(x).view(2, 6, -1, 8), query=nn.Linear(5, 20))
    texts = [candidate.fix.text for candidate in offered((run, (torch.randn(2, 6, 5),)))]
    assert {"query = nn.Linear(5, 16)", "query = nn.Linear(5, 24)"} <= set(texts)


def test_no_reshape_cuts_across_the_axes() -> None:
    """As many elements in another order are no repair: [4,6] is no [8,3]."""
    run = Net(lambda s, x, y: F.mse_loss(s.fc(x), y), fc=nn.Linear(5, 6))
    texts = [candidate.fix.text for candidate in offered((run, (torch.randn(4, 5), torch.randn(8, 3))))]
    assert not [text for text in texts if "reshape" in text]


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


def test_labels_that_hold_a_class_0_are_not_said_to_count_from_1() -> None:
    """Where 0 is among them the prediction has too few classes, and shifting the labels would only break the other end."""
    texts = [candidate.fix.text for candidate in offered(one_class_too_few())]
    assert "4 classes in the layer that makes the prediction, it has 3" in texts
    assert not any("y - 1" in text for text in texts)
