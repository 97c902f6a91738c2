"""Failures outside torch functions: a module's own check, a wrong call, an unpacking, the user's raise."""

import ast
import re
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch
from torch import nn

from tb_shapeplugin.record.trace import SignatureFact
from tb_shapeplugin.record.values import OpCall
from tb_shapeplugin.tracing.arguments import describe, op_call
from tb_shapeplugin.tracing.inputs import mismatched_signature
from tb_shapeplugin.tracing.source import frames_of, innermost_user_frame, is_users_file
from tb_shapeplugin.tracing.syntax import syntax_tree
from tb_shapeplugin.tracing.tensors import TensorBook
from tb_shapeplugin.tracing.torchs_checks import torchs_check

# Where torch raises for what the user's own class lacks.
_ON_BEHALF = ("__getattr__", "_forward_unimplemented")
UNPACK, SIZE, CALL, RAISE, ERROR = "python.unpack", "python.size", "python.call", "python.raise", "python.error"


def python_failure(
    error: Exception, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], book: TensorBook
) -> tuple[OpCall, SignatureFact | None]:
    """What failed when a module (or plain function) raised without a torch function having raised.

    The op's name is that of the innermost thing at fault: ``torch.nn.LSTM`` for its own check, ``torch.nn.Linear.__init__``
    in a constructor, ``torch.nn.functional.linear`` where an argument is no tensor, ``python.call``, ``python.unpack``,
    ``python.size`` for ``x.shape[3]`` of an axis that isn't there, ``python.raise`` for the user's own raise or assert, else
    ``python.error``.
    """
    frames = frames_of(error.__traceback__)
    frame = innermost_user_frame(error.__traceback__)
    text = str(error)
    if isinstance(error, TypeError):
        signature = mismatched_signature(*_callable(target), args, kwargs)
        if signature is not None:
            return op_call(CALL, args, kwargs, book), signature
        argument = re.match(r"(\w+)\(\)(?:: argument| received an invalid combination)", text)
        if argument:
            return op_call(_function_name(argument.group(1)), args, kwargs, book), None
        if "argument" in text:
            return op_call(CALL, args, kwargs, book), None
    deepest = frames[-1] if frames else None
    if deepest is None or is_users_file(deepest.f_code.co_filename) or deepest.f_code.co_name in _ON_BEHALF:
        return _users_failure(error, text, frame, args, kwargs, book), None
    return torchs_check(frames, target, args, kwargs, book), None


def _callable(target: Any) -> tuple[Callable[..., Any], str]:
    if isinstance(target, nn.Module):
        return target.forward, f"{type(target).__name__}.forward"
    return target, getattr(target, "__qualname__", type(target).__name__)


def _function_name(name: str) -> str:
    for home, prefix in ((torch.nn.functional, "torch.nn.functional"), (torch, "torch"), (torch.Tensor, "torch.Tensor")):
        if hasattr(home, name):
            return f"{prefix}.{name}"
    return name


def _users_failure(
    error: Exception, text: str, frame: FrameType | None, args: tuple[Any, ...], kwargs: dict[str, Any], book: TensorBook
) -> OpCall:
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    if isinstance(error, ValueError) and "unpack" in text and numbers:
        value, items = _unpacked(frame)
        return OpCall(UNPACK, (describe(value, book), numbers[0], numbers[1] if len(numbers) > 1 else items))
    if isinstance(error, IndexError) and text.startswith("tuple index"):
        tensor, index = _size_asked_for(frame)
        if tensor is not None:
            return OpCall(SIZE, (describe(tensor, book), index))
    if isinstance(error, AttributeError) and (error.obj is None or isinstance(error.obj, (tuple, list, dict))):
        return OpCall(ERROR, (describe(error.obj, book),))
    statement = _statement(frame)
    return op_call(RAISE if isinstance(statement, (ast.Raise, ast.Assert)) else ERROR, args, kwargs, book)


def _statement(frame: FrameType | None) -> ast.stmt | None:
    if frame is None:
        return None
    tree = syntax_tree(frame.f_code.co_filename)
    covering = [n for n in ast.walk(tree) if isinstance(n, ast.stmt) and n.lineno <= frame.f_lineno <= (n.end_lineno or n.lineno)]
    return min(reversed(covering), key=lambda n: (n.end_lineno or n.lineno) - n.lineno, default=None)  # of equally short ones the innermost


def _unpacked(frame: FrameType | None) -> tuple[Any, int | None]:
    """What ``a, b = x.shape`` (or ``x.size()``) unpacked: the tensor whose axes they are; else the value, and how many items it has."""
    statement = _statement(frame)
    source = statement.value if isinstance(statement, ast.Assign) else None
    if isinstance(source, ast.Call) and not source.args:
        source = source.func
    if isinstance(source, ast.Attribute) and source.attr in ("shape", "size"):
        return _looked_up(source.value, frame), None
    value = _looked_up(source, frame)
    if isinstance(value, torch.Tensor):
        return value, value.shape[0] if value.dim() else None
    return value, len(value) if isinstance(value, (tuple, list)) else None


def _size_asked_for(frame: FrameType | None) -> tuple[torch.Tensor | None, int]:
    """The tensor, and the axis that it doesn't have, of ``x.shape[2]`` or ``x.size()[2]`` in the statement that failed."""
    statement = _statement(frame)
    for node in ast.walk(statement) if statement is not None else ():
        owner, index = (node.value, _integer(node.slice)) if isinstance(node, ast.Subscript) else (None, None)
        if isinstance(owner, ast.Call) and not owner.args:
            owner = owner.func
        if isinstance(owner, ast.Attribute) and owner.attr in ("shape", "size") and index is not None:
            tensor = _looked_up(owner.value, frame)
            if isinstance(tensor, torch.Tensor) and not -tensor.dim() <= index < tensor.dim():
                return tensor, index
    return None, 0


def _integer(node: ast.expr) -> int | None:
    value = ast.literal_eval(node) if isinstance(node, (ast.Constant, ast.UnaryOp)) else None
    return value if isinstance(value, int) else None


def _looked_up(node: ast.expr | None, frame: FrameType | None) -> Any:
    """The value of a name or of an attribute chain on one, without running any code of the user; None otherwise."""
    if frame is None:
        return None
    if isinstance(node, ast.Name):
        return frame.f_locals.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = _looked_up(node.value, frame)
        if isinstance(owner, nn.Module):
            return vars(owner).get(node.attr, owner._parameters.get(node.attr, owner._buffers.get(node.attr)))
    return None
