"""The model's arguments: specs that stand for tensors, names of nested leaves, the call's signature."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from tb_shapeplugin.base.errors import ShapesError
from tb_shapeplugin.base.units import compact_type
from tb_shapeplugin.record.trace import Endpoint, SignatureFact
from tb_shapeplugin.tracing.arguments import leaves, plain_text
from tb_shapeplugin.tracing.tensors import TensorBook, dtype_name, shape_of

_REST = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)

# Under this key the twin's deepcopy keeps how a Spec becomes a tensor.
MAKE_TENSOR = "shapes: a tensor for a Spec"


class Spec:
    """Stands for a tensor that nobody has to make. (No dataclass: those are taken apart where arguments are nested.)"""

    __slots__ = ("device", "dtype", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> None:
        self.shape = shape
        self.dtype = dtype
        self.device = device

    def __repr__(self) -> str:
        return f"spec({compact_type(dtype_name(self.dtype), self.shape)})"

    def __deepcopy__(self, memo: dict[Any, Any]) -> Any:
        make: Callable[[Spec], torch.Tensor] | None = memo.get(MAKE_TENSOR)
        return self if make is None else make(self)


def spec(shape: Sequence[int], dtype: torch.dtype | str = torch.float32, device: torch.device | str = "cpu") -> Spec:
    """Stands for a tensor that nobody has to make; any argument of the model, nested ones too, may be one.

    Args:
        shape: the tensor's sizes, ints ≥ 0.
        dtype: its torch dtype, or the name of one: ``"int64"``.
        device: its device; none has to be there.

    Raises:
        ShapesError: sizes that are no ints or negative, or a dtype that is none of torch's.

    Example:
        >>> import torch, tb_shapeplugin as shapes
        >>> shapes.capture(torch.nn.Linear(4, 2), shapes.spec((8, 4))).completed
        True
    """
    given: Any = shape  # Any: what callers without a type checker may give
    sizes = tuple(given) if isinstance(given, (list, tuple)) else (given,)
    if not all(isinstance(size, int) and not isinstance(size, bool) and size >= 0 for size in sizes):
        raise ShapesError(f"spec: the shape is {shape!r}. Give a tuple of ints that are 0 or more, such as (8, 3, 224, 224).")
    found = getattr(torch, dtype, None) if isinstance(dtype, str) else dtype
    if not isinstance(found, torch.dtype):
        raise ShapesError(f"spec: the dtype is {dtype!r}. Give one of torch's, such as torch.float32.")
    return Spec(sizes, found, torch.device(device))


def holds_spec(value: Any) -> bool:
    """Does a nested value hold a Spec?"""
    return any(isinstance(leaf, Spec) for _, leaf in leaves(value))


def bound_names(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Every argument of the call with the name it has in the signature, ``args[1]`` where it has none."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    rest = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "args")
    named = [(positional[i] if i < len(positional) else f"{rest}[{i - len(positional)}]", value) for i, value in enumerate(args)]
    return [*named, *kwargs.items()]


def endpoints(named: list[tuple[str, Any]], book: TensorBook) -> tuple[Endpoint, ...]:
    """The leaves of named values: tensors by id, everything else by its literal."""
    found = []
    for name, value in named:
        for leaf_name, leaf in leaves(value, name):
            if isinstance(leaf, torch.Tensor):
                found.append(Endpoint(leaf_name, book.id_of(leaf)))
            else:
                found.append(Endpoint(leaf_name, literal=plain_text(leaf)))
    return tuple(found)


def mismatched_signature(function: Callable[..., Any], name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> SignatureFact | None:
    """What the callable takes beside what it was given, where they don't fit; None where they do or nobody can tell."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        pass
    else:
        return None
    parameters = list(signature.parameters.values())
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    keywords = any(p.kind is p.VAR_KEYWORD for p in parameters)
    given = {p.name for p in positional[: len(args)]} | set(kwargs)
    return SignatureFact(
        callable=name,
        signature=str(signature.replace(parameters=[p.replace(annotation=p.empty) for p in parameters], return_annotation=signature.empty)),
        given="(" + ", ".join([*map(value_text, args), *(f"{key}={value_text(value)}" for key, value in kwargs.items())]) + ")",
        takes=len(positional),
        gave=len(args) + len(kwargs),
        missing=tuple(
            p.name for p in parameters if p.default is p.empty and p.name not in given and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        ),
        unexpected=() if keywords else tuple(key for key in kwargs if key not in {p.name for p in parameters}),
    )


def value_text(value: Any) -> str:
    """An argument in few words: a tensor by its compact type, a container by its parts."""
    if isinstance(value, torch.Tensor):
        return compact_type(dtype_name(value.dtype), shape_of(value), "" if value.device.type == "cpu" else str(value.device))
    if isinstance(value, Spec):
        return compact_type(dtype_name(value.dtype), value.shape)
    if isinstance(value, (list, tuple)):
        opening, closing = "[]" if isinstance(value, list) else "()"
        return opening + ", ".join(map(value_text, value[:6])) + (", …" if len(value) > 6 else "") + closing
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {value_text(item)}" for key, item in list(value.items())[:6]) + "}"
    return plain_text(value)
