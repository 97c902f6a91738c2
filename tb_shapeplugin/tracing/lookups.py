"""What names and attributes in a stopped frame stand for, found without running any code of the user's."""

import ast
import builtins
import dis
import inspect
from collections.abc import Mapping
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any

import torch
from torch import nn

from tb_shapeplugin.tracing.source import is_torchs_file

# Parts of torch that do more than compute: files, processes, other ranks.
_FAR_REACHING = (
    *("torch.distributed", "torch.utils.data", "torch.serialization", "torch.hub", "torch.multiprocessing", "torch.utils.tensorboard"),
    *("torch.utils.cpp_extension", "torch.profiler", "torch.random", "torch.onnx", "torch.package"),
)
_CONTAINERS = (dict, list, tuple, str, range, torch.Size)
_ARITHMETIC: dict[type[ast.AST], str] = {
    ast.Add: "__add__", ast.Sub: "__sub__", ast.Mult: "__mul__", ast.FloorDiv: "__floordiv__", ast.Mod: "__mod__", ast.USub: "__neg__",
}  # fmt: skip


class Unresolvable(Exception):
    """Nobody can tell without running code of the user's, or the value doesn't exist any more."""


def value_of(node: ast.expr, frame: FrameType) -> Any:
    """The value of an expression of names, attributes, subscripts, literals and arithmetic of ints.

    Raises:
        Unresolvable: it holds a call, a property, or anything else that would run code; so does what is done to a tensor.

    Example:
        >>> value_of(ast.parse("batch['image']", mode="eval").body, frame)  # doctest: +SKIP
        tensor(...)
    """
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return _named(node.id, frame)
    if isinstance(node, ast.Attribute):
        return attribute_of(value_of(node.value, frame), node.attr)
    if isinstance(node, ast.Subscript):
        return _item_of(value_of(node.value, frame), node.slice, frame)
    if isinstance(node, (ast.Tuple, ast.List)) and not any(isinstance(item, ast.Starred) for item in node.elts):
        values = [value_of(item, frame) for item in node.elts]
        return tuple(values) if isinstance(node, ast.Tuple) else values
    if isinstance(node, ast.BinOp):
        return _computed(node.op, value_of(node.left, frame), value_of(node.right, frame))
    if isinstance(node, ast.UnaryOp):
        return _computed(node.op, value_of(node.operand, frame))
    raise Unresolvable(ast.unparse(node))


def _named(name: str, frame: FrameType) -> Any:
    for names in (frame.f_locals, frame.f_globals, vars(builtins)):
        if name in names:
            return names[name]
    raise Unresolvable(name)


def _computed(operator: ast.AST, *numbers: Any) -> int:
    method = _ARITHMETIC.get(type(operator))
    if method is None or any(type(number) is not int for number in numbers):
        raise Unresolvable(type(operator).__name__)
    try:
        result: int = getattr(int, method)(*numbers)
    except ArithmeticError as error:
        raise Unresolvable(str(error)) from error
    return result


def _item_of(owner: Any, place: ast.expr, frame: FrameType) -> Any:
    if isinstance(place, ast.Slice):
        raise Unresolvable("a slice")
    key = value_of(place, frame)
    if isinstance(owner, (nn.ModuleList, nn.Sequential)) and type(key) is int:
        owner = list(owner._modules.values())
    elif isinstance(owner, nn.ModuleDict):
        owner = owner._modules
    getter = getattr(type(owner), "__getitem__", None)
    if type(key) not in (int, str, bool) or not any(getter is kind.__getitem__ for kind in _CONTAINERS):
        raise Unresolvable(f"an item of a {type(owner).__name__}")
    try:
        return owner[key]
    except LookupError as error:
        raise Unresolvable(str(error)) from error


def attribute_of(owner: Any, name: str) -> Any:
    """An attribute as it is stored; Unresolvable for a property, for what a class's own ``__getattr__`` gives, and for a tensor's.

    A method that is torch's own comes bound.
    """
    if isinstance(owner, torch.Tensor):
        raise Unresolvable(f"{name} of a tensor")
    if isinstance(owner, ModuleType):
        return _stored(vars(owner), name)
    for table in ("_parameters", "_buffers", "_modules") if isinstance(owner, nn.Module) else ():
        if name in vars(owner).get(table, {}):
            return vars(owner)[table][name]
    found = inspect.getattr_static(owner, name, Unresolvable)
    if isinstance(found, (property, staticmethod, classmethod)) or found is Unresolvable:
        if isinstance(owner, type) and issubclass(owner, torch.autograd.Function) and name == "apply":
            return owner.apply
        raise Unresolvable(name)
    if isinstance(found, FunctionType) and not isinstance(owner, type) and name not in getattr(owner, "__dict__", {}):
        return MethodType(found, owner)
    if hasattr(type(found), "__get__") and not isinstance(found, (FunctionType, BuiltinFunctionType, MethodType)):
        if type(found).__name__ not in ("member_descriptor", "_tuplegetter", "tuplegetter"):
            raise Unresolvable(name)
        return found.__get__(owner, type(owner))
    return found


def _stored(names: Mapping[str, Any], name: str) -> Any:
    if name not in names:
        raise Unresolvable(name)
    return names[name]


def only_computes(function: Any) -> bool:
    """Is this a function, method or class of torch's own that touches neither files nor processes?"""
    function = getattr(function, "__func__", function)
    home = str(getattr(function, "__module__", None))
    code = getattr(inspect.unwrap(function) if isinstance(function, FunctionType) else function, "__code__", None)
    own = home.partition(".")[0] == "torch" if code is None else is_torchs_file(code.co_filename)
    return own and not f"{home}.".startswith(tuple(f"{far}." for far in _FAR_REACHING))


def parameters_of(frame: FrameType) -> dict[str, Any]:
    """What a frame's function was called with, by name: what its parameters hold now."""
    code, held = frame.f_code, frame.f_locals
    count = code.co_argcount + code.co_kwonlyargcount
    return {name: held[name] for name in code.co_varnames[:count] if name in held}


def assigns_parameters(code: CodeType) -> bool:
    """Does a function assign to its own parameters, so that they may no longer hold what it was called with?"""
    parameters = set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    stores = (step.argval for step in dis.get_instructions(code) if step.opname.startswith(("STORE_FAST", "STORE_DEREF", "DELETE_FAST")))
    return any(not parameters.isdisjoint(names if isinstance(names, tuple) else (names,)) for names in stores)
