"""Which module is running: the tree with its paths, the stack of calls, the patch that follows them."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from types import FrameType, FunctionType, ModuleType
from typing import Any

import torch
from torch import nn

from tb_shapeplugin.base.errors import ShapesError
from tb_shapeplugin.record.trace import CallFact, ModuleFact, Outcome
from tb_shapeplugin.record.values import TensorKind
from tb_shapeplugin.tracing.arguments import leaves, tensors_in
from tb_shapeplugin.tracing.bookmarks import Undo
from tb_shapeplugin.tracing.compat import is_lazy, original_of, unwrapped
from tb_shapeplugin.tracing.source import is_users_file
from tb_shapeplugin.tracing.tensors import TensorBook

_DEEPEST_CONTAINER = 3  # plain containers in one another that are looked into for a module


@dataclass
class OpenCall:
    """A call that is being written down."""

    module: int
    number: int
    parent: int
    first_op: int
    inputs: tuple[int, ...]
    end_op: int = -1
    outputs: tuple[int, ...] = ()
    outcome: Outcome = "ok"


@dataclass
class _Node:
    path: str
    module: nn.Module | None  # None: a plain function's root
    parent: int
    type: str
    lazy: bool = False
    other_paths: list[str] = field(default_factory=list)


class ModuleBook:
    """The module tree of a model, and every call of its modules in the order in which they begin."""

    def __init__(self, model: Any, arguments: list[tuple[str, Any]], book: TensorBook) -> None:
        self._book = book
        book.name_of = self.name_of
        self._nodes: list[_Node] = []
        self._by_id: dict[int, int] = {}
        self._wrapped: set[int] = set()  # modules that torch.compile wrapped: the wrapper and they are one
        self.calls: list[OpenCall] = []
        self.stack: list[int] = []
        self._numbers: dict[int, int] = {}
        self._tensors: dict[int, tuple[tuple[int, ...], tuple[int, ...]]] = {}
        self._owners: dict[int, list[str]] = {}
        root = getattr(model, "__self__", model)  # of a bound method, its module
        if isinstance(root, nn.Module):
            self._add_tree("", root, -1)
        else:
            self._nodes.append(_Node("", None, -1, str(getattr(model, "__name__", type(model).__name__))))
            for name, value in [*_attributes_of(root), *arguments]:
                for leaf_name, leaf in leaves(value, name):
                    if isinstance(leaf, nn.Module):
                        self._add_tree(leaf_name, leaf, 0)
        for index, node in enumerate(self._nodes):
            self._add_own_tensors(index, node)

    def _add_tree(self, path: str, root: nn.Module, parent: int) -> None:
        waiting: list[tuple[str, nn.Module, int]] = [(path, root, parent)]
        while waiting:
            here, module, parent = waiting.pop()
            wrapper, module = module, original_of(module)
            known = self._by_id.get(id(module))
            if known is not None:
                self._nodes[known].other_paths.append(here)
                continue
            index = self._by_id[id(module)] = self._by_id[id(wrapper)] = len(self._nodes)
            if wrapper is not module:
                self._wrapped.add(index)
            lazy = any(tensor is not None and is_lazy(tensor) for tensor in module._parameters.values())
            self._nodes.append(_Node(here, module, parent, type(module).__name__, lazy))
            prefix = f"{here}." if here else ""
            children = [(prefix + name, child, index) for name, child in module._modules.items() if child is not None]
            waiting.extend(reversed(children))

    def _add_own_tensors(self, index: int, node: _Node) -> None:
        prefix = f"{node.path}." if node.path else ""
        if node.module is None:
            self._tensors[index] = ((), ())
            return
        parameters = self._identify(prefix, node.module._parameters, "parameter")
        buffers = self._identify(prefix, node.module._buffers, "buffer")
        self._tensors[index] = (parameters, buffers)

    def _identify(self, prefix: str, tensors: Mapping[str, torch.Tensor | None], kind: TensorKind) -> tuple[int, ...]:
        ids = []
        for name, tensor in tensors.items():
            if tensor is None:
                continue
            known = self._book.known(tensor)
            index = self._book.add(tensor, kind=kind, name=prefix + name) if known is None else known
            self._owners.setdefault(index, []).append(prefix + name)
            ids.append(index)
        return tuple(ids)

    def find(self, module: nn.Module, called: nn.Module) -> int | None:
        """The module's index; one that is not registered is looked for in the caller's attributes and variables, else None.

        Args:
            module: the one that runs.
            called: the one that was called, where another one runs for it.
        """
        known = self._by_id.get(id(module))
        if known is not None and known in self._wrapped and known == self.current_module:
            return None  # the wrapper hands the call on: one call, not two
        if known is not None or not self.stack:
            return known
        parent = self.calls[self.stack[-1]].module
        owner = self._nodes[parent].module
        name = _holding(vars(owner), module) if owner is not None else None
        name = name or _variable_holding(called)
        if name is None:
            return None
        path = f"{self._nodes[parent].path}.{name}".lstrip(".")
        first = len(self._nodes)
        self._add_tree(path, module, parent)
        for index in range(first, len(self._nodes)):
            self._add_own_tensors(index, self._nodes[index])
        return first

    def name_of(self, tensor: torch.Tensor) -> str:
        """The dotted path of what a running module holds: a parameter that came up late, as lazy ones do, or a plain attribute; else ""."""
        for call in reversed(self.stack):
            node = self._nodes[self.calls[call].module]
            held = {} if node.module is None else {**vars(node.module), **node.module._parameters}
            if name := _holding(held, tensor):
                return f"{node.path}.{name}".lstrip(".")
        return ""

    def path(self, index: int) -> str:
        """The dotted path of a module by index; "" for -1."""
        return self._nodes[index].path if index >= 0 else ""

    def with_paths(self) -> list[tuple[str, nn.Module]]:
        """Every module of the tree with its dotted path."""
        return [(node.path, node.module) for node in self._nodes if node.module is not None]

    @property
    def current_call(self) -> int:
        """Index of the running call, -1 outside any."""
        return self.stack[-1] if self.stack else -1

    @property
    def current_module(self) -> int:
        """Index of the running module, -1 outside any."""
        return self.calls[self.stack[-1]].module if self.stack else -1

    def enter(self, module: int, first_op: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
        """A call begins; gives its index."""
        number = self._numbers[module] = self._numbers.get(module, 0) + 1
        inputs = tuple(self._book.id_of(tensor) for tensor in tensors_in((args, kwargs)))
        self.calls.append(OpenCall(module, number, self.current_call, first_op, inputs))
        self.stack.append(len(self.calls) - 1)
        return self.stack[-1]

    def leave(self, call: int, end_op: int, output: Any, outcome: Outcome) -> None:
        """The call ends with that output."""
        open_call = self.calls[call]
        open_call.end_op = end_op
        open_call.outcome = outcome
        open_call.outputs = tuple(self._book.id_of(tensor) for tensor in tensors_in(output))
        while self.stack and self.stack.pop() != call:
            pass

    def bookmark(self) -> Undo:
        """What takes back all calls that begin from here on, and the modules that only came up in them."""
        calls, nodes, depth, known = len(self.calls), len(self._nodes), len(self.stack), len(self._book.facts)

        def undo() -> None:
            for call in self.calls[calls:]:
                self._numbers[call.module] -= 1
            del self.calls[calls:], self.stack[depth:]
            if len(self._nodes) > nodes:
                self._forget(nodes, known)

        return undo

    def _forget(self, nodes: int, tensors: int) -> None:
        """Forgets the modules from that number on, and the tensors that came with them."""
        del self._nodes[nodes:]
        self._by_id = {key: index for key, index in self._by_id.items() if index < nodes}
        self._wrapped = {index for index in self._wrapped if index < nodes}
        self._tensors = {index: held for index, held in self._tensors.items() if index < nodes}
        self._owners = {index: names for index, names in self._owners.items() if index < tensors}

    def call_facts(self, end_op: int, unfinished: Outcome = "failed") -> tuple[CallFact, ...]:
        """Every call; one still open ended with the run, in the way that ``unfinished`` says."""
        return tuple(
            CallFact(call.module, call.number, call.parent, call.first_op, end_op, call.inputs, (), unfinished)
            if call.end_op < 0
            else CallFact(call.module, call.number, call.parent, call.first_op, call.end_op, call.inputs, call.outputs, call.outcome)
            for call in self.calls
        )

    def module_facts(self) -> tuple[ModuleFact, ...]:
        """The tree, parents before children."""
        return tuple(self._fact(index, node) for index, node in enumerate(self._nodes))

    def _fact(self, index: int, node: _Node) -> ModuleFact:
        parameters, buffers = self._tensors[index]
        if node.module is None:
            return ModuleFact(path="", type=node.type, parent=-1, config="function")
        names = [name for index in (*parameters, *buffers) for name in self._owners[index]]
        shared = [*node.other_paths, *(name for name in names if name.rpartition(".")[0] != node.path)]
        return ModuleFact(
            path=node.path,
            type=node.type,
            parent=node.parent,
            config=_config(node.module),
            attributes=plain_attributes(node.module),
            parameters=parameters,
            trainable=tuple(i for i in parameters if self._book.facts[i].requires_grad),
            buffers=buffers,
            shared_with=tuple(dict.fromkeys(shared)),
            lazy=node.lazy,
            packed=_packed(node.module),
        )


def known_path(model: Any, path: str) -> str:
    """The path under which the tree holds the submodule that lies at that path; ShapesError where none does."""
    model = unwrapped(model)
    root = getattr(model, "__self__", model)
    paths: dict[str, nn.Module] = dict(root.named_modules(remove_duplicate=False)) if isinstance(root, nn.Module) else {}
    if path not in paths:
        near = get_close_matches(path, paths, n=3) or [name for name in paths if name][:3]
        there = f" It has {', '.join(map(repr, near))}." if near else ""
        raise ShapesError(f"only={path!r}: {type(root).__name__} has no submodule of that path.{there}")
    first: dict[int, str] = {}
    for name, module in paths.items():
        first.setdefault(id(module), name)
    return first[id(paths[path])]


def plain_attributes(module: nn.Module) -> dict[str, int | str | bool | tuple[int, ...]]:
    """A module's public attributes that are ints, texts, flags or tuples of ints: what the rules may ask for."""
    found: dict[str, int | str | bool | tuple[int, ...]] = {}
    for name, value in vars(module).items():
        if name.startswith("_"):
            continue
        if isinstance(value, (bool, int, str)):
            found[name] = value
        elif isinstance(value, (tuple, list)) and value and all(isinstance(item, int) for item in value):
            found[name] = tuple(value)
    return found


