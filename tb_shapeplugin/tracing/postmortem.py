"""A traceback's frames as what can be examined: which call failed, on what, and under which modes."""

import ast
import contextlib
import inspect
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from types import MethodType
from typing import Any

from torch import nn

from tb_shapeplugin.record.trace import Failure, SourceFact, Trace
from tb_shapeplugin.tracing.compat import unwrapped
from tb_shapeplugin.tracing.crash_program import Program, contexts_of, function_of
from tb_shapeplugin.tracing.lookups import Unresolvable, assigns_parameters, parameters_of
from tb_shapeplugin.tracing.source import SourceBook, display_path, is_users_file
from tb_shapeplugin.tracing.statements import Stop, failing_parts, statement_of, stops_of
from tb_shapeplugin.tracing.subject import Subject

_IN_WORKER = re.compile(r"^Caught \w+ in DataLoader worker process", re.MULTILINE)
_FRAME = re.compile(r'^ *File "(?P<file>.+)", line (?P<line>\d+), in (?P<function>.+)\n(?: *(?P<code>\S.*))?', re.MULTILINE)
_CALLS = {nn.Module._wrapped_call_impl.__code__, nn.Module._call_impl.__code__}
_MOST_PARTS = 3  # of a statement, tried one by one
_ALIKE = 0.6  # of two texts: shape-level kernels say some things in other words
_NOT_THE_USERS = ("torch.optim", "torch.utils.data", "torch.autograd", "torch.amp")  # an op in there is out of reach for a fix
_ASSERTED = "device-side assert"  # what a GPU says of an index out of range, wherever the next call is


@dataclass(frozen=True)
class Scene:
    """What is run again, and the modes of torch's that the user had around it."""

    subject: Subject
    contexts: tuple[contextlib.AbstractContextManager[Any], ...] = ()


@dataclass(frozen=True)
class ModuleCall:
    """A call of a module that the exception went through."""

    depth: int  # of its frame in the traceback
    module: nn.Module
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    given: bool = True  # are these what it was called with, or has it assigned to them since?


