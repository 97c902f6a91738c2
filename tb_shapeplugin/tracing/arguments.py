"""What a call was given, told without torch: as values for the rules, and as literals for people."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from types import ModuleType, SimpleNamespace
from typing import Any

import torch
from torch import nn

from tb_shapeplugin.record.values import Opaque, OpCall, Operand, Value
from tb_shapeplugin.tracing.compat import is_lazy, no_function_modes, parameter_names
from tb_shapeplugin.tracing.tensors import TensorBook

_LONGEST_LITERAL = 160
_DEEPEST = 12


def children_of(value: Any) -> list[tuple[str, Any]] | None:
    """The parts of a container with the text that names each (``['image']``, ``[0]``, ``.loss``); None for a leaf.

    Lists, tuples, named tuples, mappings, dataclasses, packed sequences, namespaces, and objects with tensors for attributes
    are containers.
    """
    if isinstance(value, (torch.Tensor, str, bytes)) or value is None:
        return None
    if isinstance(value, Mapping):
        return [(f"[{key!r}]", item) for key, item in value.items()]
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return [(f".{name}", item) for name, item in zip(value._fields, value, strict=True)]
    if isinstance(value, (list, tuple)):
        return [(f"[{index}]", item) for index, item in enumerate(value)]
    if is_dataclass(value) and not isinstance(value, type):
        return [(f".{field.name}", getattr(value, field.name, None)) for field in fields(value)]
    data = getattr(value, "data", None)
    if isinstance(data, Mapping) and hasattr(value, "keys"):  # BatchEncoding and its like
        return [(f"[{key!r}]", item) for key, item in data.items()]
    held = getattr(value, "__dict__", None)
    if not isinstance(held, dict) or isinstance(value, (type, nn.Module, ModuleType)):
        return None
    if isinstance(value, SimpleNamespace) or any(isinstance(item, torch.Tensor) for item in held.values()):
        return [(f".{name}", item) for name, item in held.items() if not name.startswith("_")]
    return None


def leaves(value: Any, name: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Every leaf of a nested value with its name; what lies too deep, or in a circle, counts as a leaf."""
    parts = children_of(value) if depth < _DEEPEST else None
    if parts is None:
        yield name, value
        return
    for label, item in parts:
        yield from leaves(item, name + label, depth + 1)


def tensors_in(value: Any) -> list[torch.Tensor]:
    """Every tensor inside a nested value, in order."""
    found: list[torch.Tensor] = []
    _gather(value, found, 0)
    return found


# Asked of every op several times: what ops are mostly given goes the short way.
_PLAIN = frozenset({int, float, bool, str, type(None), torch.dtype, torch.device, slice, type(...)})


def _gather(value: Any, found: list[torch.Tensor], depth: int) -> None:
    kind = type(value)
    if kind in _PLAIN:
        return
    if isinstance(value, torch.Tensor):
        found.append(value)
    elif kind in (tuple, list, dict) and depth < _DEEPEST:
        for item in value.values() if kind is dict else value:
            _gather(item, found, depth + 1)
    else:
        found += [leaf for _, leaf in leaves(value, depth=depth) if isinstance(leaf, torch.Tensor)]


def operand(tensor: torch.Tensor, book: TensorBook) -> Operand:
    """A tensor as the rules see it."""
    index = book.id_of(tensor)
    fact = book.facts[index]
    device = "" if fact.device == "cpu" else fact.device
    return Operand(index, fact.shape, fact.dtype, device, fact.kind, fact.name)


def describe(value: Any, book: TensorBook, depth: int = 0) -> Value:
    """Any argument as a plain value; what is neither tensor, number, text nor container becomes Opaque."""
    if isinstance(value, torch.Tensor):
        return operand(value, book)
    if value is None or isinstance(value, (bool, int, float, complex, str)):
        return value
    if isinstance(value, (list, tuple)) and depth < _DEEPEST:
        return tuple(describe(item, book, depth + 1) for item in value)
    if isinstance(value, Mapping) and depth < _DEEPEST:
        return {str(key): describe(item, book, depth + 1) for key, item in value.items()}
    return Opaque(type(value).__name__, plain_text(value))


def op_call(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], book: TensorBook) -> OpCall:
    """The call as the rules see it."""
    return OpCall(name, tuple(describe(a, book) for a in args), {k: describe(v, book) for k, v in kwargs.items()})


class _Unlike(Exception):
    """An argument that no other one is known to be like."""