def _attributes_of(owner: Any) -> list[tuple[str, Any]]:
    """What a callable object, or the object of a bound method, holds; a function holds nothing under a name."""
    held = getattr(owner, "__dict__", None)
    return list(held.items()) if isinstance(held, dict) and not isinstance(owner, (type, FunctionType, ModuleType)) else []


def _packed(module: nn.Module) -> tuple[int, int]:
    """Elements and bytes of a quantised layer's weight and bias, which it keeps packed for its kernel."""
    packed = "_packed_params" in vars(module) or "_packed_params" in module._modules
    if not packed or not callable(getattr(type(module), "weight", None)):  # of the class: reading an attribute may run code
        return 0, 0
    try:
        read: Any = module  # torch's types know neither as methods
        given = (read.weight(), read.bias() if callable(read.bias) else read.bias)
        held = [tensor for tensor in given if isinstance(tensor, torch.Tensor)]
    except Exception:  # a layer of the user's that only looks like one
        return 0, 0
    return sum(tensor.numel() for tensor in held), sum(tensor.numel() * tensor.element_size() for tensor in held)


def _config(module: nn.Module) -> str:
    try:
        return str(module.extra_repr()).replace("\n", " ")[:200]
    except Exception:  # a user's extra_repr may do anything
        return ""


def _holding(names: Mapping[str, Any], module: nn.Module | torch.Tensor) -> str | None:
    """Under which name a module, or a tensor, is held: ``head``, ``layers[0]``, ``heads['a'][1]``."""
    public = [(name, value) for name, value in names.items() if not name.startswith("_")]
    held = next((name for name, value in public if value is module), None)
    return held or next((name + label for name, value in public if (label := _label_in(value, module, 0)) is not None), None)


def _label_in(value: Any, module: nn.Module | torch.Tensor, depth: int) -> str | None:
    """The text that picks a module out of a plain container; None where it isn't in there."""
    if value is module:
        return ""
    if depth == _DEEPEST_CONTAINER or not isinstance(value, (list, tuple, dict)):
        return None
    items = value.items() if isinstance(value, dict) else enumerate(value)
    return next((f"[{key!r}]{label}" for key, item in items if (label := _label_in(item, module, depth + 1)) is not None), None)


def _variable_holding(module: nn.Module) -> str | None:
    """The variable of the user's calling function that holds a module: a local, one of its closure, or a global that it names."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and not is_users_file(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return None
    named = {name: frame.f_globals[name] for name in frame.f_code.co_names if name in frame.f_globals}
    return _holding(frame.f_locals, module) or _holding(named, module)
