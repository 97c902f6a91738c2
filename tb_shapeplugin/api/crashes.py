"""A crash and its traceback → the record: the partial graph, what was wrong, and fixes, within a time."""

import contextlib
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, TypeVar

from tb_shapeplugin.analyse.findings import findings
from tb_shapeplugin.analyse.ledger import record_of
from tb_shapeplugin.analyse.mismatches.out_of_memory import runs_out
from tb_shapeplugin.api.repairing import Budget, repaired
from tb_shapeplugin.base.errors import ShapesError
from tb_shapeplugin.base.faults import Faults
from tb_shapeplugin.record.finding import Finding, Place
from tb_shapeplugin.record.record import Record
from tb_shapeplugin.record.trace import SourceFact, Trace
from tb_shapeplugin.tracing.bare_failure import bare_failure
from tb_shapeplugin.tracing.execution import Examination, Options, examine
from tb_shapeplugin.tracing.passes.memory import Training
from tb_shapeplugin.tracing.postmortem import Crash, Scene
from tb_shapeplugin.tracing.statements import forget_locals, stops_of

Told = TypeVar("Told", Finding, Place)

_FOR_READINGS = 0.5  # share of the time that is left, for choosing among readings; fixes get what then remains


def record_of_crash(error: Exception, model: Any, name: str, seconds: float, faults: Faults) -> Record | None:
    """What the frames of an exception say about it; None, and a note of the fault, where a fault of ours is in the way.

    The failing call is run again at the shape level on what its frames hold. Where that shows the failure, all that ``capture``
    finds is found; else the record tells what is known of the call. Nothing is run for real.

    Args:
        error: the exception, with its traceback.
        model: what the user watches.
        name: of the model in the tab.
        seconds: after so many no further re-run is begun.
        faults: takes up our own.

    Example:
        >>> record_of_crash(error, model, "model", 10.0, Faults()).findings[0].kind  # doctest: +SKIP
        'loss_target_shape'
    """
    deadline = time.monotonic() + seconds
    try:
        return faults.guarded("the diagnosis", lambda: _diagnosed(Crash(error, model, name), deadline, faults), None)
    finally:
        forget_locals(stops_of(error.__traceback__))


def _diagnosed(crash: Crash, deadline: float, faults: Faults) -> Record:
    graph: Trace | None = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the user's code has warned of them already
        for scene in crash.scenes():
            left = deadline - time.monotonic()
            if left <= 0:
                break
            options = Options(
                never_real=True,
                continue_past_errors=not crash.out_of_reach,
                seconds=left * _FOR_READINGS,
                faults=faults,
                memory=runs_out(type(crash.error).__name__, str(crash.error)),
                training=Training(),
            )
            with _modes_of(scene):
                examination = _examined(scene, options)
                if examination is not None and crash.shown_by(examination.trace):
                    return _told(examination, deadline, faults, crash)
            if graph is None and examination is not None and examination.trace.completed:
                graph = examination.trace
        return _told(Examination(bare_failure(crash, graph), None), deadline, faults, crash)


@contextlib.contextmanager
def _modes_of(scene: Scene) -> Iterator[None]:
    with contextlib.ExitStack() as modes:
        for context in scene.contexts:
            modes.enter_context(context)
        yield


def _examined(scene: Scene, options: Options) -> Examination | None:
    """The scene, run at the shape level; None where that can't be."""
    try:
        return options.faults.guarded("a re-run of the failing call", lambda: examine(scene.subject, options), None)
    except ShapesError:  # what can't be copied is not run at all
        return None


def _told(examination: Examination, deadline: float, faults: Faults, crash: Crash) -> Record:
    no_findings: tuple[Finding, ...] = ()
    found = faults.guarded("what is wrong", lambda: findings(examination.trace), no_findings)
    budget = Budget(seconds=max(0.0, deadline - time.monotonic()))
    tried = replace(examination, retry=None) if crash.out_of_reach else examination
    found = faults.guarded("fixes", lambda: repaired(found, tried, budget), found)
    if crash.out_of_reach:  # what remains are words: a change of the call itself would be one of torch's own code
        found = tuple(replace(finding, fixes=tuple(fix for fix in finding.fixes if not fix.changes)) for finding in found)
    return record_of(examination.trace, _placed(found, crash))


def _placed(found: tuple[Finding, ...], crash: Crash) -> tuple[Finding, ...]:
    """The findings, those of which no line is known at the user's innermost one: between a Sequential and its layers there is none."""
    statement = crash.statement()
    if statement is None:
        return found
    made: dict[int, Finding] = {}
    for finding in found:
        cause = made[id(finding.caused_by)] if finding.caused_by is not None else None
        places = tuple(place if place.file else _at(place, statement) for place in finding.places)
        made[id(finding)] = replace(finding if finding.file else _at(finding, statement), caused_by=cause, places=places)
    return tuple(made.values())


def _at(told: Told, statement: SourceFact) -> Told:
    return replace(told, file=statement.file, line=statement.line, code=statement.code)
