"""Models that fail as people's models do, judged from outside: kind, place, op, numbers, nothing else, and a fix that runs."""

import pytest

import tb_shapeplugin as shapes
from tb_shapeplugin.record.finding import Finding
from tests.analyse.broken import attention, layers, several, tensors, views
from tests.analyse.broken.row import Fault, Given, Row

ROWS: dict[str, Row] = {**layers.ROWS, **tensors.ROWS, **views.ROWS, **attention.ROWS, **several.ROWS}
SYMMETRIC = {"broadcast", "cat", "attn_layout", "matmul_dims", "loss_target_shape"}  # either side may be called the faulty one


def independent_errors(given: Given) -> list[Finding]:
    """The errors that follow from no other one."""
    model, args = given
    capture = shapes.capture(model, args)
    return [finding for finding in capture.findings if finding.severity == "error" and finding.caused_by is None]


def judge(finding: Finding, fault: Fault) -> None:
    """Is that fault told by that finding?"""
    assert (finding.kind, finding.module, finding.op) == (fault.kind, fault.module, fault.op), finding.message
    assert fault.line in finding.code, finding.code
    numbers = (dict(finding.got), dict(finding.want))
    expected = (dict(fault.got), dict(fault.want))
    assert numbers == expected or (fault.kind in SYMMETRIC and numbers == expected[::-1]), finding.message
    assert all(str(number) in finding.message for number in (*finding.got.values(), *finding.want.values()))
    assert "mat1" not in finding.message
    if fault.fixed:
        assert any(fix.verified for fix in finding.fixes), finding.fixes


@pytest.mark.parametrize("name", ROWS)
def test_each_fault_is_told_once_and_nothing_else(name: str) -> None:
    """One independent error for each fault, in the order in which they surface."""
    row = ROWS[name]
    found = independent_errors(row.model())
    assert len(found) == len(row.faults), [(finding.kind, finding.message) for finding in found]
    for finding, fault in zip(found, row.faults, strict=True):
        judge(finding, fault)


@pytest.mark.parametrize("name", ROWS)
def test_torchs_own_words_stay_verbatim(name: str) -> None:
    """What a plain run says at the first fault, not what shape-level kernels would."""
    model, args = ROWS[name].model()
    with pytest.raises(Exception) as raised:
        model(*args)
    model, args = ROWS[name].model()
    first = next(finding for finding in shapes.capture(model, args, verify_fixes=False).findings if finding.severity == "error")
    assert first.torch_message == str(raised.value)


@pytest.mark.parametrize("name", ROWS)
def test_a_near_twin_runs_or_fails_in_another_way(name: str) -> None:
    """What only looks alike is let alone."""
    row = ROWS[name]
    told = [(finding.kind, finding.message) for finding in independent_errors(row.twin())]
    assert [kind for kind, _ in told] == ([row.twin_kind] if row.twin_kind else []), told
