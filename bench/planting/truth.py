"""Where a model fails in plain eager mode: the exception, the innermost module, and the innermost statement of the user's."""

import contextlib
import sysconfig
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from torch import nn

from planting.inputs import Built

_NOT_USERS = (str(Path(torch.__file__).parent), __file__)
_STDLIB = sysconfig.get_path("stdlib")
_OF_SHAPES = (RuntimeError, ValueError, IndexError, AssertionError)
_OF_LISTS = ("list index out of range", "pop from empty list")


@dataclass(frozen=True)
class Raised:
    """What plain PyTorch says: the paths of the module in which it raised, the file's name and the line."""

    modules: tuple[str, ...]
    is_layer: bool  # one of torch's own, without code of the user's
    file: str
    line: int
    error: str

    def __str__(self) -> str:
        return f"{self.modules[0] or 'root'} {self.file}:{self.line} {self.error}"


def is_users(file: str) -> bool:
    """Is it a file in which a model is written?"""
    return not file.startswith(_NOT_USERS) and not file.startswith("<") and (not file.startswith(_STDLIB) or "site-packages" in file)


@contextlib.contextmanager
def module_stack() -> Iterator[list[nn.Module]]:
    """While it lasts, the modules that are being called, without a hook on any of them: hooks keep torch from its fast paths."""
    stack: list[nn.Module] = []
    plain = nn.Module.__call__

    def followed(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
        stack.append(module)
        given = plain(module, *args, **kwargs)
        del stack[stack.index(module, -1) :]
        return given

    with mock.patch.object(nn.Module, "__call__", followed):
        yield stack


def raised_by(built: Built) -> Raised | None:
    """What the model raises on its arguments that has to do with shapes; None where it runs, or raises something else."""
    model, args, kwargs = built
    with module_stack() as stack, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            torch.manual_seed(0)
            model(*args, **kwargs)
        except _OF_SHAPES as error:
            return None if str(error) in _OF_LISTS else _place(model, stack, error)
        except Exception:
            return None
    return None


def _place(model: nn.Module, stack: list[nn.Module], error: Exception) -> Raised:
    here = stack[-1] if stack else model
    paths = tuple(path for path, module in model.named_modules(remove_duplicate=False) if module is here) or ("",)
    file, line, step = "", 0, error.__traceback__
    while step is not None:
        if is_users(step.tb_frame.f_code.co_filename):
            file, line = Path(step.tb_frame.f_code.co_filename).name, step.tb_lineno
        step = step.tb_next
    is_layer = type(here).__module__.startswith("torch.nn.") and not list(here.children())
    return Raised(paths, is_layer, file, line, f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:140])


def paths_running(model: nn.Module, stack: list[nn.Module]) -> Callable[[], str]:
    """Tells the path of the module that is running."""
    paths = {id(module): path for path, module in model.named_modules()}
    return lambda: paths.get(id(stack[-1]), "") if stack else ""
