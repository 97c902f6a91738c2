"""A fix is verified only where the whole model then completes, together with the best fixes of the other findings."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn

import tb_shapeplugin as shapes
from tb_shapeplugin.analyse.findings import findings
from tb_shapeplugin.api.repairing import Budget, repaired
from tb_shapeplugin.record.finding import Finding, Fix
from tb_shapeplugin.record.site import Site, sites
from tb_shapeplugin.record.trace import Trace
from tb_shapeplugin.tracing.changes import Change, applied
from tb_shapeplugin.tracing.execution import Examination, Options, examine
from tb_shapeplugin.tracing.subject import Subject


class ThreeFaults(nn.Module):
    """x[2,3,16,16] ─ conv 1→8 ✗ ─ mean ─ fc 100→5 ✗ ─ out 9→2 ✗."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.fc, self.out = nn.Conv2d(1, 8, 3, padding=1), nn.Linear(100, 5), nn.Linear(9, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(torch.relu(self.fc(self.conv(x).mean((2, 3)))))


class Widened(nn.Module):
    """x[2,16,8,8] ─ norm 8 ✗ ─ flatten ─ fc 784 ✗: what fc has to take depends on how norm is mended."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.fc = nn.BatchNorm2d(8), nn.Linear(784, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(self.norm(x).flatten(1))


class Swallowed(nn.Module):
    """x[5,1,6,6] ─ conv ─ view(-1, 8·144) ✗ ─ fc 8·144: right only with another fc, too."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.fc = nn.Conv2d(1, 4, 3, padding=1), nn.Linear(8 * 144, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(self.conv(x).view(-1, 8 * 144))


class Unmendable(nn.Module):
    """x[4,6] ─ fc 7 ✗, and a[2,5][:, (0, 9)] ✗: nobody knows which columns were meant."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(7, 3)

    def forward(self, x: torch.Tensor, a: torch.Tensor) -> torch.Tensor:
        return self.fc(x).sum() + a[:, torch.tensor([0, 9])].sum()


class Packed(nn.Module):
    """x[3,11,24] ─ qkv ─ [3,11,3,4,6].permute(2, 0, 2, 1, 4) ✗ ─ attention ─ out 24 gets another width than that of 4 heads."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.qkv(x).reshape(3, 11, 3, 4, 6).permute(2, 0, 2, 1, 4)
        mixed = (q @ k.transpose(-2, -1)).softmax(-1) @ v
        return self.out(mixed.permute(0, 2, 1, 3).flatten(2))


class Turned(nn.Module):
    """x[5,6,9].transpose(0, 2) ─ fc 6 ✗: with the batch last, whatever fits fc mixes the samples."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(6, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(x.transpose(0, 2))


def examined(model: Any, *args: Any) -> Examination:
    """The run of a model that fails."""
    return examine(Subject("model", model, args, {}), Options())


def mended(model: nn.Module, *args: Any, budget: Budget | None = None) -> tuple[Finding, ...]:
    """Its findings with their fixes."""
    examination = examined(model, *args)
    return repaired(findings(examination.trace), examination, budget)


def verified(finding: Finding) -> list[Fix]:
    """Those that carry a tick."""
    return [fix for fix in finding.fixes if fix.verified]


def run_for_real(model: nn.Module, args: tuple[Any, ...], fixes: Sequence[Fix]) -> None:
    """Applies the fixes to the real model, one after the other, and calls it."""
    subject = applied([change for fix in fixes for change in fix.changes], Subject("model", model, args, {}))
    subject.model(*subject.args)


def test_three_independent_faults_are_repaired_together() -> None:
    """The first fixes of all three make the real model run; each finding has its own."""
    x = torch.randn(2, 3, 16, 16)
    found = mended(ThreeFaults(), x)
    assert [verified(finding)[0].text for finding in found] == ["nn.Conv2d(3, 8, 3, padding=1)", "nn.Linear(8, 5)", "nn.Linear(5, 2)"]
    run_for_real(ThreeFaults(), (x,), [verified(finding)[0] for finding in found])


def test_a_further_fix_is_verified_only_beside_the_first_ones_of_the_others() -> None:
    """Every fix with a tick runs for real in the place of its finding's first one."""
    x = torch.randn(2, 3, 16, 16)
    found = mended(ThreeFaults(), x)
    firsts = [verified(finding)[0] for finding in found]
    for at, finding in enumerate(found):
        for fix in verified(finding):
            if not any("call" in change for change in fix.changes):
                run_for_real(ThreeFaults(), (x,), [*firsts[:at], fix, *firsts[at + 1 :]])


