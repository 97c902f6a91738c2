"""Expressions of the user's, rewritten so that they run on a copy of what their names held, and call nothing but torch and modules."""

import ast
import copy
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import FrameType, FunctionType, MethodType, ModuleType
from typing import Any

import torch
from torch import nn

from tb_shapeplugin.tracing.arguments import children_of
from tb_shapeplugin.tracing.compat import unwrapped
from tb_shapeplugin.tracing.lookups import Unresolvable, only_computes, value_of

_HARMLESS = frozenset(
    {
        *(len, int, float, bool, abs, min, max, sum, round, range, list, tuple, dict),
        *(zip, enumerate, reversed, sorted, slice, isinstance),
    }
)
_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...), torch.dtype, torch.device, torch.Size, slice)
_OPERATIONS = (
    *(ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Subscript, ast.Slice, ast.Attribute),
    *(ast.Tuple, ast.List, ast.Dict, ast.Set, ast.Starred, ast.keyword),
)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)

# A value by a name that the program assigned before, and the labels that pick it out: ("out", ".logits"); None where nothing did.
Assigned = Callable[[Any], tuple[str, str] | None]


@dataclass
class Names:
    """What a program's names stand for: values that are copied for a run, and what is called."""

    values: dict[str, Any] = field(default_factory=dict)
    callables: dict[str, Any] = field(default_factory=dict)
    assigned: set[str] = field(default_factory=set)  # by the program itself

    def value(self, text: str, value: Any) -> str:
        """The name of a value; the text itself unless another value has it."""
        return self._name(self.values, text, value)

    def callable(self, text: str, value: Any) -> str:
        """The same for what is called."""
        return self._name(self.callables, text, value)

    def target(self, text: str) -> str:
        """A name that the program assigns itself."""
        name = self._free(text, {}, None)
        self.assigned.add(name)
        return name

    def _name(self, table: dict[str, Any], text: str, value: Any) -> str:
        name = self._free(text, table, value)
        table[name] = value
        return name

    def _free(self, text: str, table: dict[str, Any], value: Any) -> str:
        """The first name that nothing has yet, or that the value itself has."""
        number, name = 1, text
        while name in self.values or name in self.callables or name in self.assigned:
            if table.get(name, self) is value:
                break
            number += 1
            name = f"{text} ({number})"
        return name