class Crash:
    """An exception, and what the frames of its traceback know. Nothing here outlives the diagnosis: frames hold tensors.

    Args:
        error: it, with its traceback.
        model: what the user watches.
        name: of it in the tab.

    Example:
        >>> [scene.subject.kwargs.keys() for scene in Crash(error, model, "model").scenes()]  # doctest: +SKIP
        [dict_keys(['model', 'images', 'criterion', 'labels'])]
    """

    def __init__(self, error: Exception, model: Any, name: str) -> None:
        self.error = error
        self.name = name
        self.model = unwrapped(model)
        self.stops = stops_of(error.__traceback__)
        self._users = [depth for depth, stop in enumerate(self.stops) if is_users_file(stop.filename)]
        self.call = self._outermost_call()

    @property
    def place(self) -> Stop | None:
        """The innermost line of the user's; None where there is none."""
        return self.stops[self._users[-1]] if self._users else None

    @property
    def function(self) -> str:
        """The name of the user's innermost function."""
        return function_of(self.place) if self.place is not None else "the loop"

    @property
    def below(self) -> Sequence[Stop]:
        """The frames of torch's that the user's innermost line called, the outermost first."""
        return self.stops[self._users[-1] + 1 :] if self._users else self.stops

    @property
    def out_of_reach(self) -> bool:
        """Does the failing op stand in code of torch's that no change of the user's reaches, as an optimizer's step does?"""
        home = str(self.below[-1].frame.f_globals.get("__name__", "")) if self.below else ""
        return f"{home}.".startswith(tuple(f"{part}." for part in _NOT_THE_USERS))

    @property
    def in_compilation(self) -> bool:
        """Did torch.compile raise it, rather than what it compiles?"""
        return type(self.error).__module__.startswith(("torch._dynamo", "torch._inductor"))

    def scenes(self) -> Iterator[Scene]:
        """What may show the failure when it is run at the shape level: the most telling first."""
        model_itself = self._function_itself()
        if model_itself is not None:
            yield model_itself
        elif self.call is not None and self.call.given and self._path_of(self.call.module) is not None:
            yield self._call_scene(self.call, self._part(self.call))
        else:
            yield from self._programs()
            if self.call is not None and self.call.given:
                yield self._call_scene(self.call, self.call.module)

    def shown_by(self, trace: Trace) -> bool:
        """Does a run fail as the exception says?"""
        text = str(self.error)
        if _ASSERTED in text or self.in_compilation:  # the one says nothing of the call, the other tells it in words of its own
            return bool(trace.failures)
        return any(self._is_it(failure, trace, text) for failure in trace.failures)

    def _is_it(self, failure: Failure, trace: Trace, text: str) -> bool:
        said = failure.message.strip().partition("\n")[0]
        source = trace.ops[failure.op].source
        here = source >= 0 and self.is_place(trace.sources[source].file, trace.sources[source].line)
        alike = SequenceMatcher(None, said, text.strip().partition("\n")[0]).ratio() >= _ALIKE
        return (bool(said) and said in text) or (here and alike and failure.error == type(self.error).__name__)

    @property
    def in_worker(self) -> bool:
        """Was it raised in a process that loads data, and comes with the traceback as text?"""
        return _IN_WORKER.search(str(self.error)) is not None

    def told_frames(self) -> list[tuple[SourceFact | None, str]]:
        """The frames of a traceback in the exception's text: the statement, None where it isn't the user's, and its code."""
        frames = []
        for found in _FRAME.finditer(str(self.error)):
            line, code = int(found["line"]), found["code"] or ""
            fact = SourceFact(display_path(found["file"]), line, line, code=code, function=found["function"])
            frames.append((fact if is_users_file(found["file"]) else None, code))
        return frames

    def statement(self) -> SourceFact | None:
        """The user's innermost statement."""
        return next(reversed(self.statements()), None)

    def statements(self, first: int = 0) -> tuple[SourceFact, ...]:
        """The user's statements, each called by the one before it, numbered from ``first``.

        Of a worker process or a compilation it is the one in the text.
        """
        told = [fact for fact, _ in self.told_frames() if fact is not None] if self.in_worker or self.in_compilation else []
        if told:
            return (told[-1],)
        above = self.stops[0].frame.f_back if self.stops else None
        book = SourceBook("line", above.f_code if above is not None else nowhere.__code__)
        book.of_traceback(self.error.__traceback__)
        return tuple(replace(fact, caller=fact.caller + first if fact.caller >= 0 else -1) for fact in book.facts())

    def is_place(self, file: str, line: int) -> bool:
        """Is this the innermost line of the user's, as records tell it?"""
        return self.place is not None and (display_path(self.place.filename), self.place.line) == (file, line)

    def innermost_path(self) -> str | None:
        """The dotted path, in the model, of the innermost module that was running; None outside of it."""
        paths = [self._path_of(call.module) for call in self._calls()]
        return next((path for path in reversed(paths) if path is not None), None)

    def _outermost_call(self) -> ModuleCall | None:
        """That of the model or one of its parts; else of any module, as a loss is one."""
        calls = list(self._calls())
        return next((call for call in calls if self._path_of(call.module) is not None), calls[0] if calls else None)

    def _calls(self) -> Iterator[ModuleCall]:
        for depth, stop in enumerate(self.stops):
            held, code = stop.frame.f_locals, stop.frame.f_code
            module = unwrapped(held.get("self"))
            if not isinstance(module, nn.Module):
                continue
            if code in _CALLS and "args" in held:
                yield ModuleCall(depth, module, tuple(held["args"]), dict(held.get("kwargs", {})))
            elif code.co_name == "forward" and is_users_file(stop.filename) and not code.co_flags & inspect.CO_VARARGS:
                given = {name: value for name, value in parameters_of(stop.frame).items() if name != "self"}
                yield ModuleCall(depth, module, (), given, not assigns_parameters(code))

    def _path_of(self, module: nn.Module) -> str | None:
        named = self.model.named_modules() if isinstance(self.model, nn.Module) else ()
        return next((path for path, part in named if part is module), None)

    def _function_itself(self) -> Scene | None:
        """The model is a plain function, and its frame is there."""
        code = getattr(self.model, "__code__", None)
        depth = next((depth for depth, stop in enumerate(self.stops) if code is not None and stop.frame.f_code is code), None)
        if depth is None or code is None or assigns_parameters(code):
            return None
        subject = Subject(self.name, self.model, (), parameters_of(self.stops[depth].frame))
        return Scene(subject, contexts_of(self.stops[:depth]))

    def _call_scene(self, call: ModuleCall, callee: Any) -> Scene:
        return Scene(Subject(self.name, callee, call.args, call.kwargs), contexts_of(self.stops[: call.depth]))

    def _part(self, call: ModuleCall) -> Any:
        """The call of a part, as a method of the whole: the tree and the paths are the whole's."""
        path = self._path_of(call.module)
        if not path:
            return self.model

        def run(model: nn.Module, /, *args: Any, **kwargs: Any) -> Any:
            return model.get_submodule(path)(*args, **kwargs)

        with contextlib.suppress(TypeError, ValueError):
            signature = inspect.signature(call.module.forward)
            itself = inspect.Parameter("model", inspect.Parameter.POSITIONAL_ONLY)
            names = [parameter for parameter in signature.parameters.values() if parameter.name != "model"]
            run.__signature__ = signature.replace(parameters=[itself, *names])  # type: ignore[attr-defined]  # inspect reads it
        return MethodType(run, self.model)

    def _programs(self) -> Iterator[Scene]:
        """The statement at fault, after those that made its operands; then the calls in it alone; then what torch made of it."""
        depths = [depth for depth in self._users if self.call is None or depth < self.call.depth]
        if not depths:
            return
        users = [self.stops[depth] for depth in depths]
        statement = statement_of(users[-1])
        below = list(self.below) if self.call is None else []
        if statement is not None and not isinstance(statement, ast.Raise):
            parts = list(failing_parts(users[-1], statement))[:_MOST_PARTS]
            yield from self._program(users, [statement, *parts])
        if below and not below[0].frame.f_code.co_name.startswith("__"):
            yield from self._program(users, [_call_of(below[0])], below[0])
        inner = statement_of(below[-1]) if below else None
        if inner is not None:
            yield from self._program(users, [inner], below[-1])

    def _program(self, users: list[Stop], ends: Sequence[ast.stmt | ast.expr], torchs: Stop | None = None) -> Iterator[Scene]:
        for end in ends:
            with contextlib.suppress(Unresolvable):
                program = Program(users, self.model, self._given(users[-1]))
                yield Scene(program.subject(self.name, end, torchs), contexts_of(self.stops, decorators_alone=True))

    def _given(self, stop: Stop) -> dict[int, Any]:
        """What the arguments of the failing call were, by their nodes' ids: the frame of what was called tells."""
        statement = statement_of(stop)
        parts = list(failing_parts(stop, statement)) if statement is not None else []
        if len(parts) != 1 or not isinstance(parts[0], ast.Call):  # before Python 3.11 nobody knows which call it was
            return {}
        node = parts[0]
        if self.call is not None:
            args, named = self.call.args, self.call.kwargs
        elif self.below:
            named = parameters_of(self.below[0].frame)
            args = tuple(value for name, value in named.items() if name != "self")
        else:
            return {}
        given = {id(part): value for part, value in zip(node.args, args, strict=False)}
        return given | {id(item.value): named[item.arg] for item in node.keywords if item.arg in named}


def nowhere() -> None:
    """Code that is on no stack."""


def _call_of(stop: Stop) -> ast.expr:
    """The call of a function of torch's with what its parameters hold, as an expression in its own frame."""
    code = stop.frame.f_code
    names = list(parameters_of(stop.frame))
    method = names[:1] == ["self"]
    function: ast.expr = ast.Name(code.co_name, ast.Load())
    if method:
        function = ast.Attribute(ast.Name("self", ast.Load()), code.co_name, ast.Load())
    given = [ast.keyword(name, ast.Name(name, ast.Load())) for name in names[method:]]
    return ast.fix_missing_locations(ast.Call(function, [], given))
