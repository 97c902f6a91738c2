"""Follows calls of modules that go past ``__call__``: ``layer.forward(x)`` is a call of that layer, too."""

import contextlib
import functools
import threading
from collections.abc import Callable, Iterable, Iterator
from types import CodeType
from typing import Any, Protocol

from torch import nn

from tb_shapeplugin.tracing.compat import is_scripted
from tb_shapeplugin.tracing.following import MODULE_CALLS
from tb_shapeplugin.tracing.source import is_users_file


class ForwardHandler(Protocol):
    """Runs a module's forward and says what it gave."""

    def __call__(self, forward: Callable[..., Any], module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """``forward(*args, **kwargs)`` is the call as it would have been."""


@contextlib.contextmanager
def followed_forwards(handler: ForwardHandler, model: Any, modules: Iterable[nn.Module]) -> Iterator[None]:
    """Sends this thread's calls of the modules' ``forward`` through the handler while it lasts.

    Only where some code of the user names ``forward`` at all: each module gets an attribute of that name meanwhile.
    """
    modules = [module for module in modules if not is_scripted(module)]
    if not _code_names_forward(model) and not any(map(_class_names_forward, {type(module) for module in modules})):
        yield
        return
    before = [(module, vars(module).get("forward")) for module in modules]
    given = [_following(handler, module) for module in modules]
    for module, forward in zip(modules, given, strict=True):
        vars(module)["forward"] = forward
    try:
        yield
    finally:
        for (module, own), forward in zip(before, given, strict=True):
            if vars(module).get("forward") is not forward:
                continue  # the model set another one itself
            if own is None:
                del vars(module)["forward"]
            else:
                vars(module)["forward"] = own


def _following(handler: ForwardHandler, module: nn.Module) -> Callable[..., Any]:
    forward, thread = module.forward, threading.get_ident()

    def follow(*args: Any, **kwargs: Any) -> Any:
        if threading.get_ident() != thread or not MODULE_CALLS.active():
            return forward(*args, **kwargs)
        return handler(forward, module, args, kwargs)

    return functools.update_wrapper(follow, forward) if hasattr(forward, "__name__") else follow


_known: dict[type, bool] = {}


def _class_names_forward(kind: type) -> bool:
    """Does a method of the user, of that class or one above it, name ``forward``?"""
    known = _known.get(kind)
    if known is None:
        known = _known[kind] = any(_code_names_forward(value) for owner in kind.__mro__ for value in vars(owner).values())
    return known


def _code_names_forward(function: Any) -> bool:
    function = getattr(function, "__wrapped__", function)
    code = getattr(function, "__code__", None)
    return isinstance(code, CodeType) and is_users_file(code.co_filename) and _names_forward(code)


def _names_forward(code: CodeType) -> bool:
    return "forward" in code.co_names or any(_names_forward(inner) for inner in code.co_consts if isinstance(inner, CodeType))