def test_a_fix_that_runs_alone_but_not_beside_the_others_has_no_tick() -> None:
    """in_features=512 repairs fc as it was met, but not behind a norm of 16 channels: the fix is made for what norm's leaves."""
    norm, fc = mended(Widened(), torch.randn(2, 16, 8, 8))
    assert verified(norm)[0].text == "nn.BatchNorm2d(16)"
    assert verified(fc)[0].text == "nn.Linear(1024, 10)"
    assert "nn.Linear(512, 10)" not in [fix.text for fix in verified(fc)]


def test_a_fix_that_uncovers_another_fault_brings_its_repair_along() -> None:
    """Two changes that only run together are one fix."""
    (finding,) = mended(Swallowed(), torch.randn(5, 1, 6, 6))
    first = verified(finding)[0]
    assert first.text == "view(-1, 144) and nn.Linear(144, 3)" and len(first.changes) == 2


def test_nothing_is_verified_where_one_fault_has_no_fix() -> None:
    """What repairs one of two faults doesn't make the model run; it is told without a tick."""
    found = mended(Unmendable(), torch.randn(4, 6), torch.randn(2, 5))
    assert len(found) == 2
    assert not any(verified(finding) for finding in found)
    assert [fix.text for fix in found[0].fixes][:1] == ["nn.Linear(6, 3)"]


def test_equal_faults_at_many_places_are_repaired_by_one_fix() -> None:
    """Twelve equal layers with the same mistake: one finding, one fix that changes all of them."""

    def built() -> nn.Module:
        return nn.Sequential(*(nn.Sequential(nn.Linear(8, 16), nn.Linear(12, 8)) for _ in range(12)))

    (finding,) = mended(built(), torch.randn(3, 8))
    first = verified(finding)[0]
    assert {change["module"] for change in first.changes} == {f"{place}.1" for place in range(12)}
    assert first.text == "nn.Linear(16, 8), and the same in 11 more places"
    run_for_real(built(), (torch.randn(3, 8),), [first])


def test_findings_that_follow_from_another_keep_pointing_to_it() -> None:
    """caused_by is one of the findings that come back, also when that one was made anew with its fixes."""
    examination = examined(ThreeFaults(), torch.randn(2, 3, 16, 16))
    first, second, *rest = findings(examination.trace)
    second = replace(second, caused_by=first)
    back = repaired((first, second, *rest), examination)
    assert back[1].caused_by is back[0] and back[0].fixes and not back[1].fixes


def test_what_goes_away_with_the_fix_of_an_earlier_fault_follows_from_it() -> None:
    """The width behind a call whose output was guessed is no fault of its own once the call's right form makes it fit."""
    first, *others = mended(Packed(), torch.randn(3, 11, 24))
    assert verified(first)[0].text == "permute(2, 0, 3, 1, 4)"
    assert all(finding.caused_by is first and not finding.fixes for finding in others)


def test_the_call_that_took_the_batch_from_its_place_is_mended_first() -> None:
    """Declaring fc for the batch's size would run, too, and mix the samples: it stands below, or is left out."""
    (finding,) = mended(Turned(), torch.randn(5, 6, 9))
    texts = [fix.text for fix in verified(finding)]
    assert texts[0] == "transpose(1, 2)"
    assert "nn.Linear(5, 2)" in texts[1:]


def test_a_side_of_a_map_is_not_taken_for_its_channels() -> None:
    """A map of 7×7 in front of a layer of 7 channels: turning it would run."""
    (finding,) = mended(nn.Sequential(nn.Conv2d(3, 8, 3), nn.Conv2d(7, 3, 3)), torch.randn(2, 3, 9, 9))
    assert [fix.text for fix in verified(finding)] == ["nn.Conv2d(8, 3, 3)", "model[0] = nn.Conv2d(3, 7, 3)"]


