"""Statements of the user's as a program that runs anew: the call that failed, and before it what made its operands, the model's call."""

import ast
import contextlib
import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import torch

from tb_shapeplugin.tracing.arguments import leaves
from tb_shapeplugin.tracing.compat import unwrapped
from tb_shapeplugin.tracing.lookups import Unresolvable, value_of
from tb_shapeplugin.tracing.rewriting import Names, Rewriter
from tb_shapeplugin.tracing.source import is_torchs_file, is_users_file
from tb_shapeplugin.tracing.statements import Stop, contexts_around, earlier_statements
from tb_shapeplugin.tracing.subject import Subject

_RESULT = "what the last statement gives"
_MOST_STEPS = 12  # statements before the failing one
_CONTEXTS = (torch.autocast, torch.no_grad, torch.enable_grad, torch.inference_mode, torch.set_grad_enabled)


class Fragment:
    """The program as a callable: its keyword arguments are what its names hold. The code is in the user's files, line by line."""

    __slots__ = ("__name__", "_callables", "_codes")

    def __init__(self, name: str, codes: Sequence[CodeType], callables: dict[str, Any]) -> None:
        self.__name__ = name
        self._codes = tuple(codes)
        self._callables = callables

    def __call__(self, /, **values: Any) -> Any:
        """What the last statement gives."""
        names = {**values, **self._callables}
        for code in self._codes:
            exec(code, names)
        return names.get(_RESULT)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Fragment":
        return self


@dataclass(frozen=True)
class _Definition:
    """A statement that assigned a value that is still there."""

    depth: int  # of its frame
    statement: ast.Assign
    target: str  # that holds the value
    label: str  # that picks it out of the target: "['logits']"
    writers: tuple[ast.stmt, ...]  # statements after it that wrote to the value, or went backward from it


