"""Function-level calls as the user wrote them, aten ops as their children, module calls around them."""

import sys
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from tb_shapeplugin.base.faults import Faults
from tb_shapeplugin.record.site import Passing, Site, Statement, statement
from tb_shapeplugin.record.trace import ChildFact, Failure, OpFact, SignatureFact
from tb_shapeplugin.record.values import OpCall
from tb_shapeplugin.tracing.arguments import named_arguments, op_call, signature_of, tensors_in
from tb_shapeplugin.tracing.aten_children import child_of
from tb_shapeplugin.tracing.bookmarks import Undo
from tb_shapeplugin.tracing.checks import Checks
from tb_shapeplugin.tracing.compat import (
    calling_frame,
    is_value_read,
    op_name,
    torch_internal,
)
from tb_shapeplugin.tracing.eager import Answer, ask_eager
from tb_shapeplugin.tracing.going_on import GoneOn, RaisedOp, Recovery, Withheld
from tb_shapeplugin.tracing.handlers import may_be_handled
from tb_shapeplugin.tracing.hidden_fakes import sets_own_data
from tb_shapeplugin.tracing.modules import ModuleBook
from tb_shapeplugin.tracing.opaque import NATIVE, NativeCall, Scripted, place_of
from tb_shapeplugin.tracing.reads import Reads, reads_memory
from tb_shapeplugin.tracing.source import SourceBook, is_torchs_file
from tb_shapeplugin.tracing.substitution import substituted
from tb_shapeplugin.tracing.tensors import TensorBook


@dataclass
class OpenOp:
    """The op that is running: its aten children are gathered here."""

    name: str
    children: list[ChildFact] = field(default_factory=list)
    drew: bool = False  # random numbers
    read: bool = False  # contents of tensors
    signature: Any = None  # of its arguments, where it is known
    reads_before: int = 0  # calls that had run on real values when it began
    written: set[int] = field(default_factory=set)  # ids of tensors that its aten ops wrote to


@dataclass(frozen=True)
class BroughtForward:
    """A failure that is written down again right behind the op whose output led to it."""

    after: int  # index of that op
    failure: Failure
    op: OpFact
    gone_on: GoneOn


