"""A model's inputs, each run and diagnosed, cut and united as asked: the record. What our own faults cost is said in it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from tb_shapeplugin.analyse.findings import findings
from tb_shapeplugin.analyse.ledger import record_of
from tb_shapeplugin.analyse.part import part
from tb_shapeplugin.analyse.union import union
from tb_shapeplugin.api.repairing import repaired
from tb_shapeplugin.record.finding import Finding
from tb_shapeplugin.record.record import Record
from tb_shapeplugin.record.trace import Trace, nothing_known
from tb_shapeplugin.tracing.collection import paused_collection
from tb_shapeplugin.tracing.execution import Examination, Options, examine
from tb_shapeplugin.tracing.modules import known_path
from tb_shapeplugin.tracing.passes.branches import Watch
from tb_shapeplugin.tracing.subject import Subject

# Positional and keyword arguments.
Given: TypeAlias = tuple[tuple[Any, ...], dict[str, Any]]
Findings: TypeAlias = tuple[Finding, ...]


@dataclass(frozen=True)
class Question:
    """What is asked about a model."""

    name: str
    options: Options
    verify_fixes: bool
    branches: bool  # those that never ran
    united: bool  # are there cases, or is the one input all?


def examined(model: Callable[..., Any], inputs: Mapping[str, Given], question: Question) -> Record:
    """The record of what the model does with each input, and of what is wrong.

    A fault of ours is noted in ``question.options.faults`` and under ``unchecked``; the record lacks what it says there.

    Raises:
        ShapesError: as ``tracing.execution.examine``, and for a part that the model doesn't have.
    """
    watch = Watch() if question.branches else None
    only = question.options.part
    options = replace(question.options, watch=watch, part=None if only is None else known_path(model, only))
    faults = options.faults
    runs = {case: _run(Subject(question.name, model, *given), options, question) for case, given in inputs.items()}
    first = next(iter(runs.values()))
    trace, found = faults.guarded("all cases but the first", lambda: union(runs), first) if question.united else first
    if watch is not None:
        branches = faults.guarded("branches that never ran", lambda: watch.branches(trace.modules), None)
        trace = replace(trace, branches=branches, unchecked=(*trace.unchecked, *watch.unchecked()))
    trace = replace(trace, unchecked=(*trace.unchecked, *faults.texts()))
    with paused_collection():
        record = faults.guarded("the record", lambda: record_of(trace, found), None)
    return record_of(nothing_known(question.name, faults.texts())) if record is None else record


def _run(subject: Subject, options: Options, question: Question) -> tuple[Trace, Findings]:
    faults = options.faults
    unseen = Examination(nothing_known(subject.name, ()), None)
    examination = faults.guarded("the whole run", lambda: examine(subject, options), unseen)
    trace = examination.trace
    no_findings: Findings = ()
    found = faults.guarded("what is wrong", lambda: findings(trace), no_findings)
    if question.verify_fixes:
        found = faults.guarded("fixes", lambda: repaired(found, examination), found)
    path = options.part
    if path is None:
        return trace, found
    return faults.guarded(f"the cut to {path}", lambda: part(trace, found, path), (trace, found))