@dataclass
class Program:
    """Makes a Fragment of one expression in the innermost of some frames.

    Args:
        stops: the user's frames, the outermost first.
        model: what the user watches; an optimizer's parameters are found in it.
        given: what parts of the last statement gave, as ``Rewriter`` takes it.
    """

    stops: Sequence[Stop]
    model: Any
    given: Mapping[int, Any] = field(default_factory=dict)
    _names: Names = field(default_factory=Names)
    _steps: list[tuple[int, int, CodeType]] = field(default_factory=list)  # depth and line, which is the order in which they run
    _definitions: dict[int, _Definition] = field(default_factory=dict)
    _keys: dict[tuple[int, str], str] = field(default_factory=dict)  # depth and target → its name in the program
    _made: set[int] = field(default_factory=set)  # ids of statements that are steps, or are becoming one

    def __post_init__(self) -> None:
        for depth in reversed(range(len(self.stops))):
            self._define_those_of(depth)

    def subject(self, name: str, last: ast.stmt | ast.expr, torchs: Stop | None = None) -> Subject:
        """The program that ends with a statement, or an expression, as what can be examined.

        Args:
            name: of the model in the tab.
            last: it, in the innermost frame.
            torchs: the frame of torch's in which it stands instead; it then runs in the place of the innermost user's statement.

        Raises:
            Unresolvable: it would run code of the user's other than modules.
        """
        depth = len(self.stops) - 1
        frame = (torchs or self.stops[depth]).frame
        rewriter = Rewriter(frame, self._names, self._assigned if torchs is None else lambda _: None, self.given)
        code = self._final(last, rewriter)
        self._call_the_model()
        if torchs is not None:
            for node in ast.walk(code):
                if isinstance(node, (ast.stmt, ast.expr)):
                    node.lineno = node.end_lineno = self.stops[depth].line
                    node.col_offset = node.end_col_offset = 0
        before = [step for _, _, step in sorted(self._steps, key=lambda step: step[:2])]
        steps = [*before, self._compiled(code, depth, self.stops[depth].line)]
        values = dict(self._names.values)
        if any(isinstance(value, torch.optim.Optimizer) for value in values.values()):
            values.setdefault("model", self.model)  # so that its parameters are the same ones, gradients and all
        return Subject(name, Fragment(function_of(self.stops[depth]), steps, self._names.callables), (), values)

    def _call_the_model(self) -> None:
        """What called the model last comes before, too, also where nobody can tell what became of its output."""
        for definition in self._definitions.values():
            frame = self.stops[definition.depth].frame
            for node in ast.walk(definition.statement.value):
                with contextlib.suppress(Unresolvable):
                    if isinstance(node, ast.Call) and unwrapped(value_of(node.func, frame)) is self.model:
                        self._make(definition)
                        return

    def _final(self, last: ast.stmt | ast.expr, rewriter: Rewriter) -> ast.stmt:
        if isinstance(last, ast.AugAssign):
            target = rewriter.expression(_loaded(last.target))
            if isinstance(target, ast.Name):
                made = ast.AugAssign(_stored(target), last.op, rewriter.expression(last.value))
                return ast.copy_location(made, last)
        if isinstance(last, ast.Assign) and isinstance(last.targets[0], (ast.Subscript, ast.Attribute)):
            written = rewriter.expression(_loaded(last.targets[0]))
            if isinstance(written, (ast.Subscript, ast.Attribute)):  # of a tensor, which takes the value
                return ast.copy_location(ast.Assign([_stored(written)], rewriter.expression(last.value)), last)
        value = last if isinstance(last, ast.expr) else _expression_of(last)
        if value is None:
            raise Unresolvable(f"a {type(last).__name__}")
        targets: list[ast.expr] = [ast.copy_location(ast.Name(_RESULT, ast.Store()), value)]
        if isinstance(last, ast.Assign) and isinstance(last.targets[0], (ast.Tuple, ast.List)):
            targets.append(self._assigned_to(last.targets[0])[0])  # what is unpacked has to fit
        return ast.copy_location(ast.Assign(targets, rewriter.expression(value)), value)

    def _assigned_to(self, target: ast.expr) -> tuple[ast.expr, dict[str, str]]:
        """A target over names of the program, and which name stands for what."""
        made, keys = copy.deepcopy(target), {}
        for part in _parts_of(made):
            text = ast.unparse(part)
            keys[text] = self._names.target(text)
            made = _replaced(made, part, ast.copy_location(ast.Name(keys[text], ast.Store()), part))
        return made, keys

    def _define_those_of(self, depth: int) -> None:
        stop = self.stops[depth]
        writers: dict[str, list[ast.stmt]] = {}
        seen: set[str] = set()
        for statement in earlier_statements(stop):
            written = _written_by(statement)
            if written is not None:
                writers.setdefault(written, []).append(statement)
            for target in _targets_of(statement):
                text = ast.unparse(target)
                if text in seen:
                    continue
                seen.add(text)
                with contextlib.suppress(Unresolvable):
                    value = value_of(_loaded(target), stop.frame)
                    if _still_holds(statement, value):
                        self._define(value, depth, statement, text, tuple(writers.get(text, ())))

    def _define(self, value: Any, depth: int, statement: Any, target: str, writers: tuple[ast.stmt, ...]) -> None:
        parts = [(label, leaf) for label, leaf in leaves(value) if isinstance(leaf, torch.Tensor)]
        for label, part in [("", value), *parts] if parts else []:
            self._definitions.setdefault(id(part), _Definition(depth, statement, target, label, writers))

    def _assigned(self, value: Any) -> tuple[str, str] | None:
        definition = self._definitions.get(id(value))
        if definition is None:
            return None
        self._make(definition)
        key = self._keys.get((definition.depth, definition.target))
        return None if key is None else (key, definition.label)

    def _make(self, definition: _Definition) -> None:
        """Makes a statement a step of the program, once; one that can't be made is left out."""
        if id(definition.statement) not in self._made:
            self._made.add(id(definition.statement))
            with contextlib.suppress(Unresolvable):
                self._add(definition)

    def _add(self, definition: _Definition) -> None:
        if len(self._made) > _MOST_STEPS:
            raise Unresolvable("too far back")
        depth, statement = definition.depth, definition.statement
        rewriter = Rewriter(self.stops[depth].frame, self._names, self._assigned)
        before = copy.copy(self._names.values)
        try:
            value = rewriter.expression(statement.value)
        except Unresolvable:
            self._names.values = before
            raise
        targets = []
        for target in statement.targets:
            made, keys = self._assigned_to(target)
            self._keys.update({(depth, text): key for text, key in keys.items()})
            targets.append(made)
        assign = ast.copy_location(ast.Assign(targets, value), statement)
        self._steps.append((depth, statement.lineno, self._compiled(assign, depth, statement.lineno)))
        for writer in definition.writers:
            with contextlib.suppress(Unresolvable):
                self._steps.append((depth, writer.lineno, self._compiled(self._final(writer, rewriter), depth, writer.lineno)))

    def _compiled(self, statement: ast.stmt, depth: int, line: int) -> CodeType:
        """The statement in the user's file, inside the ``with`` blocks of torch's that it stands in, those of the callers too."""
        for at in reversed(range(depth + 1)):
            stop = self.stops[at]
            for context in reversed(contexts_around(stop, line if at == depth else stop.line)):
                expression = context_in(context, stop, self._names)
                if expression is not None:
                    statement = ast.copy_location(ast.With([ast.withitem(expression)], [statement]), statement)
        stop = self.stops[depth]
        code = compile(ast.fix_missing_locations(ast.Module([statement], [])), stop.filename, "exec", dont_inherit=True)
        names = {"co_name": stop.frame.f_code.co_name}
        if hasattr(stop.frame.f_code, "co_qualname"):  # from Python 3.11
            names["co_qualname"] = stop.frame.f_code.co_qualname
        return code.replace(**names)  # type: ignore[arg-type]  # of texts alone


