"""Keeps Python's cyclic garbage collector from walking over everything that the process holds, again and again, while we are at work.

A capture makes many small objects, which sets off full collections: a fifth of a second each where large libraries are loaded.
"""

import gc

from tb_shapeplugin.tracing.while_used import WhileUsed

_NEVER = 1 << 30  # younger generations that are collected before the oldest one is


def _disabled() -> bool:
    enabled = gc.isenabled()
    gc.disable()
    return enabled


def _enable(was_enabled: bool) -> None:
    if was_enabled:
        gc.enable()


def _kept_young() -> tuple[int, int, int]:
    thresholds = gc.get_threshold()
    gc.set_threshold(*thresholds[:2], _NEVER)
    return thresholds


def _let_grow_old(thresholds: tuple[int, int, int]) -> None:
    if gc.get_threshold()[2] == _NEVER:  # else somebody has set others meanwhile
        gc.set_threshold(*thresholds)


# No cyclic collection inside. Fakes and notes hold no memory, so nothing is lost by waiting.
paused_collection = WhileUsed(_disabled, _enable)
# No full collection inside, as a model runs for real: what it throws away in circles is collected still, while it is young.
young_collection = WhileUsed(_kept_young, _let_grow_old)
