"""Fixes come in every form of a change, where the form is what repairs the model and nowhere else."""

import pytest

from tb_shapeplugin.analyse.findings import findings
from tb_shapeplugin.api.repairing import repaired
from tb_shapeplugin.record.finding import Fix
from tests.fixes.broken import Built
from tests.fixes.forms import FORMS, Form
from tests.fixes.test_kinds import examined

NAMED = [pytest.param(form, id=" ".join(f"{key}={value}" if value else key for key, value in form.holds.items())) for form in FORMS]


def verified(built: Built) -> list[Fix]:
    """All fixes with a tick, of all findings."""
    examination = examined(built)
    return [fix for finding in repaired(findings(examination.trace), examination) for fix in finding.fixes if fix.verified]


@pytest.mark.parametrize("form", NAMED)
def test_a_form_repairs_what_it_is_for(form: Form) -> None:
    """One of the verified fixes is of that form."""
    fixes = verified(form.repairs())
    assert any(form.is_form_of(change) for fix in fixes for change in fix.changes), [fix.text for fix in fixes]


@pytest.mark.parametrize("form", NAMED)
def test_a_form_is_not_offered_where_it_has_no_business(form: Form) -> None:
    """A model of another fault is repaired, if at all, in other ways."""
    assert not any(form.is_form_of(change) for fix in verified(form.refuses()) for change in fix.changes)