class Rewriter:
    """Rewrites expressions of one frame.

    Args:
        frame: the frame.
        names: takes up what the expressions need.
        assigned: what the program assigned before.
        given: what expressions gave when they ran, by the node's id: known from the frame of what was called with it.
    """

    def __init__(self, frame: FrameType, names: Names, assigned: Assigned, given: Mapping[int, Any] | None = None) -> None:
        self._frame = frame
        self._names = names
        self._assigned = assigned
        self._given = given or {}

    def expression(self, node: ast.expr, bound: frozenset[str] = frozenset()) -> ast.expr:
        """The expression over names of the program; ``bound`` are those that a comprehension gives.

        Raises:
            Unresolvable: it would run code of the user's other than a module's.
        """
        try:
            return self._rewritten(node, bound)
        except Unresolvable:
            if id(node) not in self._given:
                raise
            return self._leaf(node, self._given[id(node)])

    def _rewritten(self, node: ast.expr, bound: frozenset[str]) -> ast.expr:
        if isinstance(node, _COMPREHENSIONS):
            return self._comprehension(node, bound)
        if isinstance(node, ast.Call):
            return self._call(node, bound)
        if isinstance(node, ast.Name) and node.id in bound:
            return node
        try:
            value = self._value(node, bound)
        except Unresolvable:
            return self._operation(node, bound)
        return self._leaf(node, value)

    def _value(self, node: ast.expr, bound: frozenset[str]) -> Any:
        if isinstance(node, (ast.Tuple, ast.List)) or any(isinstance(part, ast.Name) and part.id in bound for part in ast.walk(node)):
            raise Unresolvable("made of parts")
        return value_of(node, self._frame)

    def _leaf(self, node: ast.expr, value: Any) -> ast.expr:
        if isinstance(value, _PLAIN):
            if isinstance(value, (bool, int, float, str, type(None))):
                return _at(node, ast.Constant(value))
            return _at(node, _loaded(self._names.callable(ast.unparse(node), value)))
        known = self._assigned(value)
        if known is not None:
            return _at(node, _picked(*known))
        kept = isinstance(value, (torch.Tensor, nn.Module)) or only_computes(type(value)) or children_of(value) is not None
        if not kept or isinstance(value, (type, FunctionType, ModuleType)):
            raise Unresolvable(f"{ast.unparse(node)} is a {type(value).__name__}")
        return _at(node, _loaded(self._names.value(ast.unparse(node), value)))

    def _operation(self, node: ast.expr, bound: frozenset[str]) -> ast.expr:
        if not isinstance(node, _OPERATIONS) or not self._is_tame(node, bound):
            raise Unresolvable(ast.unparse(node))
        made = copy.copy(node)
        for name, part in ast.iter_fields(node):
            if isinstance(part, ast.expr):
                setattr(made, name, self.expression(part, bound))
            elif isinstance(part, list) and part and isinstance(part[0], ast.expr):
                setattr(made, name, [self.expression(item, bound) for item in part])
        return made

    def _is_tame(self, node: ast.expr, bound: frozenset[str]) -> bool:
        """Is that whose attribute or item is asked for one that answers without code of the user's (other than a module's)?"""
        if not isinstance(node, (ast.Attribute, ast.Subscript)):
            return True
        try:
            owner = self._value(node.value, bound)
        except Unresolvable:
            return True  # what a module or torch gave
        tame = (torch.Tensor, nn.Module, dict, list, tuple, str, *_PLAIN)
        return isinstance(owner, tame) or only_computes(type(owner))

    def _comprehension(self, node: Any, bound: frozenset[str]) -> ast.expr:
        made = copy.copy(node)
        made.generators = []
        for generator in node.generators:
            inner = copy.copy(generator)
            inner.iter = self.expression(generator.iter, bound)
            bound = bound | {part.id for part in ast.walk(generator.target) if isinstance(part, ast.Name)}
            inner.ifs = [self.expression(test, bound) for test in generator.ifs]
            made.generators.append(inner)
        for name in ("elt", "key", "value"):
            if hasattr(node, name):
                setattr(made, name, self.expression(getattr(node, name), bound))
        rewritten: ast.expr = made
        return rewritten

    def _call(self, node: ast.Call, bound: frozenset[str]) -> ast.expr:
        function, first = self._function(node.func, bound)
        made = copy.copy(node)
        made.func = function
        made.args = [*first, *(self.expression(argument, bound) for argument in node.args)]
        made.keywords = [ast.copy_location(ast.keyword(item.arg, self.expression(item.value, bound)), item) for item in node.keywords]
        return made

    def _function(self, node: ast.expr, bound: frozenset[str]) -> tuple[ast.expr, list[ast.expr]]:
        """What is called, and the arguments that come before those written."""
        if isinstance(node, ast.Attribute):
            method = self._method_of_torch(node, bound)
            if method is not None:
                return method
        try:
            value = unwrapped(self._value(node, bound))
        except Unresolvable:
            if not isinstance(node, (ast.Attribute, ast.Call)):
                raise
            return self.expression(node, bound), []  # a method of a tensor, or of what a call gives
        if isinstance(value, nn.Module):
            return self._leaf(node, value), []
        if isinstance(value, MethodType) and isinstance(value.__self__, nn.Module) and isinstance(node, ast.Attribute):
            return self._operation(node, bound), []
        harmless = _is_harmless(value) or only_computes(value) or hasattr(self._value(node, bound), "_torchdynamo_orig_callable")
        if not harmless:
            raise Unresolvable(f"{ast.unparse(node)} is code of the user's")
        return _at(node, _loaded(self._names.callable(ast.unparse(node), value))), []

    def _method_of_torch(self, node: ast.Attribute, bound: frozenset[str]) -> tuple[ast.expr, list[ast.expr]] | None:
        """A method of an optimizer or another object of torch's: its class's own, as a scheduler may have put another one before it."""
        try:
            owner = self._value(node.value, bound)
        except Unresolvable:
            return None
        if isinstance(owner, (torch.Tensor, nn.Module, ModuleType, type)) or not only_computes(type(owner)):
            return None
        method = getattr(type(owner), node.attr, None)
        if not only_computes(method):
            return None
        return _at(node, _loaded(self._names.callable(f"{type(owner).__name__}.{node.attr}", method))), [self._leaf(node.value, owner)]


def _is_harmless(value: Any) -> bool:
    apply = isinstance(getattr(value, "__self__", None), type) and issubclass(value.__self__, torch.autograd.Function)
    hashable = getattr(type(value), "__hash__", None) is not None
    return apply or getattr(value, "__module__", "") in (math.__name__, operator.__name__, "_operator") or (hashable and value in _HARMLESS)


def _loaded(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def _picked(name: str, label: str) -> ast.expr:
    tree = ast.parse(f"x{label}", mode="eval").body
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = name
    return tree


def _at(node: ast.expr, made: ast.expr) -> ast.expr:
    """What was made, all of it in the place of a node."""
    for part in ast.walk(made):
        ast.copy_location(part, node)
    return made
