"""Draws plants at random: one to three faults in one model, each of which alone makes plain PyTorch raise."""

import contextlib
import functools
import random
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from planting.inputs import Built, WrongInput, with_wrong_input, wrong_input
from planting.layers import Side, put_side, sides, wrong_side
from planting.statements import Ran, Site, Statement, sites, watching, written, wrong_statement
from planting.subjects import SUBJECTS, built
from planting.truth import Raised, is_users, module_stack, paths_running, raised_by

Fault: TypeAlias = Side | WrongInput | Statement

KINDS = {"input side": 35, "output side": 20, "argument": 33, "input": 12}
_COUNTS = {1: 60, 2: 25, 3: 15}
_MOST_DRAWS = 60  # for one plant


@dataclass(frozen=True)
class Planted:
    """A fault, and where plain PyTorch raises with it alone."""

    fault: Fault
    truth: Raised


@dataclass(frozen=True)
class Plant:
    """Some faults at once in one model; ``redraws`` were thrown away because nothing came of them."""

    subject: str
    faults: tuple[Planted, ...]
    redraws: int


@dataclass(frozen=True)
class Ground:
    """What can be wrong in a model."""

    layers: dict[str, list[tuple[str, str, object]]]
    statements: dict[str, list[Site]]  # by op


@contextlib.contextmanager
def with_faults(subject: str, faults: Sequence[Fault]) -> Iterator[Built]:
    """A fresh model with its arguments and these faults; those in its code last as long as the context."""
    with written([fault for fault in faults if isinstance(fault, Statement)]):
        yield fresh(subject, faults)


def fresh(subject: str, faults: Sequence[Fault]) -> Built:
    """The same once more, within the context."""
    made = built(subject)
    for fault in faults:
        if isinstance(fault, Side):
            put_side(fault, made[0])
        elif isinstance(fault, WrongInput):
            made = with_wrong_input(fault, made)
    return made


@functools.cache
def ground(subject: str) -> Ground:
    """The layers of a model, and the statements that it runs."""
    model, args, kwargs = built(subject)
    ran: Ran = {}
    with module_stack() as stack, watching(ran, is_users, paths_running(model, stack)), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model(*args, **kwargs)
    by_op: dict[str, list[Site]] = {}
    for site in sites(ran):
        by_op.setdefault(site.op, []).append(site)
    return Ground(sides(model), by_op)


def draw(seed: int, number: int, kinds: Sequence[str] = tuple(KINDS), subjects: Sequence[str] = tuple(SUBJECTS)) -> Plant:
    """The plant of that number: the same for the same seed, whichever were drawn before."""
    rng = random.Random(f"{seed}:{number}")
    redraws = 0
    while True:
        subject = rng.choice(subjects)
        (count,) = rng.choices(list(_COUNTS), list(_COUNTS.values()))
        chosen: list[Planted] = []
        for _ in range(_MOST_DRAWS):
            kind = rng.choices(kinds, [KINDS[kind] for kind in kinds])[0]
            fault = _fault(rng, subject, kind)
            truth = _truth(subject, fault) if fault is not None else None
            if fault is not None and truth is not None and not any(_meet(Planted(fault, truth), other) for other in chosen):
                chosen.append(Planted(fault, truth))
            else:
                redraws += 1
            if len(chosen) == count:
                return Plant(subject, tuple(chosen), redraws)


def _fault(rng: random.Random, subject: str, kind: str) -> Fault | None:
    here = ground(subject)
    if kind == "argument":
        return wrong_statement(rng, rng.choice(here.statements[rng.choice(list(here.statements))])) if here.statements else None
    if kind == "input":
        _, args, kwargs = built(subject)
        return wrong_input(rng, args, kwargs)
    return wrong_side(rng, kind, *rng.choice(here.layers[kind])) if here.layers[kind] else None


def _truth(subject: str, fault: Fault) -> Raised | None:
    try:
        with with_faults(subject, [fault]) as made:
            truth = raised_by(made)
        return None if truth and isinstance(fault, Statement) and "tuple index" in truth.error else truth  # of sizes, without torch
    except Exception:  # it can't be built: a size that its other arguments don't allow, code that is none
        return None


def _meet(one: Planted, other: Planted) -> bool:
    """Would the two hide or heal each other? They raise at one place, are of one layer, or change one argument or line."""
    same_place = (one.truth.file, one.truth.line, one.truth.modules) == (other.truth.file, other.truth.line, other.truth.modules)
    same_layer = isinstance(one.fault, Side) and isinstance(other.fault, Side) and one.fault.module == other.fault.module
    both_inputs = isinstance(one.fault, WrongInput) and isinstance(other.fault, WrongInput)
    at = [(fault.file, fault.line) for fault in (one.fault, other.fault) if isinstance(fault, Statement)]
    return same_place or same_layer or both_inputs or (len(at) == 2 and at[0] == at[1])