class Recorder(TorchFunctionMode):
    """Writes down every torch function call, and every failure, of one run."""

    def __init__(
        self,
        tensors: TensorBook,
        modules: ModuleBook,
        sources: SourceBook,
        recovery: Recovery | None = None,
        checks: Checks | None = None,
        faults: Faults | None = None,
    ) -> None:
        super().__init__()
        self._faults = faults or Faults()
        self.stopped = False  # by a fault of ours: the run goes on, nothing more is written down
        self.checks = checks
        self.tensors = tensors
        self.modules = modules
        self.sources = sources
        self.recovery = recovery
        self.ops: list[OpFact] = []
        self.failures: list[Failure] = []
        self.error: Exception | None = None  # the last one written down
        self.last_site: Site | None = None  # where it was raised
        self._withheld: Withheld | None = None
        self._passing = Passing()
        self._passed = 0  # ops that are counted in there
        self.running: OpenOp | None = None
        self._native: NativeCall | None = None
        self._brought_forward: BroughtForward | None = None
        self.reads = Reads(tensors)
        self._arguments: dict[Any, tuple[tuple[str, str], ...]] = {}  # by name and signature

    def bookmark(self) -> Undo:
        """What takes back all ops and failures that are written down from here on."""
        ops, failures, error, last_site = len(self.ops), len(self.failures), self.error, self.last_site

        def undo() -> None:
            for op in self.ops[ops : self._passed]:
                self._passing.taken_back(*self._place(op))
            self._passed = min(self._passed, ops)
            del self.ops[ops:], self.failures[failures:]
            self.error, self.last_site = error, last_site
            self._withheld = self._native = self._brought_forward = None

        return undo

    def stop(self, fault: Exception) -> None:
        """A fault of ours: it is noted, and the run goes on unwritten."""
        self.stopped = True
        self._faults.note(f"what ran after op {len(self.ops)}", fault)

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        kwargs = kwargs or {}
        running = None
        if not self.stopped:
            try:
                caller = calling_frame(sys._getframe(1))
                if not torch_internal(caller.f_code.co_filename) and not op_name(func).startswith("torch.nn.init."):
                    running = self._begun(func)
            except Exception as fault:
                self.stop(fault)
        return func(*args, **kwargs) if running is None else self._called(func, args, kwargs, caller, running)

    def scripted(self, run: Scripted, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Runs and writes down a call of TorchScript; one inside a running op is that op's own business."""
        running = None
        if self.running is None and not self.stopped:
            try:
                running = self._begun(run)
            except Exception as fault:
                self.stop(fault)
        return run(*args, **kwargs) if running is None else self._called(run, args, kwargs, sys._getframe(1), running)

    def _begun(self, func: Callable[..., Any]) -> OpenOp:
        self.settle()
        reads = self.checks.values.reads if self.checks is not None else 0
        return OpenOp(op_name(func), read=reads_memory(func), reads_before=reads)

    def _called(self, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], caller: FrameType, running: OpenOp) -> Any:
        self.running = running
        try:
            result = func(*args, **kwargs)
        except Exception as error:
            raised, self.running = error, None
            return self._spared(raised, lambda: self._raised(func, args, kwargs, raised, caller))
        finally:
            self.running = None
        refused: tuple[Exception, OpCall] | None = None
        try:
            if self.checks is not None and not self.stopped:
                running.signature = signature_of(args, kwargs, self.tensors)
                refused = self.checks.refusal(running.name, func, args, kwargs, self.tensors, running.signature)
            if refused is None and not self.stopped:
                result = self._replaced(self._note(func, args, kwargs, result, running, caller), result)
        except Exception as fault:
            self.stop(fault)
            return result
        if refused is None:
            return result
        said, call = refused
        return self._spared(said, lambda: self._raised(func, args, kwargs, said, caller, call, result))

    def _spared(self, error: Exception, go_on: Callable[[], Any]) -> Any:
        """What stands in for the output of a call that raised; else its own error, whatever fault of ours came in between."""
        try:
            return go_on()
        except Exception as raised:
            fault = raised
        if fault is not error:
            self.stop(fault)
        raise error

    def _note(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], result: Any, running: OpenOp, frame: FrameType) -> int:
        """Gives the op's index; -1 for a call that is none."""
        op = self._write(func, args, kwargs, result, running, frame)
        if running.read or (self.checks is not None and self.checks.values.reads > running.reads_before):
            self.note_read(func, args, kwargs, result, op, frame)
        return op

    def note_read(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], result: Any, op: int, frame: FrameType) -> None:
        """Writes down that contents were needed: by that op, by Python where it is -1."""
        assumed = self.checks is not None and self.checks.values.assumed
        self.reads.note(func, args, kwargs, result, op, self.sources.here(frame), assumed)

    def _write(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], result: Any, running: OpenOp, frame: FrameType) -> int:
        """The op's index; -1 for a call that is none."""
        outputs = tensors_in(result)
        writes = getattr(func, "__name__", "") in ("__setitem__", "__set__")
        if not outputs and writes and isinstance(args[0], torch.Tensor):
            outputs = [args[0]]
        elif not outputs and running.written:
            outputs = [tensor for tensor in tensors_in((args, kwargs)) if id(tensor) in running.written]
        if not outputs or (len(args) == 1 and result is args[0] and getattr(func, "__name__", "") == "__get__"):
            return -1  # metadata, not an op
        if (args and result is args[0] and self._is_counter(result)) or sets_own_data(func, frame):
            return -1  # a layer counts its batches, or converts itself: no op of the model
        inputs = [self.tensors.id_of(tensor) for tensor in tensors_in((args, kwargs))]
        written = tuple(self._output_id(tensor, bool(self.failures)) for tensor in outputs)
        depends = self.tensors.depends_on(inputs)
        if depends:
            self.tensors.depends.update(dict.fromkeys(written, depends))
        self.reads.wrote(func, inputs, written, running.drew)
        self.ops.append(
            OpFact(
                name=op_name(func),
                call=self.modules.current_call,
                source=self.sources.here(frame),
                inputs=tuple(inputs),
                outputs=written,
                arguments=self._told(func, args, kwargs, inputs, running.signature),
                children=tuple(running.children),
                assumed=bool(self.failures),
            )
        )
        return len(self.ops) - 1

    def _told(
        self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], inputs: list[int], signature: Any
    ) -> tuple[tuple[str, str], ...]:
        key = None if signature is None else (op_name(func), signature)
        told = self._arguments.get(key)
        if told is None:
            told = named_arguments(func, args, kwargs, inputs, self.tensors)
            if key is not None:
                self._arguments[key] = told
        return told

    def native(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], result: Any, frame: FrameType) -> None:
        """An aten op ran that no torch function called: C++ of an extension did. All that one expression sets off is one op."""
        key = place_of(frame, self.modules.current_call)
        if self._native is None or self._native.key != key:
            self.settle()
            self._native = NativeCall(key, self.modules.current_call, self.sources.here(frame))
        native, made = self._native, self._native.alive()
        own = {id(tensor) for tensor in made}
        native.inputs += [self.tensors.id_of(t) for t in tensors_in((args, kwargs)) if id(t) not in own]
        native.made += [weakref.ref(t) for t in tensors_in(result) if id(t) not in own]
        native.children.append(child_of(func, args, result))

    def settle(self) -> None:
        """Writes down what C++ ran on its own, before anything else is."""
        native, self._native = self._native, None
        if native is None:
            return
        inputs = tuple(dict.fromkeys(native.inputs))
        outputs = tuple(self._output_id(tensor, bool(self.failures)) for tensor in native.alive())
        if outputs:
            children = tuple(native.children)
            self.ops.append(OpFact(NATIVE, native.call, native.source, inputs, outputs, children=children, assumed=bool(self.failures)))

    def _is_counter(self, tensor: torch.Tensor) -> bool:
        known = self.tensors.known(tensor)
        return known is not None and self.tensors.facts[known].name.endswith("num_batches_tracked")

    def _output_id(self, tensor: torch.Tensor, assumed: bool) -> int:
        """A result is always a new version, also where the op gave one of its inputs back."""
        return self.tensors.add(tensor, producer=len(self.ops), assumed=assumed)

    def _raised(
        self,
        func: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        error: Exception,
        frame: FrameType,
        refused_call: OpCall | None = None,
        output: Any = None,
    ) -> Any:
        if self.stopped or is_value_read(error) or self.has_written(error) or self.is_withheld(error) or _is_of_a_module(func, frame):
            raise error
        call = refused_call or op_call(op_name(func), args, kwargs, self.tensors)
        inputs = [operand.id for operand in call.operands()]
        depends = self.tensors.depends_on(inputs)
        arguments = named_arguments(func, args, kwargs, inputs, self.tensors)
        source = self.sources.here(frame)

        at, site = self.modules.current_call, self.site(call.name, source)

        def write_down(gone_on: GoneOn | None, said: Exception | None = None) -> None:
            self.fail(call, error, source, inputs, arguments, depends, gone_on, at=at, site=site, said=said)

        if self.withholds(error, frame, site, lambda: write_down(None)):
            raise error
        if self.recovery is None:
            write_down(None)
            raise error
        answer = Answer(error) if refused_call is not None else self._second_opinion(func, args, kwargs, error)
        if answer is not None and answer.error is None:  # eager doesn't raise: no failure
            self._write(func, args, kwargs, answer.output, OpenOp(op_name(func)), frame)
            return answer.output
        raised = RaisedOp(func, args, kwargs, call, error, site, answer.error if answer else None, refused_call is not None, output)
        gone_on = self.recovery.after_op(raised)
        write_down(gone_on, None if isinstance(raised.said, NotImplementedError) else raised.said)
        if gone_on is None or gone_on.ends:
            raise error
        return gone_on.output

    def _second_opinion(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception) -> Answer | None:
        """What eager does where a shape-level kernel raised: told by stand-ins, by real values where it accepts or can't be asked so."""
        if getattr(func, "__name__", "") in ("backward", "grad"):
            return None  # stand-ins have no graph to go back through
        answer = ask_eager(func, args, kwargs)
        if self.checks is not None and (answer is None or answer.error is None):
            return self.checks.for_real(func, args, kwargs, error) or answer
        return answer

    def fail(
        self,
        call: OpCall,
        error: Exception,
        source: int,
        inputs: list[int],
        arguments: tuple[tuple[str, str], ...],
        depends: frozenset[int],
        gone_on: GoneOn | None,
        *,
        at: int | None = None,
        site: Site | None = None,
        signature: SignatureFact | None = None,
        said: Exception | None = None,
    ) -> None:
        """Writes down a failed call, and the outputs that stand in for its own.

        ``at`` and ``site`` where it isn't one of now; ``said``: in eager's words.
        """
        at = self.modules.current_call if at is None else at
        self.last_site = site or self.site(call.name, source)
        number, op = len(self.failures), len(self.ops)
        assumed_already = bool(self.failures)
        told = (gone_on.said if gone_on else None) or said or error
        self.failures.append(
            Failure(
                op=op,
                call=call,
                module=self.modules.calls[at].module if at >= 0 else -1,
                error=type(told).__name__,
                message=str(told).replace("FakeTensor", "Tensor"),  # the user gave no fakes
                assumed=gone_on.shapes if gone_on else (),
                alternatives=gone_on.alternatives if gone_on else 1,
                depends_on=tuple(sorted(depends)),
                signature=signature,
            )
        )
        outputs = tensors_in(gone_on.output) if gone_on else []
        written = tuple(self._output_id(tensor, True) for tensor in outputs)
        self.reads.stood_in(written)
        taint = depends if gone_on and gone_on.certain else depends | {number}
        if taint:
            self.tensors.depends.update(dict.fromkeys(written, taint))
        self.ops.append(OpFact(call.name, at, source, tuple(inputs), written, arguments, (), True, assumed_already))
        self.error = error

    def site(self, op: str, source: int) -> Site:
        """The site of a call of that op that comes now."""
        for passed in self.ops[self._passed :]:
            self._passing.came(*self._place(passed))
        self._passed = len(self.ops)
        return self._passing.site(statement(op, self.sources.fact(source)), self.modules.path(self.modules.current_module))

    def _place(self, op: OpFact) -> tuple[Statement, str]:
        module = self.modules.path(self.modules.calls[op.call].module) if op.call >= 0 else ""
        return statement(op.name, self.sources.fact(op.source)), module

    def withholds(self, error: Exception, frame: FrameType | None, site: Site, write_down: Callable[[], None]) -> bool:
        """May a handler of the user catch what was raised below that frame? Then it is written down only once it came through."""
        insisted = self.recovery is not None and self.recovery.insists(site)
        if insisted or not may_be_handled(frame, self.sources.bottom, error):
            return False
        self._withheld = Withheld(error, site, write_down)
        return True

    def has_written(self, error: Exception) -> bool:
        """Is this the error that was written down last, on its way up?"""
        return self.error is error

    def is_withheld(self, error: Exception) -> bool:
        """Is this an error that a handler of the user may catch?"""
        return self._withheld is not None and self._withheld.error is error

    def raised_again(self, error: Exception, by_raise: bool) -> bool:
        """Did a handler raise this one in place of the error that is withheld? It stands for that one from here on."""
        withheld = self._withheld
        if withheld is None or not (withheld.error is error.__cause__ or (by_raise and withheld.error is error.__context__)):
            return False
        self._withheld = replace(withheld, error=error)
        return True

    def came_through(self, error: Exception) -> None:
        """The error that is withheld came through all handlers: it is written down."""
        withheld, self._withheld = self._withheld, None
        if withheld is not None:
            withheld.write_down()
            self.error = error
            if self.recovery is not None:
                self.recovery.escaped.add(withheld.site)

    def last_failure(self) -> tuple[Failure, OpFact]:
        """The failure written down last, and its op."""
        return self.failures[-1], self.ops[self.failures[-1].op]

    def bring_forward(self, failure: Failure, op: OpFact, gone_on: GoneOn) -> None:
        """Writes down, before what comes now, a failure that has been taken back: from here on other tensors stand in.

        They do so from the op on that ``gone_on`` counts, where it counts to one.
        """
        if gone_on.again is not None and gone_on.again.op >= 0:
            self._brought_forward = BroughtForward(len(self.ops) + gone_on.again.op, failure, op, gone_on)
        else:
            self._put_forward(failure, op, gone_on)

    def _put_forward(self, failure: Failure, op: OpFact, gone_on: GoneOn) -> None:
        known, number, at = len(self.tensors.facts), len(self.failures), len(self.ops)
        inputs = tuple(index for index in op.inputs if index < known)
        depends = frozenset(earlier for earlier in failure.depends_on if earlier < number)
        outputs = tuple(self._output_id(tensor, True) for tensor in tensors_in(gone_on.output))
        self.failures.append(
            replace(failure, op=at, assumed=gone_on.shapes, alternatives=gone_on.alternatives, depends_on=tuple(sorted(depends)))
        )
        self.ops.append(replace(op, inputs=inputs, outputs=outputs, assumed=number > 0))
        self.reads.stood_in(outputs)
        self.tensors.depends.update(dict.fromkeys(outputs, depends | {number}))

    def _replaced(self, op: int, result: Any) -> Any:
        """What an op gave, or what stands in for it where it led to a failure that has been brought forward."""
        forward = self._brought_forward
        if forward is None or forward.after != op or forward.gone_on.again is None:
            return result
        self._brought_forward = None
        self._put_forward(forward.failure, forward.op, forward.gone_on)
        given = tensors_in(result)[forward.gone_on.again.position]
        return substituted(result, {id(given): forward.gone_on.output})

    def stand_in(self, gone_on: GoneOn) -> None:
        """What a module gave in place of its output belongs to the failure written down last inside it."""
        failure = self.failures[-1]
        op = self.ops[failure.op]
        outputs = tuple(self.tensors.add(tensor, producer=failure.op, assumed=True) for tensor in tensors_in(gone_on.output))
        self.ops[failure.op] = replace(op, outputs=op.outputs + outputs)
        self.reads.stood_in(outputs)
        self.failures[-1] = replace(failure, assumed=gone_on.shapes, alternatives=gone_on.alternatives)
        self.tensors.depends.update(dict.fromkeys(outputs, frozenset(failure.depends_on) | {len(self.failures) - 1}))


def _is_of_a_module(func: Any, frame: FrameType) -> bool:
    """Does one of torch's modules take its argument apart? What fails is the module: it was given something else than it takes."""
    of_a_module = isinstance(frame.f_locals.get("self"), nn.Module) and is_torchs_file(frame.f_code.co_filename)
    return of_a_module and getattr(func, "__name__", "") == "__getitem__"
