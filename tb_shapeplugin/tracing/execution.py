"""Which run answers: on a fake twin, or for real where values are needed; the user's model and process are left as found."""

import contextlib
import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol, TypeAlias

from torch import nn

from tb_shapeplugin.base.errors import ShapesError
from tb_shapeplugin.base.faults import Faults
from tb_shapeplugin.record.memory import MemoryFacts, WhatIfFacts
from tb_shapeplugin.record.site import Site
from tb_shapeplugin.record.trace import Trace
from tb_shapeplugin.tracing.alteration import Alteration, Altogether
from tb_shapeplugin.tracing.changes import CannotApply, Change, ChangedCalls, applied
from tb_shapeplugin.tracing.checks import Checks
from tb_shapeplugin.tracing.collection import paused_collection, young_collection
from tb_shapeplugin.tracing.compat import is_compiled, is_lazy, is_value_read, unwrapped
from tb_shapeplugin.tracing.copying import CannotCopy, lazy_buffers
from tb_shapeplugin.tracing.going_on import Recovery
from tb_shapeplugin.tracing.hidden_fakes import hidden_fakes, quiet_fakes
from tb_shapeplugin.tracing.input_sizes import named_inputs
from tb_shapeplugin.tracing.inputs import holds_spec
from tb_shapeplugin.tracing.other_trainings import OtherTraining, other_trainings
from tb_shapeplugin.tracing.passes.branches import Watch
from tb_shapeplugin.tracing.passes.memory import Training, memory, nothing_told
from tb_shapeplugin.tracing.passes.readings import diagnose
from tb_shapeplugin.tracing.passes.recover import GoOn, Reading
from tb_shapeplugin.tracing.passes.what_if import what_if
from tb_shapeplugin.tracing.passes.within import Within
from tb_shapeplugin.tracing.plain_state import Photograph
from tb_shapeplugin.tracing.read_value import ReadValue
from tb_shapeplugin.tracing.restore import ContentKeeper, ProcessPhotograph, surely
from tb_shapeplugin.tracing.source import SourceMode, display_path, innermost_user_frame
from tb_shapeplugin.tracing.subject import Subject, without_partials
from tb_shapeplugin.tracing.trace import Run
from tb_shapeplugin.tracing.twin import Twin, make_twin
from tb_shapeplugin.tracing.values import FunctionsOnDemand, LiftedStrays, ValuesOnDemand

ExecutionOption: TypeAlias = Literal["auto", "fake", "real"]

# What a run that reads no values lets through.
UNCHECKED_WITHOUT_VALUES = ("values of indices, labels, masks and lengths", "dtypes and devices that real kernels refuse")
_NAMED_PLACES = 3  # of assumed values, in one line of what is unchecked


@dataclass(frozen=True)
class Options:
    """How a subject is run."""

    execution: ExecutionOption = "auto"
    continue_past_errors: bool = True
    source: SourceMode = "line"
    part: str | None = None  # path of the module that is of interest: the trace tells its inputs and outputs
    watch: Watch | None = None  # of the branches that run
    faults: Faults = field(default_factory=Faults)  # takes up our own
    never_real: bool = False  # the shape level alone, with values of what it asks for: after a crash nothing is run as it was
    memory: bool = False  # a pass that tells what is alive when
    training: Training | None = None  # what makes a training step of the forward, for that pass
    what_if: bool = False  # that pass again, at other sizes and for other ways to train
    seconds: float = 10.0  # that choosing among readings of a failure may take


class Retry(Protocol):
    """Runs the twin once more with some things changed; None where the changes can't be applied."""

    def __call__(self, changes: Sequence[Change], allowed: frozenset[Site] | None = None) -> Trace | None:
        """The run, ended at the first failure that isn't at one of the allowed sites; all are allowed where none are given."""


@dataclass(frozen=True)
class Examination:
    """What a run left behind, and the way to ask "what if": None where it ran for real and no twin can be asked."""

    trace: Trace
    retry: Retry | None
    read: Sequence[ReadValue] = ()  # the values that the run read
    twin: Twin | None = None  # the one that can be asked


def examine(subject: Subject, options: Options) -> Examination:
    """One run of the subject, diagnosed where it fails.

    Raises:
        ShapesError: a Spec where values are needed, or ``execution="fake"`` of a model that can't be copied.
    """
    subject = without_partials(subject)
    subject = replace(subject, model=unwrapped(subject.model), compiled=is_compiled(subject.model))
    with contextlib.ExitStack() as stack:
        stack.callback(surely, ProcessPhotograph().put_back)
        return _with_memory(_examined(subject, options), subject, options)


def _examined(subject: Subject, options: Options) -> Examination:
    if options.execution == "real":
        return _real(subject, options)
    try:
        return _shape_level(subject, options)
    except ShapesError:
        raise
    except Exception as fault:
        if options.execution == "fake" or options.never_real or holds_spec((subject.args, subject.kwargs)):
            raise
        options.faults.note("the shape-level run", fault)
        return _real(subject, options)


