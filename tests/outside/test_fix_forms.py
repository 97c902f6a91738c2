"""The form of a fix means outside what it means here: each verified one is applied for real by the program beside the checkout."""

import importlib.util
import os
from types import ModuleType

import pytest

from tb_shapeplugin.analyse.findings import findings
from tb_shapeplugin.api.repairing import repaired
from tests.fixes.forms import Form
from tests.fixes.test_forms import NAMED
from tests.fixes.test_kinds import examined
from tests.outside.test_cases import BESIDE

pytestmark = pytest.mark.outside


@pytest.fixture(scope="module")
def changes() -> ModuleType:
    """The program that applies fixes, known to nobody in the checkout."""
    program = BESIDE / "changes.py"
    if not program.is_file():
        if os.environ.get("CI"):
            pytest.fail(f"{program} is missing: in CI it must be there")
        pytest.skip(f"{program} is missing")
    spec = importlib.util.spec_from_file_location("changes_beside", program)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("form", NAMED)
def test_each_verified_fix_makes_the_real_model_run(changes: ModuleType, form: Form) -> None:
    """Applied to a fresh model, which is then called with real tensors."""
    examination = examined(form.repairs())
    (finding,) = repaired(findings(examination.trace), examination)
    fixes = [fix for fix in finding.fixes if fix.verified]
    assert fixes
    for fix in fixes:
        model, args = form.repairs()
        changed, args, kwargs = changes.apply(list(fix.changes), model, args, {})
        changed(*args, **kwargs)
