"""Function-level calls as the user wrote them, aten ops as their children, module calls around them."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any, Protocol

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from tb_shapeplugin.record.trace import ChildFact, Failure, OpFact
from tb_shapeplugin.record.values import OpCall
from tb_shapeplugin.tracing.arguments import named_arguments, op_call, tensors_in
from tb_shapeplugin.tracing.checks import Checks
from tb_shapeplugin.tracing.compat import TorchDispatchMode, is_value_read, op_name, torch_internal
from tb_shapeplugin.tracing.eager import Answer, ask_eager
from tb_shapeplugin.tracing.modules import ModuleBook
from tb_shapeplugin.tracing.source import SourceBook, in_users_try
from tb_shapeplugin.tracing.tensors import TensorBook, dtype_name, shape_of

# Aten-level noise of shape-level runs and profilers; without it the children equal those of a plain run.
_SKIPPED_CHILDREN = ("prim.device", "profiler._record_function", "aten.detach.default")


@dataclass
class RaisedOp:
    """A torch function that raised, handed to whoever may go on past it."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    call: OpCall
    error: Exception
    number: int  # of the failure that it is about to become
    said: Exception | None = None  # what eager raises for the call, None where it wasn't asked
    let_through: bool = False  # did a shape-level kernel run it, and eager refuses it?
    output: Any = None  # what that kernel gave


@dataclass
class RaisedModule:
    """A module whose own Python code raised."""

    run: Callable[..., Any]
    module: nn.Module
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    error: Exception
    is_root: bool


@dataclass
class GoneOn:
    """What stands in for the output of something that raised."""

    output: Any
    shapes: tuple[tuple[int, ...], ...]
    alternatives: int = 1
    certain: bool = True  # its shape doesn't depend on a guess
    said: Exception | None = None  # what eager raises for the call, where a shape-level kernel raised in its place
    ends: bool = False  # nothing plausible stands in: the run ends here
    repaired: tuple[tuple[int, tuple[int, ...]], ...] = ()


class Recovery(Protocol):
    """Decides whether a run goes on past what raised."""

    def after_op(self, raised: RaisedOp) -> GoneOn | None:
        """What stands in for the output of a torch function that raised; None ends the run."""

    def after_module(self, raised: RaisedModule) -> GoneOn | None:
        """The same for a module whose own code raised."""


@dataclass
class OpenOp:
    """The op that is running: its aten children are gathered here."""

    name: str
    children: list[ChildFact] = field(default_factory=list)