def _real(subject: Subject, options: Options, why: tuple[str, ...] = ()) -> Examination:
    if holds_spec((subject.args, subject.kwargs)):
        reason = why[0] if why else 'execution="real" needs values'
        raise ShapesError(f"{reason}, which a spec doesn't have. Give a real tensor in its place.")
    with young_collection(), contextlib.ExitStack() as stack:
        with paused_collection():
            subject, photograph = _photographed(subject)
            keeper = ContentKeeper(photograph.modules, photograph.tensors)
            stack.callback(surely, keeper.put_back)
            stack.callback(surely, photograph.put_back)
            run = Run(
                subject,
                options.source,
                before_op=keeper.before_op,
                part=options.part,
                faults=options.faults,
                alone=options.execution != "real",
            )
        run.run(outer=_watching(options.watch, run))
        with paused_collection():
            return Examination(run.trace("real", why), None)


def _photographed(subject: Subject) -> tuple[Subject, Photograph]:
    """The subject, or a copy of one whose lazy layers a real run would materialise, and its photograph."""
    photograph = Photograph(subject.model, subject.args, subject.kwargs)
    held = (tensors.values() for module in photograph.modules for tensors in (module._parameters, module._buffers))
    if not any(tensor is not None and is_lazy(tensor) for tensors in held for tensor in tensors):
        return subject, photograph
    model, args, kwargs = copy.deepcopy((subject.model, subject.args, subject.kwargs), lazy_buffers(photograph.tensors))
    return replace(subject, model=model, args=args, kwargs=kwargs), Photograph(model, args, kwargs)


def _shape_level(subject: Subject, options: Options) -> Examination:
    may_be_real = options.execution == "auto" and not options.never_real and not holds_spec((subject.args, subject.kwargs))
    try:
        with paused_collection():
            twin = _twin(subject, options)
    except CannotCopy as error:
        if not may_be_real:
            raise ShapesError(f"a shape-level run needs a copy of the model, which it resists ({error}). Use real tensors.") from error
        return _real(subject, options, (f"the model can't be copied ({error}), so it ran for real",))
    may_be_real = may_be_real and not any(real.is_meta for _, real in twin.roots)
    asked = _Asked(subject, twin, options, may_be_real)
    with paused_collection():
        trace = asked.diagnosed() if options.continue_past_errors else asked.run(GoOn(go_on=False))
        if options.watch is not None and not asked.value_read:
            asked.run(GoOn(asked.reading, options.continue_past_errors), watch=options.watch)
    if asked.value_read and may_be_real and not trace.failures:
        return _real(subject, options, (f"forward reads a value at {asked.value_read}, so it ran for real",))
    return Examination(trace, asked.retry, asked.read, twin)


def _with_memory(examination: Examination, subject: Subject, options: Options) -> Examination:
    """The same with what memory the run takes, where it was asked for and the run went through."""
    if not options.memory or not examination.trace.completed:
        return examination
    facts = options.faults.guarded("what memory it takes", lambda: _memory(subject, options, examination), None)
    others = None
    if options.what_if and facts is not None and facts.iterations:
        others = options.faults.guarded("what memory it would take", lambda: _what_if(subject, options, examination), None)
    return replace(examination, trace=replace(examination.trace, memory=facts, what_if=others))


def _twin(subject: Subject, options: Options) -> Twin:
    return make_twin(subject.model, subject.args, subject.kwargs, options.training.optimizer if options.training is not None else None)


def _memory(subject: Subject, options: Options, examination: Examination) -> MemoryFacts:
    """Of the twin, or of one made for it. What it reaches of the user's own is put back."""
    with young_collection(), contextlib.ExitStack() as stack:
        try:
            known = examination.twin
            twin = known if known is not None and not known.had_lazy else _twin(subject, options)
        except CannotCopy as error:
            return nothing_told(f"the model can't be copied ({error})")
        stack.callback(surely, Photograph(twin.model, twin.args, twin.kwargs, twin.copies).put_back)
        return memory(twin, options.training, examination.read, options.faults)


def _what_if(subject: Subject, options: Options, examination: Examination) -> WhatIfFacts:
    def rerun(alterations: Sequence[Alteration], other: OtherTraining | None) -> MemoryFacts:
        lost = nothing_told("a fault of Shapes, of which it has warned")
        return options.faults.guarded("what memory it would take", lambda: told(alterations, other), lost)

    def told(alterations: Sequence[Alteration], other: OtherTraining | None) -> MemoryFacts:
        own = [other.alteration] if other is not None and other.alteration is not None else []
        alteration = Altogether([*alterations, *own])
        training = options.training if other is None else other.training
        optimizer = training.optimizer if training is not None else None
        with young_collection(), contextlib.ExitStack() as stack:
            try:
                with paused_collection():
                    twin = make_twin(subject.model, subject.args, subject.kwargs, optimizer, alteration)
            except CannotCopy as error:
                return nothing_told(f"the model can't be copied ({error})")
            stack.callback(surely, Photograph(twin.model, twin.args, twin.kwargs, twin.copies).put_back)
            if other is not None:
                other.prepare(twin)
                stack.enter_context(other.around())
            return memory(twin, training, examination.read, options.faults, alteration)

    return what_if(named_inputs(subject), list(other_trainings(subject.model, options.training)), rerun)


