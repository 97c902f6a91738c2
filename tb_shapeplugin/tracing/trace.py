"""One run: set up the books and modes, run, take everything down again, write the Trace."""

import contextlib
import platform
import sys
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any

import torch
from torch import nn

from tb_shapeplugin.base.faults import Faults
from tb_shapeplugin.record.site import Site
from tb_shapeplugin.record.trace import Endpoint, Execution, Outcome, TensorFact, Trace
from tb_shapeplugin.record.values import OpCall
from tb_shapeplugin.tracing.arguments import leaves
from tb_shapeplugin.tracing.aten_recorder import AtenRecorder
from tb_shapeplugin.tracing.bookmarks import Book, Undo, bookmark
from tb_shapeplugin.tracing.checks import Checks
from tb_shapeplugin.tracing.collectives import Collectives
from tb_shapeplugin.tracing.compat import is_compiled, is_value_read, original_of, uncompiled_call
from tb_shapeplugin.tracing.compat_ranks import own_groups
from tb_shapeplugin.tracing.following import MODULE_CALLS, SCRIPT_CALLS, deeper_nests
from tb_shapeplugin.tracing.forwards import followed_forwards
from tb_shapeplugin.tracing.fused_paths import FusedPaths
from tb_shapeplugin.tracing.going_on import Again, GoneOn, MadeInside, RaisedModule, Recovery
from tb_shapeplugin.tracing.handlers import may_be_handled
from tb_shapeplugin.tracing.hidden_fakes import quiet_fakes
from tb_shapeplugin.tracing.inputs import bound_names, endpoints
from tb_shapeplugin.tracing.modules import ModuleBook
from tb_shapeplugin.tracing.opaque import Scripted
from tb_shapeplugin.tracing.pinned_sizes import PinnedCall
from tb_shapeplugin.tracing.python_failures import RAISE, python_failure
from tb_shapeplugin.tracing.recorder import Recorder
from tb_shapeplugin.tracing.source import SourceBook, SourceMode, error_text
from tb_shapeplugin.tracing.stack_room import with_room
from tb_shapeplugin.tracing.subject import Subject
from tb_shapeplugin.tracing.tensors import TensorBook
from tb_shapeplugin.tracing.uncompiled import uncompiled

BeforeOp = Callable[[Any, tuple[Any, ...], Mapping[str, Any]], None]