def signature_of(args: tuple[Any, ...], kwargs: Mapping[str, Any], book: TensorBook) -> tuple[Any, ...] | None:
    """A call's arguments by all but which tensors they are: equal ones are described and checked alike. None where nobody knows."""
    met: dict[int, int] = {}
    try:
        with no_function_modes():
            return _sign(args, book, met, 0), tuple((name, _sign(value, book, met, 0)) for name, value in kwargs.items())
    except _Unlike:
        return None


def _sign(value: Any, book: TensorBook, met: dict[int, int], depth: int) -> Any:
    kind = type(value)
    if kind is float:
        return kind, repr(value)  # -0.0 is told otherwise than 0.0, and equals it
    if kind in _PLAIN and kind is not slice:
        return kind, value
    if isinstance(value, torch.Tensor):
        if value.layout is not torch.strided or value.is_nested or is_lazy(value):
            raise _Unlike
        index = book.id_of(value)
        fact = book.facts[index]
        strides = None if value.is_contiguous() else value.stride()
        return fact.shape, fact.dtype, fact.device, fact.kind, strides, met.setdefault(index, len(met))
    if kind in (tuple, list) and depth < _DEEPEST:
        return kind, *(_sign(item, book, met, depth + 1) for item in value)
    if kind is slice:
        return kind, *(_sign(item, book, met, depth + 1) for item in (value.start, value.stop, value.step))
    raise _Unlike


def with_range(value: Value, tensor_id: int, low: int, high: int) -> Value:
    """The value with the smallest and largest entry of one of its operands filled in."""
    if isinstance(value, Operand):
        return replace(value, low=low, high=high) if value.id == tensor_id else value
    if isinstance(value, tuple):
        return tuple(with_range(item, tensor_id, low, high) for item in value)
    if isinstance(value, Mapping):
        return {key: with_range(item, tensor_id, low, high) for key, item in value.items()}
    return value


def plain_text(value: Any) -> str:
    """A literal that is the same in every process: no addresses."""
    if value is None or isinstance(value, (bool, int)):
        return repr(value)[:_LONGEST_LITERAL]
    if isinstance(value, slice):
        ends = ["" if end is None else plain_text(end) for end in (value.start, value.stop)]
        return ":".join(ends) + ("" if value.step is None else f":{value.step}")
    if value is Ellipsis:
        return "..."
    if isinstance(value, (torch.dtype, torch.device, torch.layout, torch.memory_format)):
        return str(value)
    if isinstance(value, (float, complex, str)):
        return repr(value)[:_LONGEST_LITERAL]
    named = getattr(value, "__qualname__", None)
    return str(named) if named else f"<{type(value).__name__}>"


def literal(value: Any, number_of: Callable[[torch.Tensor], int], depth: int = 0) -> str:
    """A nested argument as text, its tensors as %0, %1 …"""
    if isinstance(value, torch.Tensor):
        return f"%{number_of(value)}"
    if isinstance(value, (list, tuple)) and depth < _DEEPEST:
        opening, closing = "[]" if isinstance(value, list) else "()"
        return opening + ", ".join(literal(item, number_of, depth + 1) for item in value) + closing
    if isinstance(value, Mapping) and depth < _DEEPEST:
        return "{" + ", ".join(f"{key}: {literal(item, number_of, depth + 1)}" for key, item in value.items()) + "}"
    return plain_text(value)


def named_arguments(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], inputs: list[int], book: TensorBook
) -> tuple[tuple[str, str], ...]:
    """Arguments of one call as (name, literal), in order; ``inputs`` are the call's tensor ids."""
    numbers: dict[int, int] = {}
    for position, tensor_id in enumerate(inputs):
        numbers.setdefault(tensor_id, position)

    def number_of(tensor: torch.Tensor) -> int:
        return numbers.get(book.id_of(tensor), 0)

    names = parameter_names(function)
    spread = len(args) > len(names) > 0  # x.view(2, 3): the last name takes the rest
    named = [(names[i] if i < len(names) else str(i), value) for i, value in enumerate(args)]
    if spread and len(names) > 1 and all(isinstance(a, int) for a in args[len(names) - 1 :]):
        named = [*named[: len(names) - 1], (names[-1], args[len(names) - 1 :])]
    return tuple((name, literal(value, number_of)[:_LONGEST_LITERAL]) for name, value in [*named, *kwargs.items()])
