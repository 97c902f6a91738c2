"""What each aten op is, found out once an op: it is asked of every one that runs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from tb_shapeplugin.ops.aten_flops import counts_nothing, formula_of
from tb_shapeplugin.ops.flops import Formula
from tb_shapeplugin.tracing.compat import asks_device, counts_entries, gives_quantised, has_foreign_fake, writes_statistics
from tb_shapeplugin.tracing.compat_ranks import is_collective

# Noise of shape-level runs and profilers; without it the ops equal those of a plain run.
_NOISE = ("prim.device", "profiler._record_function", "aten.detach.default")


@dataclass(frozen=True, slots=True)
class AtenOp:
    """An aten op by what matters to those who follow it."""

    name: str  # aten.addmm.default
    draws: bool = False  # random numbers
    reads: bool = False  # what it gives, or its shape, depends on values
    writes: bool = False  # into some of its operands, at least while training
    noise: bool = False
    asks_device: bool = False
    quantises: bool = False
    counts_entries: bool = False  # of a sparse tensor
    collective: bool = False  # sends to other ranks, or waits for them
    foreign_fake: bool = False  # its shape-level kernel comes from somebody else than torch
    flops: Formula | None = None  # their formula
    counts_nothing: bool = False  # has it no FLOPs, where it has no formula?
    in_place: bool = False  # gives what it was given, written to, and nothing else
    takes_functions: bool = False  # torch.cond, flex_attention


_known: dict[int, tuple[Any, AtenOp]] = {}  # by id, as ops are slow to hash; the op too, so that its id isn't used again


def aten_op(func: Any) -> AtenOp:
    """What that op is.

    Example:
        >>> aten_op(torch.ops.aten.add_.Tensor).writes
        True
    """
    known = _known.get(id(func))
    if known is None and not hasattr(func, "_schema"):
        known = _known[id(func)] = func, _taking_functions(str(func.name()))
    if known is None:
        name, tags = str(func), func.tags
        known = _known[id(func)] = (
            func,
            AtenOp(
                name=name,
                draws=torch.Tag.nondeterministic_seeded in tags,
                reads=torch.Tag.data_dependent_output in tags or torch.Tag.dynamic_output_shape in tags,
                writes=func._schema.is_mutable or writes_statistics(func),
                noise=name.startswith(_NOISE),
                asks_device=asks_device(func),
                quantises=gives_quantised(func),
                counts_entries=counts_entries(func),
                collective=is_collective(func),
                foreign_fake=has_foreign_fake(func),
                flops=formula_of(name),
                counts_nothing=counts_nothing(name),
                in_place=_is_in_place(func),
            ),
        )
    return known[1]


def _is_in_place(func: Any) -> bool:
    sides = [func._schema.arguments[:1], func._schema.returns]
    return all(len(side) == 1 and side[0].alias_info is not None and side[0].alias_info.is_write for side in sides)


def _taking_functions(name: str) -> AtenOp:
    """An operator that takes functions: it has no schema that tells anything of it, and what runs inside it isn't seen."""
    return AtenOp(name=f"higher_order.{name}", takes_functions=True)


# Words in the names of torch functions that may draw.
_DRAWING = (
    *("rand", "dropout", "bernoulli", "multinomial", "poisson", "exponential", "cauchy"),
    *("geometric", "uniform", "normal_", "rrelu", "gumbel", "attention", "lstm", "gru", "rnn"),
)


def may_draw(function: Callable[..., Any]) -> bool:
    """Does a call draw random numbers? An op says so, a torch function's name lets one suspect it."""
    if hasattr(function, "_schema"):
        return aten_op(function).draws
    name = str(getattr(function, "__name__", ""))
    return name == "normal" or any(word in name for word in _DRAWING)