def test_a_parametrized_layer_gets_a_suggestion_beside_what_was_verified() -> None:
    """Made anew it would lack its parametrization: its own width is told without a tick."""
    layer = nn.utils.parametrizations.weight_norm(nn.Linear(7, 3))
    (finding,) = mended(nn.Sequential(nn.Linear(4, 8), layer), torch.randn(2, 4))
    assert [fix.text for fix in verified(finding)] == ["model[0] = nn.Linear(4, 7)"]
    told = [fix.text for fix in finding.fixes if not fix.verified]
    assert told == ["model[1] = nn.Linear(8, 3) with its parametrization registered again"]


def test_a_try_ends_at_the_first_failure_that_isnt_allowed() -> None:
    """What comes behind it isn't run; where it is allowed, the run goes on to the next one."""
    examination = examined(ThreeFaults(), torch.randn(2, 3, 16, 16))
    assert examination.retry is not None
    first, second, _ = sites(examination.trace)
    ended = [examination.retry([], frozenset(allowed)) for allowed in ((), (first,), (first, second))]
    assert [len(trace.failures) for trace in ended if trace] == [1, 2, 3]
    assert [bool(trace.outputs) for trace in ended if trace] == [False, False, False]
    whole = examination.retry([], frozenset(sites(examination.trace)))
    assert whole is not None and whole.outputs and len(whole.failures) == 3


def test_three_faults_cost_few_runs() -> None:
    """The first candidate of each is right: a handful of runs, the whole combination included."""
    examination = examined(ThreeFaults(), torch.randn(2, 3, 16, 16))
    retry, passes = examination.retry, []
    assert retry is not None

    def counted(changes: Sequence[Change], allowed: frozenset[Site] | None = None) -> Trace | None:
        passes.append(changes)
        return retry(changes, allowed)

    found = repaired(findings(examination.trace), replace(examination, retry=counted))
    assert all(verified(finding) for finding in found) and len(passes) <= 20


def test_the_budget_is_kept() -> None:
    """No more re-runs than allowed; without any, nothing is verified and nothing raises."""
    examination = examined(ThreeFaults(), torch.randn(2, 3, 16, 16))
    retry, passes = examination.retry, []
    assert retry is not None

    def counted(changes: Sequence[Change], allowed: frozenset[Site] | None = None) -> Trace | None:
        passes.append(changes)
        return retry(changes, allowed)

    told = findings(examination.trace)
    repaired(told, replace(examination, retry=counted), Budget(passes=5))
    assert len(passes) <= 5
    assert not any(verified(finding) for finding in repaired(told, examination, Budget(seconds=0.0)))


def test_trouble_in_trying_never_comes_out() -> None:
    """A twin that breaks costs the fixes, not the diagnosis."""
    examination = examined(ThreeFaults(), torch.randn(2, 3, 16, 16))

    def breaks(changes: Sequence[Change], allowed: frozenset[Site] | None = None) -> Trace | None:
        raise MemoryError("no room for a twin")

    told = findings(examination.trace)
    assert repaired(told, replace(examination, retry=breaks)) == told


def test_a_real_run_has_no_twin_and_gets_suggestions_only() -> None:
    """Without anything to ask, fixes are offered but none has a tick."""
    model, x = ThreeFaults(), torch.randn(2, 3, 16, 16)
    (finding, *_) = shapes.capture(model, x, execution="real").findings
    assert finding.fixes and not verified(finding) and len(finding.fixes) <= 2


