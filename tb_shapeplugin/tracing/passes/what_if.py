"""What memory would be taken at other sizes of the inputs and by other ways to train: the memory pass, run again for each."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from tb_shapeplugin.record.memory import Iteration, MemoryFacts, SizeFact, VariantFact, WhatIfFacts
from tb_shapeplugin.tracing.alteration import Alteration, InputSize, OtherSizes, Typed
from tb_shapeplugin.tracing.input_sizes import axis_names, input_sizes, other_values, step_of
from tb_shapeplugin.tracing.other_trainings import OtherTraining

# A memory pass of a twin of its own: with those tensors changed, trained in that way, or as it was asked for.
Rerun: TypeAlias = Callable[[Sequence[Alteration], OtherTraining | None], MemoryFacts]


class _CannotTell(Exception):
    """The message says why."""


def what_if(inputs: Sequence[tuple[str, Typed]], trainings: Sequence[OtherTraining], rerun: Rerun) -> WhatIfFacts:
    """The iterations at other sizes and of other trainings; what doesn't run is unknown, and says why.

    Each size is run at other values, then all sizes at once; each training at the logged sizes and at other values of each, without the
    one that checks.

    Args:
        inputs: of the model, with their names.
        trainings: other ways to train it.
        rerun: runs the memory pass.
    """
    unknown: dict[str, str] = {}
    sizes: list[tuple[InputSize, SizeFact]] = []
    for size in input_sizes(inputs):
        try:
            sizes.append((size, _size(size, inputs, rerun)))
        except _CannotTell as why:
            unknown[size.name] = str(why)
    variants = []
    for training in trainings:
        try:
            variants.append(_variant(training, sizes, rerun))
        except _CannotTell as why:
            unknown[training.name] = str(why)
    return WhatIfFacts(tuple(fact for _, fact in sizes), _together(sizes, rerun), tuple(variants), unknown)


def _size(size: InputSize, inputs: Sequence[tuple[str, Typed]], rerun: Rerun) -> SizeFact:
    reasons: list[str] = []
    for values in other_values(size):
        try:
            samples = tuple((value, _iteration(rerun([OtherSizes([(size, value)])], None))) for value in values)
        except _CannotTell as why:
            reasons.append(f"at {values[0]} instead of {size.logged} {why}")
            continue
        step = step_of(size)
        return SizeFact(size.name, size.logged, step, step, axis_names(size, inputs), samples)
    raise _CannotTell(reasons[0] if reasons else "no other value of it was tried")


def _together(sizes: Sequence[tuple[InputSize, SizeFact]], rerun: Rerun) -> tuple[tuple[int, ...], Iteration] | None:
    if len(sizes) < 2:
        return None
    values = tuple(fact.samples[0][0] for _, fact in sizes)
    try:
        return values, _iteration(rerun([OtherSizes([(size, value) for (size, _), value in zip(sizes, values, strict=True)])], None))
    except _CannotTell:
        return None


def _variant(training: OtherTraining, sizes: Sequence[tuple[InputSize, SizeFact]], rerun: Rerun) -> VariantFact:
    facts = rerun([], training)
    _iteration(facts)
    if training.kind == "optimizer":  # what it does depends on the parameters alone
        return VariantFact(training.kind, training.name, facts)
    samples = tuple(
        tuple((value, _iteration(rerun([OtherSizes([(size, value)])], training))) for value, _ in fact.samples[:-1]) for size, fact in sizes
    )
    return VariantFact(training.kind, training.name, facts, samples)


def _iteration(facts: MemoryFacts) -> Iteration:
    reason: Any = next(iter(facts.unknown.values()), None)
    if reason is not None or not facts.iterations:
        raise _CannotTell(reason or "nothing ran")
    return facts.iterations[-1]
