"""What a command line says of a model: ``package.module:factory`` and ``--input 8x3x224x224:float32``."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from traceback import extract_tb
from types import ModuleType
from typing import Any, Final, TypeVar

from tb_shapeplugin.base.errors import ShapesError
from tb_shapeplugin.base.units import item_bytes

_MODEL: Final = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
_INPUT: Final = re.compile(r"(?:(?P<name>[A-Za-z_]\w*)=)?(?P<shape>scalar|\d+(?:x\d+)*)(?::(?P<dtype>\w+))?")

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class InputArgument:
    """One ``--input``: what stands for a tensor; a name where it goes by keyword."""

    shape: tuple[int, ...]
    dtype: str = "float32"
    name: str = ""


@dataclass(frozen=True, slots=True)
class ModelArgument:
    """A model and what it is called with. Any: the user's own objects, handed on to capture as they are."""

    model: Any
    args: Any = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)


def parse_input(text: str) -> InputArgument:
    """The input that a text like ``8x3x224x224:float32``, ``scalar:int64`` or ``mask=8x16:bool`` tells.

    Raises:
        ShapesError: the text has another form, or names no dtype of torch.

    Example:
        >>> parse_input("tokens=8x16:int64")
        InputArgument(shape=(8, 16), dtype='int64', name='tokens')
    """
    found = _INPUT.fullmatch(text)
    if found is None:
        raise ShapesError(f"--input {text} is no input. Write sizes and dtype as 8x3x224x224:float32, a keyword as name=8x16:int64.")
    dtype = found["dtype"] or "float32"
    if item_bytes(dtype) is None:
        raise ShapesError(f"--input {text}: {dtype} is no dtype. Write it as torch names it, such as float32, bfloat16, int64 or bool.")
    shape = () if found["shape"] == "scalar" else tuple(map(int, found["shape"].split("x")))
    return InputArgument(shape, dtype, found["name"] or "")


def names_model(text: str) -> bool:
    """True for a text of the form ``package.module:factory``.

    Example:
        >>> names_model("nets.digits:make"), names_model("runs/digits")
        (True, False)
    """
    return _MODEL.fullmatch(text) is not None


def model_argument(text: str, inputs: tuple[InputArgument, ...] = ()) -> ModelArgument:
    """The model that ``package.module:factory`` names, and what it is to be called with.

    The factory is called without arguments and returns the model, ``(model, args)`` or ``(model, args, kwargs)``; a
    module that is no class is the model itself. Inputs given take the place of the factory's positional ones, and of
    the keywords that they name.

    Raises:
        ShapesError: there is no such module or factory, it raised, or it returned something else.

    Example:
        >>> model_argument("nets.digits:make", (parse_input("8x1x28x28"),)).model
    """
    made = _made(text)
    positional = tuple(_stand_in(given) for given in inputs if not given.name)
    named = {given.name: _stand_in(given) for given in inputs if given.name}
    return ModelArgument(made.model, positional or made.args, {**made.kwargs, **named})


def _stand_in(given: InputArgument) -> object:
    try:
        from tb_shapeplugin.api.specs import spec  # noqa: PLC0415  what was saved before is shown without torch
    except ModuleNotFoundError as error:
        raise ShapesError("--input needs PyTorch, which isn't installed here. Run: pip install 'tb-shapeplugin[torch]'") from error
    return spec(given.shape, given.dtype)


def _made(text: str) -> ModelArgument:
    module_name, _, path = text.partition(":")
    found = _attribute(_imported(module_name), path)
    is_model = hasattr(found, "forward") and not isinstance(found, type)
    made = found if is_model else _tried(text, found) if callable(found) else found
    parts = made if isinstance(made, tuple) else (made,)
    if not 1 <= len(parts) <= 3 or not callable(parts[0]) or (len(parts) == 3 and not isinstance(parts[2] or {}, Mapping)):
        told = f"a tuple of {', '.join(type(part).__name__ for part in parts)}" if isinstance(made, tuple) else repr(made)
        raise ShapesError(f"{text} gave {told}. It must give a model, (model, args) or (model, args, kwargs).")
    return ModelArgument(parts[0], parts[1] if len(parts) > 1 else (), (parts[2] or {}) if len(parts) > 2 else {})


def _imported(name: str) -> ModuleType:
    try:
        return _tried(f"Importing {name}", lambda: import_module(name))
    except ShapesError as error:
        missing = error.__cause__.name if isinstance(error.__cause__, ModuleNotFoundError) else None
        if missing is not None and (name == missing or name.startswith(f"{missing}.")):
            raise ShapesError(f"There is no module {missing}. Run tb-shapes in the directory that holds it, or install it.") from error
        raise


def _attribute(module: ModuleType, path: str) -> Any:  # Any: whatever the user's module holds
    found: Any = module
    for name in path.split("."):
        if not hasattr(found, name):
            callables = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
            has = f"It has {', '.join(callables[:8])}" if callables else "It has nothing that can be called"
            raise ShapesError(f"{module.__name__} has no {path}. {has}; write package.module:factory.")
        found = getattr(found, name)
    return found


def _tried(what: str, call: Callable[[], Result]) -> Result:
    """What the user's code returns; a ShapesError that says where it raised."""
    try:
        return call()
    except (Exception, SystemExit) as error:
        frame = extract_tb(error.__traceback__)[-1]
        said = " ".join(str(error).split())
        where = f"{frame.filename}:{frame.lineno}"
        raise ShapesError(f"{what} raised {type(error).__name__} at {where}: {said}. Mend it, or name another factory.") from error