def test_a_call_is_counted_as_whoever_applies_the_fix_will_count_it() -> None:
    """A plain function has no modules of its own: calls inside a module that it uses count among its calls."""
    inner = nn.Sequential(nn.Flatten(1), nn.Unflatten(1, (2, 3)))

    def step(x: torch.Tensor) -> torch.Tensor:
        return inner(x).flatten(1) @ torch.ones(2, 3).cumsum(0)

    examination = examined(step, torch.randn(4, 6))
    (finding,) = repaired(findings(examination.trace), examination)
    assert examination.retry is not None
    second = {"call": "flatten", "module": "", "index": 1, "arguments": [0, 1]}
    answer = examination.retry([second])
    assert answer is not None and [op for op in answer.ops if op.name.endswith(".flatten")][1].arguments[1:] == (
        ("start_dim", "0"),
        ("end_dim", "1"),
    )
    assert examination.retry([{**second, "module": "inner"}]) is None
    assert finding.kind == "matmul_dims"


@pytest.mark.parametrize("verify_fixes", [True, False])
def test_the_option_of_capture_decides(verify_fixes: bool) -> None:
    """verify_fixes=False costs no re-run and gives no fixes; the model is as it was in both."""
    model, x = ThreeFaults(), torch.randn(2, 3, 16, 16)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    cap = shapes.capture(model, x, verify_fixes=verify_fixes)
    assert all(bool(finding.fixes) is verify_fixes for finding in cap.findings)
    assert str(model) == str(ThreeFaults())
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_layers_that_a_function_is_given_are_changed_by_their_argument() -> None:
    """A step that gets model and loss as arguments: each of their layers is rebuilt, or gets a step before it, on a copy."""

    def step(model: nn.Module, criterion: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = criterion(model(x), y)
        return out

    model = nn.Sequential(nn.Linear(5, 3), nn.Linear(3, 1))
    x, y = torch.randn(4, 6), torch.zeros(4)
    cap = shapes.capture(step, (model,), {"criterion": nn.BCEWithLogitsLoss(), "x": x, "y": y})
    width, target = cap.findings
    assert {"module": "model.0", "arg": "in_features", "value": 6} in [change for fix in verified(width) for change in fix.changes]
    assert ({"insert": "squeeze", "before": "criterion", "dim": 1},) in [fix.changes for fix in verified(target)]
    assert str(model[0]) == str(nn.Linear(5, 3)) and not model[0]._forward_pre_hooks


def test_a_layer_that_is_itself_an_argument_is_replaced_wherever_the_function_holds_it() -> None:
    """The function's argument is the very layer that doesn't fit, given twice."""

    def step(first: nn.Module, again: nn.Module, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([first(x), again(x)])

    layer = nn.Linear(5, 3)
    (finding, *others) = shapes.capture(step, (layer, layer, torch.randn(4, 6))).findings
    assert finding.kind == "linear_in_features" and not [other for other in others if other.caused_by is None]
    assert ({"module": "first", "arg": "in_features", "value": 6},) in [fix.changes for fix in verified(finding)]


class Guessed(nn.Module):
    """x[16,1,28,28] ─ conv ─ conv ─ pool [16,64,12,12] ─ view(-1, 3136) ✗ ─ fc: 7×7 was guessed, 12×12 it is."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.fc = nn.Conv2d(1, 32, 3), nn.Conv2d(32, 64, 3), nn.Linear(3136, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = nn.functional.max_pool2d(self.second(self.first(x)), 2)
        out: torch.Tensor = self.fc(x.view(-1, 3136))
        return out


def test_a_change_that_mixes_samples_is_no_fix() -> None:
    """With 49 channels the elements can be divided, into 36 rows of 16 pictures: it runs, and is not told."""
    (finding,) = shapes.capture(Guessed(), torch.randn(16, 1, 28, 28)).findings
    assert [fix.text for fix in verified(finding)] == ["view(-1, 9216) and nn.Linear(9216, 10)"]


def test_modules_are_called_in_fixes_as_people_write_them() -> None:
    """A child of a Sequential by its index, the model itself by a name."""
    norm = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3))
    (single,) = shapes.capture(norm, torch.randn(1, 4)).findings
    assert [fix.text for fix in verified(single)] == ["model[1].eval()"]
    (double,) = shapes.capture(nn.Linear(4, 3), torch.randn(2, 4, dtype=torch.float64)).findings
    assert ("model.to(torch.float64)", "model computes in float64") in [(fix.text, fix.cost) for fix in double.fixes]