def _invoke(model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The bottom of every stack that is written down."""
    return model(*args, **kwargs)


BOTTOM = _invoke.__code__

_COMPILED = "what torch.compile would refuse: compiled modules ran as they were written"


@dataclass(frozen=True)
class _Opened:
    """A call that has begun."""

    call: int
    hides: Any  # what the record of fused paths wants back at the end
    is_part: bool  # is it the one whose arguments and result are told of?


@dataclass(frozen=True)
class _PythonFailure:
    """A failure outside torch functions, and the way to write it down."""

    site: Site
    call: OpCall
    by_raise: bool  # did the user's own raise or assert end it?
    write_down: Callable[..., None]


class Run:
    """One run of a subject, written down while it lasts."""

    def __init__(
        self,
        subject: Subject,
        source: SourceMode,
        recovery: Recovery | None = None,
        before_op: BeforeOp | None = None,
        checks: Checks | None = None,
        stand_ins: Mapping[int, nn.Module] | None = None,
        part: str | None = None,
        faults: Faults | None = None,
        alone: bool = True,
        compiled_parts: Container[int] = (),
    ) -> None:
        self.subject = subject
        self._stand_ins = stand_ins or {}  # id of a module that may be called -> the one that runs for it
        self.tensors = TensorBook()
        function = subject.model.forward if isinstance(subject.model, nn.Module) else subject.model
        self._arguments = bound_names(function, subject.args, subject.kwargs)
        self.modules = ModuleBook(subject.model, self._arguments, self.tensors)
        for name, value in self._arguments:
            for leaf_name, leaf in leaves(value, name):
                if isinstance(leaf, torch.Tensor) and self.tensors.known(leaf) is None:
                    self.tensors.add(leaf, kind="input", name=leaf_name)
        self._part = part  # path of the module whose arguments and result are told of in place of the model's
        self._inputs = endpoints(self._arguments, self.tensors) if part is None else ()
        self.sources = SourceBook(source, BOTTOM)
        self.recorder = Recorder(self.tensors, self.modules, self.sources, recovery, checks, faults)
        self._collectives = Collectives(self.recorder, alone, before_op)
        self._aten = AtenRecorder(self.recorder, before_op, self._collectives)
        self._outputs: tuple[Endpoint, ...] = ()
        self._compiled_parts = compiled_parts  # ids of copies whose originals were compiled in place: a copy is not
        self._pinned: list[PinnedCall] = []
        self._compiled = subject.compiled  # or did it call a module that is?
        self._fused = FusedPaths()
        self._books: list[Book] = [self.tensors, self.modules, self.recorder.reads, self.recorder, self]
        self._called_again: dict[int, Site | None] = {}  # a call, and what failed in it; None where that was no way out
        self._awaited: list[nn.Module | None] = []  # of each open call the module whose forward is yet to come
        self.error: Exception | None = None  # what ended the run, None when it went through

    def run(
        self, outer: Sequence[contextlib.AbstractContextManager[Any]] = (), inner: Sequence[contextlib.AbstractContextManager[Any]] = ()
    ) -> None:
        """Runs the subject; what it raises is kept in ``error``. What this raises is a fault of ours.

        Args:
            outer: contexts around everything, the first one outermost.
            inner: contexts between the subject and the recorder; those that count what comes are books.
        """
        output = None
        self._books += [context for context in inner if isinstance(context, Book)]
        with contextlib.ExitStack() as stack:
            stack.enter_context(own_groups())
            stack.enter_context(uncompiled(self._runs_as_written))
            stack.enter_context(quiet_fakes())
            for context in outer:
                stack.enter_context(context)
            stack.enter_context(deeper_nests())
            stack.enter_context(MODULE_CALLS.through(self._call))
            stack.enter_context(followed_forwards(self._forward, self.subject.model, [m for _, m in self.modules.with_paths()]))
            stack.enter_context(SCRIPT_CALLS.through(self._script))
            stack.enter_context(self._aten)
            stack.enter_context(self.recorder)
            for context in inner:
                stack.enter_context(context)
            try:
                output = with_room(self._root)
            except Exception as error:
                self.error = error
            self._spared(self.recorder.settle)
        if isinstance(self.error, RecursionError):
            self._out_of_stack(self.error)
        for pinned in self._pinned:
            self._spared(pinned.name_the_op)
        if self.error is None and self._part is None:
            self._spared(lambda: self._tell_outputs(output))

    def _out_of_stack(self, error: RecursionError) -> None:
        """A model that calls itself without an end: where the stack ran out there was no room to write it down."""
        if not self.modules.calls or any(failure.error == type(error).__name__ for failure in self.recorder.failures):
            return
        try:
            self._python_failure(0, self.subject.model, self.subject.args, self.subject.kwargs, error).write_down()
        except Exception as fault:
            self.recorder.stop(fault)

    def _tell_outputs(self, output: Any) -> None:
        self._outputs = endpoints([("output", output)], self.tensors)

    def _spared(self, action: Callable[..., Any], *args: Any) -> Any:
        """What the action gives on those arguments; None where it fails by a fault of ours, or where one has stopped the writing down."""
        if self.recorder.stopped:
            return None
        try:
            return action(*args)
        except Exception as fault:
            self.recorder.stop(fault)
            return None

    def _root(self) -> Any:
        subject = self.subject
        if subject.compiled:
            self._runs_as_written(subject.model, subject.args, subject.kwargs, None)
        if isinstance(subject.model, nn.Module):
            return _invoke(subject.model, subject.args, subject.kwargs)
        call = self._spared(lambda: self.modules.enter(0, 0, subject.args, subject.kwargs))

        def invoke(model: Any, /, *args: Any, **kwargs: Any) -> Any:
            return _invoke(model, args, kwargs)

        return self._followed(call, invoke, subject.model, subject.args, subject.kwargs)

    def _call(self, run: Callable[..., Any], module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        called, module = module, self._stand_ins.get(id(module), module)
        original = self._spared(lambda: original_of(module)) or module
        if original is not module or self._spared(lambda: is_compiled(module)) or id(module) in self._compiled_parts:

            def uncompiled_run(_: nn.Module, /, *args: Any, **kwargs: Any) -> Any:
                return uncompiled_call(original, *args, **kwargs)

            self._runs_as_written(original, args, kwargs, sys._getframe(2))
            run = uncompiled_run
        return self._entered(run, module, called, original, args, kwargs)

    def _runs_as_written(self, compiled: Any, args: tuple[Any, ...], kwargs: dict[str, Any], caller: FrameType | None) -> None:
        """What torch.compile made is about to run as it was written: would the code pin a size that is declared variable?"""
        self._compiled = True
        pinned = self._spared(lambda: PinnedCall.found(self.recorder, compiled, args, kwargs, caller))
        if pinned is None:
            return
        if pinned.raises is not None:
            raise pinned.raises
        self._pinned.append(pinned)

    def _script(self, run: Callable[..., Any], scripted: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self.recorder.scripted(Scripted(run, scripted), args, kwargs)

    def _forward(self, forward: Callable[..., Any], module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A module's forward begins: by the call that is being followed, or by the user without one."""
        if self._awaited and self._awaited[-1] is module:
            self._awaited[-1] = None
            return forward(*args, **kwargs)

        def run(_: nn.Module, /, *args: Any, **kwargs: Any) -> Any:
            return forward(*args, **kwargs)

        return self._entered(run, module, module, None, args, kwargs)

    def _entered(
        self,
        run: Callable[..., Any],
        module: nn.Module,
        called: nn.Module,
        awaited: nn.Module | None,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        index = self._spared(lambda: self.modules.find(module, called))
        opened = None if index is None else self._spared(lambda: self._opened(index, module, args, kwargs))
        if opened is None:
            return run(module, *args, **kwargs)
        self._awaited.append(awaited)
        try:
            output = self._followed(opened.call, run, module, args, kwargs)
        finally:
            self._awaited.pop()
            self._spared(lambda: self._fused.leave(opened.hides))
        if opened.is_part:
            self._spared(lambda: self._tell_outputs(output))
        return output

    def _opened(self, index: int, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Opened:
        self.recorder.settle()
        hides = self._fused.ask(module, self.modules.path(index), args, kwargs)
        call = self.modules.enter(index, len(self.recorder.ops), args, kwargs)
        is_part = self._part is not None and self.modules.path(index) == self._part and self.modules.calls[call].number == 1
        if is_part:
            self._inputs = endpoints(bound_names(module.forward, args, kwargs), self.tensors)
        return _Opened(call, hides, is_part)

    def bookmark(self) -> Undo:
        """What takes back which compiled code was called, and what was called again, from here on."""
        pinned, calls = len(self._pinned), len(self.modules.calls)

        def undo() -> None:
            del self._pinned[pinned:]
            self._called_again = {call: site for call, site in self._called_again.items() if call < calls}

        return undo

    def _followed(self, call: int | None, run: Callable[..., Any], target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        before = len(self.recorder.failures)
        undo = None if call is None or self.recorder.recovery is None else self._spared(bookmark, self._books)
        given = args, kwargs
        # This frame by its place on the stack: held in a variable of its own it would keep what it holds alive, tensors too.
        self._spared(lambda: self.sources.enter(sys._getframe(2)))
        try:
            while True:
                try:
                    output = run(target, *given[0], **given[1])
                    self._spared(self.recorder.settle)
                    break
                except Exception as error:
                    gone_on = None if call is None else self._spared(self._ended, call, run, target, *given, error)
                    if gone_on is not None and gone_on.again is None:
                        return gone_on.output
                    again = None if undo is None else self._spared(self._again, call, gone_on, undo)
                    if again is None:
                        raise
                    given = again.args, again.kwargs
        finally:
            self._spared(self.sources.leave)
        if call is not None:
            self._spared(lambda: self.modules.leave(call, len(self.recorder.ops), output, self._outcome(call, before)))
        return output

    def _ended(
        self, call: int, run: Callable[..., Any], target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception
    ) -> GoneOn | None:
        gone_on = None if is_value_read(error) else self._raised(call, run, target, args, kwargs, error)
        if gone_on is None or gone_on.again is None:
            self.modules.leave(call, len(self.recorder.ops), gone_on.output if gone_on else None, "failed")
        return gone_on

    def _again(self, call: int, gone_on: GoneOn | None, undo: Undo) -> Again | None:
        """What the call is made once more with, all that it wrote down taken back; None where its error goes on its way."""
        recorder = self.recorder
        if gone_on is None or gone_on.again is None:
            return None
        failure, op = recorder.last_failure()
        site = recorder.last_site
        undo()
        self._called_again[call] = site
        recorder.bring_forward(failure, op, gone_on)
        return gone_on.again

    def _outcome(self, call: int, failures_before: int) -> Outcome:
        failures = self.recorder.failures
        if any(self.recorder.ops[failure.op].call == call for failure in failures[failures_before:]):
            return "failed"
        return "assumed" if failures else "ok"

    def _raised(
        self, call: int, run: Callable[..., Any], target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception
    ) -> GoneOn | None:
        recorder = self.recorder
        is_root = self.modules.calls[call].parent < 0
        known = recorder.has_written(error) or recorder.is_withheld(error)
        failure = None if known else self._python_failure(call, target, args, kwargs, error)
        if failure is not None and recorder.raised_again(error, failure.by_raise):
            failure = None
        caller = None if is_root else self._caller_of(error)
        if recorder.is_withheld(error):
            if may_be_handled(caller, BOTTOM, error):
                return None
            recorder.came_through(error)
        elif failure is not None and recorder.withholds(error, caller, failure.site, failure.write_down):
            return None
        gone_on = None
        if recorder.recovery is not None:
            site = failure.site if failure is not None else recorder.last_site
            fails = None if call in self._called_again else failure.call if failure is not None else self._failed_itself(call)
            made = () if fails is None else self._made_inside(call, fails)
            gone_on = recorder.recovery.after_module(RaisedModule(run, target, args, kwargs, error, site, is_root, fails, made))
        if failure is not None:
            failure.write_down(gone_on)
        elif gone_on is not None and gone_on.again is None:
            recorder.stand_in(gone_on)
        return gone_on

    def _failed_itself(self, call: int) -> OpCall | None:
        """What failed last, where it did so in that call and in none inside it."""
        if not self.recorder.failures:
            return None
        failure, op = self.recorder.last_failure()
        return failure.call if op.call == call else None

    def _made_inside(self, call: int, failed: OpCall) -> tuple[MadeInside, ...]:
        """Those operands of what failed in a call that an op inside the call gave."""
        first, ops = self.modules.calls[call].first_op, self.recorder.ops
        made = ((operand, self.tensors.facts[operand.id].producer) for operand in failed.operands())
        return tuple(
            MadeInside(operand, op - first, ops[op].outputs.index(operand.id))
            for operand, op in made
            if first <= op < len(ops) and not ops[op].failed and operand.id in ops[op].outputs
        )

    def _python_failure(self, call: int, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception) -> _PythonFailure:
        """A failure outside torch functions, in that call of a module; what was guessed before may have led to it."""
        recorder = self.recorder
        op, signature = python_failure(error, target, args, kwargs, self.tensors)
        inputs = [operand.id for operand in op.operands()]
        source = self.sources.of_traceback(error.__traceback__)
        guessed = (number for number, failure in enumerate(recorder.failures) if failure.alternatives > 1)
        depends = self.tensors.depends_on(inputs).union(guessed)
        site = recorder.site(op.name, source)

        def write_down(gone_on: GoneOn | None = None) -> None:
            ended = gone_on if gone_on is None or gone_on.again is None else None
            recorder.fail(op, error, source, inputs, (), depends, ended, at=call, site=site, signature=signature)

        return _PythonFailure(site, op, op.name == RAISE, write_down)

    def _caller_of(self, error: Exception) -> Any:
        """The frame that called the module whose call is ending."""
        trace = error.__traceback__
        return trace.tb_frame.f_back if trace else None

    def end_at_value_read(self) -> None:
        """Writes down that the run ended because forward reads a value that nobody has."""
        if self.error is not None:
            told = RuntimeError(
                "forward reads a value here, which a shape-level run doesn't have. Give real tensors and use execution='auto'."
            )
            source = self.sources.of_traceback(self.error.__traceback__)
            self.recorder.fail(OpCall("python.value"), told, source, [], (), frozenset(), None)

    def _tensor_facts(self) -> tuple[TensorFact, ...]:
        """A fault may have come between an output and its op."""
        ops = len(self.recorder.ops)
        if not self.recorder.stopped:
            return tuple(self.tensors.facts)
        return tuple(fact if fact.producer < ops else replace(fact, producer=-1) for fact in self.tensors.facts)

    def trace(self, execution: Execution, unchecked: tuple[str, ...] = ()) -> Trace:
        """Everything written down; failures that user code handled itself are none."""
        recorder = self.recorder
        handled = self.error is None and recorder.recovery is None
        failures = () if handled else tuple(failure for failure in recorder.failures if failure.op < len(recorder.ops))
        error = error_text(self.error) if self.error is not None else ""
        if failures:
            first_line = failures[0].message.strip().partition("\n")[0]
            error = f"{failures[0].error}: {first_line}".rstrip(": ")
        return Trace(
            name=self.subject.name,
            execution=execution,
            completed=self.error is None and not failures,
            error=error,
            tensors=self._tensor_facts(),
            ops=tuple(recorder.ops),
            modules=self.modules.module_facts(),
            calls=self.modules.call_facts(len(recorder.ops), "ok" if recorder.stopped and self.error is None else "failed"),
            sources=self.sources.facts(),
            failures=failures,
            inputs=self._inputs,
            outputs=self._outputs,
            unchecked=(*unchecked, *((_COMPILED,) if self._compiled else ()), *self._fused.notes(), *self._collectives.notes()),
            values=tuple(recorder.reads.facts),
            versions={"python": platform.python_version(), "torch": torch.__version__},
        )
