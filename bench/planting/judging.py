"""Judges what is said about planted faults: found, repaired, and what was said that explains none of them."""

import contextlib
import importlib.util
import io
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import tb_shapeplugin as shapes
from planting.drawing import Plant, Planted, fresh, with_faults
from planting.inputs import Built
from planting.layers import Side
from planting.statements import Statement
from tb_shapeplugin.record.finding import Finding, Fix, Place
from tb_shapeplugin.tracing import execution


def _meaning_of_changes() -> ModuleType | None:
    """How others understand the changes of a fix: a module beside the checkout, where there is one."""
    path = Path(__file__).parents[3] / "shared" / "changes.py"
    spec = importlib.util.spec_from_file_location("changes", path) if path.exists() else None
    if spec is None or spec.loader is None:
        return None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_CHANGES = _meaning_of_changes()


@dataclass
class Verdict:
    """What is known of one plant."""

    plant: Plant
    found: list[bool] = field(default_factory=list)  # of each fault
    fixed: list[bool] = field(default_factory=list)
    repeated: int = 0  # further findings for a fault that is told already
    spurious: list[Finding] = field(default_factory=list)
    errors: list[Finding] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    applied: int = 0
    runs: int = 0
    seconds: float = 0.0
    raised: str = ""  # by the capture itself
    unchecked: tuple[str, ...] = ()  # what it says that it lacks


@contextlib.contextmanager
def counted_runs() -> Iterator[list[int]]:
    """While it lasts, counts the shape-level runs."""
    count = [0]
    plain = execution._Asked.run

    def run(asked: Any, *args: Any, **kwargs: Any) -> Any:
        count[0] += 1
        return plain(asked, *args, **kwargs)

    with mock.patch.object(execution._Asked, "run", run):
        yield count


def diagnosed(made: Built) -> tuple[shapes.Capture, int, float]:
    """The capture of a model, the shape-level runs that it took, and its CPU seconds.

    Budgets of seconds are counted in CPU seconds, too: what else the machine does is not to decide on what is found.
    """
    stray = io.StringIO()
    with contextlib.ExitStack() as stack:
        runs = stack.enter_context(counted_runs())
        stack.enter_context(mock.patch.object(time, "monotonic", time.process_time))
        stack.enter_context(warnings.catch_warnings())
        stack.enter_context(contextlib.redirect_stdout(stray))
        stack.enter_context(contextlib.redirect_stderr(stray))
        warnings.simplefilter("ignore")
        start = time.process_time()
        capture = shapes.capture(*made)
        return capture, runs[0], time.process_time() - start


def judged(plant: Plant) -> Verdict:
    """The plant captured, each of its faults looked for among the findings, each verified fix applied for real."""
    verdict = Verdict(plant)
    faults = [planted.fault for planted in plant.faults]
    with with_faults(plant.subject, faults) as made:
        try:
            capture, verdict.runs, verdict.seconds = diagnosed(made)
        except Exception as error:
            verdict.raised = f"{type(error).__name__}: {error}"
            verdict.found = verdict.fixed = [False] * len(faults)
            return verdict
        verdict.unchecked = capture.unchecked
        verdict.errors = [finding for finding in capture.findings if finding.severity == "error" and finding.caused_by is None]
        for planted in plant.faults:
            telling = [finding for finding in verdict.errors if explains(finding, planted)]
            verdict.found.append(bool(telling))
            verdict.fixed.append(any(fix.verified for finding in telling for fix in finding.fixes))
        verdict.spurious = [f for f in verdict.errors if not any(explains(f, planted) for planted in plant.faults)]
        verdict.repeated = max(0, len(verdict.errors) - len(verdict.spurious) - sum(verdict.found))
        for chosen in combinations(verdict.errors):
            outcome = applied_for_real(chosen, fresh(plant.subject, faults))
            verdict.applied += outcome is not None
            verdict.broken += [outcome] if outcome else []
    return verdict


def explains(finding: Finding, planted: Planted) -> bool:
    """Does the finding stand where plain PyTorch raises, at what was planted, or name it as the origin or in a fix?"""
    fault, truth = planted.fault, planted.truth
    places: Sequence[Finding | Place] = (finding, *finding.places)
    if any(_at(place, truth.modules, truth.file, 0 if truth.is_layer else truth.line) for place in places):
        return True
    if isinstance(fault, Side):
        standing = any(place.module == fault.module for place in places)
        return standing or (fault.kind == "output side" and _names(finding, fault.module))
    if isinstance(fault, Statement):
        return any(_at(place, fault.modules, Path(fault.file).name, fault.line) for place in places)
    return _blames_input(finding)


def _at(place: Finding | Place, modules: Sequence[str], file: str, line: int) -> bool:
    """Does it stand in one of these modules, at that line? Where no line is known, the module is enough."""
    return place.module in modules and (not line or not place.line or (Path(place.file).name, place.line) == (file, line))


def _names(finding: Finding, module: str) -> bool:
    told = " ".join((*finding.readings, *(fix.text for fix in finding.fixes)))
    changed = {change.get("module") for fix in finding.fixes for change in fix.changes}
    return (finding.origin is not None and finding.origin.module == module) or module in changed or f" {module} " in f" {told} "


def _blames_input(finding: Finding) -> bool:
    changed = {change["input"] for fix in finding.fixes for change in fix.changes if "input" in change}
    return bool(changed) or (finding.origin is not None and finding.origin.op.startswith("input "))


def combinations(errors: Sequence[Finding]) -> Iterator[tuple[Fix, ...]]:
    """Each verified fix with the first verified one of every other finding, where each has one."""
    firsts = [next((fix for fix in finding.fixes if fix.verified), None) for finding in errors]
    for at, finding in enumerate(errors):
        for fix in (fix for fix in finding.fixes if fix.verified):
            chosen = [fix if at == other else first for other, first in enumerate(firsts)]
            complete = tuple(fix for fix in chosen if fix is not None)
            if len(complete) == len(chosen):
                yield complete


def applied_for_real(chosen: Sequence[Fix], made: Built) -> str | None:
    """What goes wrong when the fixes are applied to a fresh model that is then run: "" is nothing, None where nobody can apply them."""
    if _CHANGES is None:
        return None
    try:
        model, args, kwargs = _CHANGES.apply([change for fix in chosen for change in fix.changes], *made)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model(*args, **kwargs)
    except Exception as error:
        return f"{' | '.join(fix.text for fix in chosen)}: {type(error).__name__}: {str(error)[:100]}"
    return ""