class Recorder(TorchFunctionMode):
    """Writes down every torch function call, and every failure, of one run."""

    def __init__(
        self, tensors: TensorBook, modules: ModuleBook, sources: SourceBook, recovery: Recovery | None = None, checks: Checks | None = None
    ) -> None:
        super().__init__()
        self.checks = checks
        self.tensors = tensors
        self.modules = modules
        self.sources = sources
        self.recovery = recovery
        self.ops: list[OpFact] = []
        self.failures: list[Failure] = []
        self.error: Exception | None = None  # the last one written down
        self._withheld: tuple[Exception, Callable[[GoneOn | None], None]] | None = None  # one that a handler of the user may catch
        self.running: OpenOp | None = None

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        kwargs = kwargs or {}
        caller = sys._getframe(1)
        if torch_internal(caller.f_code.co_filename) or op_name(func).startswith("torch.nn.init."):
            return func(*args, **kwargs)
        running = self.running = OpenOp(op_name(func))
        try:
            result = func(*args, **kwargs)
        except Exception as error:
            return self._raised(func, args, kwargs, error, caller)
        finally:
            self.running = None
        if self.checks is not None:
            call = op_call(running.name, args, kwargs, self.tensors)
            refused = self.checks.refusal(func, args, kwargs, call, self.tensors)
            if refused is not None:
                return self._raised(func, args, kwargs, refused[0], caller, refused[1], result)
        self._write(func, args, kwargs, result, running.children, caller)
        return result

    def _write(
        self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], result: Any, children: list[ChildFact], frame: FrameType
    ) -> None:
        outputs = tensors_in(result)
        writes = getattr(func, "__name__", "") in ("__setitem__", "__set__")
        if not outputs and writes and isinstance(args[0], torch.Tensor):
            outputs = [args[0]]
        if not outputs or (len(args) == 1 and result is args[0] and getattr(func, "__name__", "") == "__get__"):
            return  # metadata, not an op
        if args and result is args[0] and self._is_counter(result):
            return  # a layer counts its batches: no op of the model
        inputs = [self.tensors.id_of(tensor) for tensor in tensors_in((args, kwargs))]
        written = tuple(self._output_id(tensor, bool(self.failures)) for tensor in outputs)
        depends = self.tensors.depends_on(inputs)
        if depends:
            self.tensors.depends.update(dict.fromkeys(written, depends))
        self.ops.append(
            OpFact(
                name=op_name(func),
                call=self.modules.current_call,
                source=self.sources.here(frame),
                inputs=tuple(inputs),
                outputs=written,
                arguments=named_arguments(func, args, kwargs, inputs, self.tensors),
                children=tuple(children),
                assumed=bool(self.failures),
            )
        )

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
        if is_value_read(error):
            raise error
        call = refused_call or op_call(op_name(func), args, kwargs, self.tensors)
        inputs = [operand.id for operand in call.operands()]
        depends = self.tensors.depends_on(inputs)
        arguments = named_arguments(func, args, kwargs, inputs, self.tensors)
        source = self.sources.here(frame)

        def write_down(gone_on: GoneOn | None) -> None:
            self.fail(call, error, source, inputs, arguments, depends, gone_on)

        if in_users_try(frame, self.sources.bottom):
            self._withheld = (error, write_down)
            raise error
        if self.recovery is None:
            write_down(None)
            raise error
        answer = Answer(error) if refused_call is not None else self._second_opinion(func, args, kwargs, error)
        if answer is not None and answer.error is None:  # eager doesn't raise: no failure
            self._write(func, args, kwargs, answer.output, [], frame)
            return answer.output
        raised = RaisedOp(
            func, args, kwargs, call, error, len(self.failures), answer.error if answer else None, refused_call is not None, output
        )
        gone_on = self.recovery.after_op(raised)
        write_down(gone_on)
        if gone_on is None or gone_on.ends:
            raise error
        return gone_on.output

    def _second_opinion(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception) -> Answer | None:
        """What eager does where a shape-level kernel raised: told by stand-ins, by real values where it accepts or can't be asked so."""
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
        **facts: Any,
    ) -> None:
        """Writes down a failed call, and the outputs that stand in for its own."""
        number, op = len(self.failures), len(self.ops)
        assumed_already = bool(self.failures)
        told = gone_on.said if gone_on and gone_on.said else error
        self.failures.append(
            Failure(
                op=op,
                call=call,
                module=self.modules.current_module,
                error=type(told).__name__,
                message=str(told).replace("FakeTensor", "Tensor"),  # the user gave no fakes
                assumed=gone_on.shapes if gone_on else (),
                alternatives=gone_on.alternatives if gone_on else 1,
                depends_on=tuple(sorted(depends)),
                repaired=gone_on.repaired if gone_on else (),
                **facts,
            )
        )
        outputs = tensors_in(gone_on.output) if gone_on else []
        written = tuple(self._output_id(tensor, True) for tensor in outputs)
        taint = depends if gone_on and gone_on.certain else depends | {number}
        if taint:
            self.tensors.depends.update(dict.fromkeys(written, taint))
        self.ops.append(OpFact(call.name, self.modules.current_call, source, tuple(inputs), written, arguments, (), True, assumed_already))
        self.error = error

    def saw(self, error: BaseException) -> bool:
        """Is this an error of a torch function that is written down, on its way up? (Written now if a handler let it through.)"""
        if self._withheld is not None and self._withheld[0] is error:
            self._withheld[1](None)
            self._withheld = None
        return self.error is error

    def stand_in(self, gone_on: GoneOn) -> None:
        """What a module gave in place of its output belongs to the failure written down last inside it."""
        failure = self.failures[-1]
        op = self.ops[failure.op]
        outputs = tuple(self.tensors.add(tensor, producer=failure.op, assumed=True) for tensor in tensors_in(gone_on.output))
        self.ops[failure.op] = replace(op, outputs=op.outputs + outputs)
        self.failures[-1] = replace(failure, assumed=gone_on.shapes, repaired=gone_on.repaired)
        self.tensors.depends.update(dict.fromkeys(outputs, frozenset(failure.depends_on) | {len(self.failures) - 1}))


class AtenRecorder(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch has no types there
    """Gathers the aten ops below the running op; ``before`` is told of each one first."""

    def __init__(self, recorder: Recorder, before: Callable[[Any, tuple[Any, ...], Mapping[str, Any]], None] | None = None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._recorder = recorder
        self._before = before

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        kwargs = kwargs or {}
        if self._before is not None:
            self._before(func, args, kwargs)
        result = func(*args, **kwargs)
        running = self._recorder.running
        if running is not None:
            name = str(func)
            if not name.startswith(_SKIPPED_CHILDREN) or running.name.endswith("detach"):
                running.children.append(ChildFact(name, tuple((shape_of(t), dtype_name(t.dtype)) for t in tensors_in(result))))
        return result
