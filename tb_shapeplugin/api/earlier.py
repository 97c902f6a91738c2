"""Captures of before, as long as their model lives: an unchanged one need not run again."""

import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from tb_shapeplugin.api.captures import Capture
from tb_shapeplugin.tracing.collection import paused_collection
from tb_shapeplugin.tracing.fingerprint import Fingerprint

_LOOKED_INTO = ("cases", "loss_fn", "optimizer")  # options that are unchanged where all that they hold is
_MOST_A_MODEL = 4  # captures, with other options or inputs

_Kept = OrderedDict[str, tuple[Fingerprint, Capture]]
_kept: dict[int, tuple[weakref.ref[Any], _Kept]] = {}  # by the model's id; gone with the model


def earlier(model: Callable[..., Any], args: Any, kwargs: Any, options: Mapping[str, Any], capture: Callable[[], Capture]) -> Capture:
    """The capture of before when model, inputs, options and modes are proven unchanged since; else a new one.

    Example:
        >>> earlier(model, args, None, {}, lambda: capture(model, args))  # doctest: +SKIP
    """
    key = repr(sorted((name, value) for name, value in options.items() if name not in _LOOKED_INTO))
    roots = (model, args, kwargs, *(options.get(name) for name in _LOOKED_INTO))
    kept = _of(model)
    known = kept.get(key) if kept is not None else None
    if known is not None:
        now = _fingerprint(roots)
        if now is not None and known[0].equals(now):
            return known[1]
    captured = capture()
    if kept is not None:
        after = _fingerprint(roots)  # only now: a real run counts its writes, and takes them back
        if after is not None and after.complete:
            kept[key] = after, captured
            kept.move_to_end(key)
            while len(kept) > _MOST_A_MODEL:
                kept.popitem(last=False)
    return captured


def _fingerprint(roots: tuple[Any, ...]) -> Fingerprint | None:
    """None where an object of the user's resists being looked at: then nothing is proven, and the model runs again."""
    try:
        with paused_collection():
            return Fingerprint(*roots)
    except Exception:
        return None


def _of(model: Any) -> _Kept | None:
    """What is kept for the model; None for one that can't be watched: nobody would know when it is gone."""
    known = _kept.get(id(model))
    if known is not None and known[0]() is model:
        return known[1]
    number = id(model)

    def forget(_: Any) -> None:
        _kept.pop(number, None)

    try:
        reference = weakref.ref(model, forget)
    except TypeError:
        return None
    kept: _Kept = OrderedDict()
    _kept[number] = reference, kept
    return kept