def function_of(stop: Stop) -> str:
    """What the tree of a program calls the function that it was taken from."""
    name = stop.frame.f_code.co_name
    return "the loop" if name == "<module>" else name


def contexts_of(stops: Sequence[Stop], *, decorators_alone: bool = False) -> tuple[contextlib.AbstractContextManager[Any], ...]:
    """The modes of torch's that were on in the innermost of some frames: the ``with`` blocks and decorators around it."""
    found: list[contextlib.AbstractContextManager[Any]] = []
    for stop in stops:
        factory = stop.frame.f_locals.get("ctx_factory")  # of torch's decorator
        if factory is not None and is_torchs_file(stop.filename):
            found.append(factory())
        elif is_users_file(stop.filename) and not decorators_alone:
            for node in contexts_around(stop, stop.line):
                names = Names()
                expression = context_in(node, stop, names)
                if expression is not None and not names.values:
                    code = compile(ast.fix_missing_locations(ast.Expression(expression)), stop.filename, "eval", dont_inherit=True)
                    found.append(eval(code, dict(names.callables)))
    return tuple(found)


def context_in(node: ast.expr, stop: Stop, names: Names) -> ast.expr | None:
    """A mode of torch's as an expression of a program, None for any other context."""
    with contextlib.suppress(Unresolvable):
        value = value_of(node.func if isinstance(node, ast.Call) else node, stop.frame)
        if isinstance(value, _CONTEXTS):
            return ast.copy_location(ast.Name(names.callable(ast.unparse(node), copy.copy(value)), ast.Load()), node)
        if isinstance(node, ast.Call) and isinstance(value, type) and issubclass(value, _CONTEXTS):
            return Rewriter(stop.frame, names, lambda _: None).expression(node)
    return None


def _expression_of(statement: ast.stmt) -> ast.expr | None:
    """What a statement computes: its value, its test, what it loops over."""
    for name in ("value", "test", "iter", "exc"):
        part = getattr(statement, name, None)
        if isinstance(part, ast.expr):
            return part
    return None


def _targets_of(statement: ast.stmt) -> list[ast.expr]:
    if not isinstance(statement, ast.Assign):
        return []
    return [part for target in statement.targets for part in _parts_of(target)]


def _still_holds(statement: ast.stmt, value: Any) -> bool:
    """Did the statement give this value? One that wrote an empty list, or a zero, was followed by others in between."""
    made = statement.value if isinstance(statement, ast.Assign) else None
    if isinstance(made, (ast.List, ast.Set, ast.Dict)):
        return len(made.keys if isinstance(made, ast.Dict) else made.elts) == len(value)
    if isinstance(made, ast.Call) and not made.args and not made.keywords and isinstance(value, (list, dict)):
        return not value
    return not isinstance(made, (ast.Constant, ast.UnaryOp))


def _written_by(statement: ast.stmt) -> str | None:
    """What a statement changes in place, or goes backward from: ``x += 1``, ``x.relu_()``, ``loss.backward()``."""
    if isinstance(statement, ast.AugAssign):
        return ast.unparse(statement.target)
    function = statement.value.func if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) else None
    if isinstance(function, ast.Attribute) and (function.attr == "backward" or function.attr.endswith("_")):
        return ast.unparse(function.value)
    return None


def _parts_of(target: ast.expr) -> list[ast.expr]:
    if isinstance(target, (ast.Tuple, ast.List)):
        return [part for item in target.elts for part in _parts_of(item)]
    return _parts_of(target.value) if isinstance(target, ast.Starred) else [target]


def _replaced(tree: ast.expr, part: ast.expr, made: ast.expr) -> ast.expr:
    """The target with one of its parts replaced."""
    if tree is part:
        return made
    if isinstance(tree, (ast.Tuple, ast.List)):
        tree.elts = [_replaced(item, part, made) for item in tree.elts]
    elif isinstance(tree, ast.Starred):
        tree.value = _replaced(tree.value, part, made)
    return tree


def _loaded(target: ast.expr) -> ast.expr:
    made = copy.deepcopy(target)
    for node in ast.walk(made):
        if hasattr(node, "ctx"):
            node.ctx = ast.Load()
    return made


def _stored(target: ast.expr) -> Any:
    """The same expression as something to be assigned to."""
    made = copy.copy(target)
    made.ctx = ast.Store()  # type: ignore[attr-defined]  # of names and subscripts, which have one
    return made