class _Asked:
    """The twin, asked again and again; each time as it was at first."""

    def __init__(self, subject: Subject, twin: Twin, options: Options, may_be_real: bool) -> None:
        self._subject = replace(subject, model=twin.model, args=twin.args, kwargs=twin.kwargs)
        self._twin = twin
        self._options = options
        self._may_be_real = may_be_real
        self.value_read = ""  # file:line of the read at which the last run ended
        self.reading = Reading()  # the one that the diagnosis chose
        self.read: list[ReadValue] = []  # what the last run read

    def diagnosed(self) -> Trace:
        """The run in the reading with the fewest causes, in which it is asked from here on."""
        diagnosis = diagnose(self.run, seconds=self._options.seconds)
        self.reading = diagnosis.reading
        return diagnosis.trace

    def retry(self, changes: Sequence[Change], allowed: frozenset[Site] | None = None) -> Trace | None:
        going = GoOn(self.reading)
        with contextlib.ExitStack() as stack:
            stack.callback(surely, ProcessPhotograph().put_back)
            try:
                return self.run(going if allowed is None else Within(going, allowed), changes)
            except CannotApply:
                return None

    def run(self, recovery: Recovery, changes: Sequence[Change] = (), watch: Watch | None = None) -> Trace:
        twin = self._twin
        photograph = Photograph(twin.model, twin.args, twin.kwargs, twin.copies)  # closures of hooks are the user's own
        checks = (
            Checks(ValuesOnDemand(self._twin.mode, self._twin.roots, self._options.faults)) if self._options.execution == "auto" else None
        )
        with contextlib.ExitStack() as stack:
            stack.callback(surely, photograph.put_back)
            run = self._run(recovery, changes, checks, watch)
        self.value_read = ""
        self.read = [] if checks is None else checks.values.known
        unchecked = UNCHECKED_WITHOUT_VALUES if checks is None else checks.unchecked()
        if run.error is not None and is_value_read(run.error):
            self.value_read = _where(run.error)
            unchecked = (*unchecked, f"everything after the value that forward reads at {self.value_read}")
            if not self._may_be_real:
                run.end_at_value_read()
        trace = run.trace("fake", unchecked)
        return replace(trace, unchecked=(*trace.unchecked, *_assumptions(trace)))

    def _run(self, recovery: Recovery, changes: Sequence[Change], checks: Checks | None, watch: Watch | None) -> Run:
        subject = self._subject
        if changes:
            on_demand = checks.values if checks else contextlib.nullcontext()
            with quiet_fakes(), self._twin.mode, on_demand:  # what is computed here may be read later
                subject = applied(changes, subject)
        run = Run(
            subject,
            self._options.source,
            recovery,
            checks=checks,
            stand_ins=self._twin.stand_ins,
            compiled_parts=self._twin.compiled_parts,
            part=self._options.part,
            faults=self._options.faults,
        )
        calls = ChangedCalls(changes, run.modules, flat=not isinstance(subject.model, nn.Module))
        values = (
            (LiftedStrays(self._twin.mode, self._options.faults),) if checks is None else (checks.values, FunctionsOnDemand(checks.values))
        )
        run.run(outer=(*_watching(watch, run), self._twin.mode, hidden_fakes(), *values), inner=(calls,) if changes else ())
        if not calls.all_came and run.error is None:
            raise CannotApply("a call that is to be changed never came")
        return run


def _watching(watch: Watch | None, run: Run) -> tuple[contextlib.AbstractContextManager[None], ...]:
    return () if watch is None else (watch.over(run.subject.model, run.modules.with_paths()),)


def _assumptions(trace: Trace) -> Iterator[str]:
    """What stands on values that nobody has."""
    sources = [trace.sources[value.source] for value in trace.values if value.origin == "assumed" and value.source >= 0]
    places = list(dict.fromkeys(f"{source.file}:{source.line}" for source in sources))
    if places:
        more = f" and {len(places) - _NAMED_PLACES} more" if len(places) > _NAMED_PLACES else ""
        yield f"what follows from values that nobody gave, zeros in their place: read at {', '.join(places[:_NAMED_PLACES])}{more}"


def _where(error: Exception) -> str:
    frame = innermost_user_frame(error.__traceback__)
    return f"{display_path(frame.f_code.co_filename)}:{frame.f_lineno}" if frame else "a place that torch doesn't tell"
