"""Going on past what raised: an output is assumed in its place, one of several alternatives as the reading says."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import torch
from torch import nn

from tb_shapeplugin.ops.rules import gives, requires
from tb_shapeplugin.record.site import Site, Statement
from tb_shapeplugin.record.values import Shape
from tb_shapeplugin.tracing.arguments import tensors_in
from tb_shapeplugin.tracing.compat import no_function_modes
from tb_shapeplugin.tracing.eager import writes_first_operand
from tb_shapeplugin.tracing.going_on import GoneOn, RaisedModule, RaisedOp
from tb_shapeplugin.tracing.passes.changed_inputs import ChangedInput, changed_inputs, integers, unique
from tb_shapeplugin.tracing.passes.once_more import Trials, as_its_input, called_with, with_another_tensor
from tb_shapeplugin.tracing.substitution import substituted
from tb_shapeplugin.tracing.tensors import shape_of
from tb_shapeplugin.tracing.values import only_trying

# Reads and conversions: what comes out of them is no tensor that could be assumed.
_NEVER = {"__get__", "__bool__", "item", "__index__", "__len__", "size", "tolist", "numpy", "__float__", "__int__"}
_COMPARISONS = {
    *("gt", "ge", "lt", "le", "eq", "ne", "greater", "greater_equal", "less", "less_equal", "not_equal", "isclose"),
    *("logical_and", "logical_or", "logical_xor", "__gt__", "__ge__", "__lt__", "__le__", "__eq__", "__ne__"),
}
_RECOVERABLE = (RuntimeError, ValueError, IndexError, TypeError, AssertionError)
_MOST_REPAIRS = 400
_MOST_CALLS = 2000
# Kinds whose wrong size is summed over: what comes out is as large whichever side is right.
_SURE = ("linear_in_features", "conv_channels", "matmul_dims", "rnn_input", "attn_layout", "index_range", "dtype", "device")


# Which alternative is taken where a call fails, by its site or, for all modules that run it, its statement; elsewhere it is the first.
Choice: TypeAlias = Mapping[Site | Statement, int]


@dataclass(frozen=True)
class Reading:
    """How a run that fails is to be read; ``insists`` holds calls in a try of the user whose handler lets their error through."""

    choice: Choice = field(default_factory=dict)
    insists: frozenset[Site] = frozenset()

    def alternative(self, site: Site | None) -> int:
        """The number of the alternative that is taken at a site."""
        return 0 if site is None else self.choice.get(site, self.choice.get(site.statement, 0))


@dataclass
class GoOn:
    """A Recovery that assumes outputs: by the rules of ops, else by the smallest change of operands that makes the call run.

    With ``go_on=False`` it only asks eager for its words. The run leaves in ``escaped`` where a handler of the user let an error
    through, in ``guessed`` which modules it called once more, and with what, in ``gave_up`` whether it left one that it could have.
    """

    reading: Reading = Reading()
    go_on: bool = True
    escaped: set[Site] = field(default_factory=set)
    guessed: dict[Site, tuple[Shape, ...]] = field(default_factory=dict)  # what modules were called with once more
    gave_up: bool = False  # was there one that it could have called once more, and didn't?
    _calls_left: int = _MOST_CALLS  # of modules, to find inputs that one accepts

    def insists(self, site: Site) -> bool:
        """Is the run to go on there although the user's code has a handler around it?"""
        return site in self.reading.insists

    def after_op(self, raised: RaisedOp) -> GoneOn | None:
        """What stands in for the output of a torch function that raised; None where nothing plausible is found."""
        name = getattr(raised.function, "__name__", "")
        tensors = tensors_in((raised.args, raised.kwargs))
        if name in _NEVER or not isinstance(raised.error, _RECOVERABLE) or not tensors:
            return None
        like = _alike(tensors)
        if raised.let_through and self.go_on:
            return GoneOn(_of_dtype(raised.output, like), tuple(shape_of(t) for t in tensors_in(raised.output)))
        said = raised.said if isinstance(raised.said, _RECOVERABLE) and not isinstance(raised.said, NotImplementedError) else None
        ended = GoneOn(None, (), said=said, ends=True)
        if not self.go_on:
            return ended
        options = [GoneOn(_shaped_as(name, shapes, like, raised), shapes) for shapes in gives(raised.call)] or list(_repaired_calls(raised))
        if not options:
            return ended
        taken = options[min(self.reading.alternative(raised.site), len(options) - 1)]
        certain = len(options) == 1 and taken.certain and _is_sure(raised)
        return replace(taken, alternatives=len(options), certain=certain, said=said)

    def after_module(self, raised: RaisedModule) -> GoneOn | None:
        """What stands in for a module that raised: its output on inputs that it accepts, or else what it is called with once more."""
        if not self.go_on or not isinstance(raised.error, _RECOVERABLE) or isinstance(raised.error, RecursionError):
            return None
        if raised.is_root and raised.call is None:
            return None
        with no_function_modes():
            accepted, further = self._tried(raised) if isinstance(raised.module, nn.Module) else (None, [])
            if accepted is not None:
                return accepted
            options = list(with_another_tensor(raised)) if raised.made else further
            chosen = self.reading.alternative(raised.site)
            if chosen >= len(options) or raised.site is None:
                self.gave_up |= bool(options)
                return None if raised.is_root else as_its_input(raised)
            self.guessed[raised.site] = options[chosen].shapes
            return replace(options[chosen], alternatives=len(options) + 1)  # the last one is to end there

    def _tried(self, raised: RaisedModule) -> tuple[GoneOn | None, list[GoneOn]]:
        """What a module gives on changed inputs that it accepts; where there are none, those with which it gets furthest."""
        size = sum(1 for _ in raised.module.modules())
        trials = Trials(raised)
        for changed in changed_inputs(raised):
            self._calls_left -= size
            if self._calls_left < 0:
                break
            accepted, output = trials.accepts(changed)
            if accepted and not raised.is_root:
                return self._accepted(raised, changed, output), []
            if accepted:
                return None, [called_with(changed)]
        return None, trials.further()

    def _accepted(self, raised: RaisedModule, changed: ChangedInput, output: Any) -> GoneOn:
        """The output on changed inputs; where it has the shape of the changed one, that of the input as it came is an alternative."""
        options = [output]
        if isinstance(output, torch.Tensor) and output.shape == changed.tensor.shape and output.dim() == changed.original.dim():
            options.insert(0, torch.zeros(tuple(changed.original.shape), dtype=output.dtype, device=output.device))
        taken = options[min(self.reading.alternative(raised.site), len(options) - 1)]
        shapes = tuple(shape_of(tensor) for tensor in tensors_in(taken))
        return GoneOn(taken, shapes, alternatives=len(options), certain=False)


def _is_sure(raised: RaisedOp) -> bool:
    """Is what the call would have given known, since only a size is wrong that its output doesn't carry?"""
    clash = requires(raised.call)
    return clash is not None and clash.kind in _SURE


def _alike(tensors: list[torch.Tensor]) -> torch.Tensor:
    """The operand whose dtype and device the result would most likely have: a parameter rather than an activation."""
    floating = [tensor for tensor in tensors if tensor.is_floating_point()] or tensors
    return next((tensor for tensor in floating if isinstance(tensor, nn.Parameter)), floating[0])


def _of_dtype(output: Any, like: torch.Tensor) -> Any:
    """What a shape-level kernel gave, floating results in the dtype of a tensor: the kernel went by the operand that is refused."""
    wrong = [t for t in tensors_in(output) if t.is_floating_point() and like.is_floating_point() and t.dtype != like.dtype]
    return substituted(output, {id(t): torch.zeros(tuple(t.shape), dtype=like.dtype, device=t.device) for t in wrong})


def _shaped_as(name: str, shapes: tuple[Shape, ...], like: torch.Tensor, raised: RaisedOp) -> Any:
    """Tensors of the given shapes in the form in which that function gives its results."""
    if writes_first_operand(name):
        return raised.args[0]
    dtype = torch.bool if name in _COMPARISONS else like.dtype
    outputs = [torch.zeros([max(0, size) for size in shape], dtype=dtype, device=like.device) for shape in shapes]
    if name == "multi_head_attention_forward":
        return (outputs[0], outputs[1] if len(outputs) > 1 else None)
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


def _repaired_calls(raised: RaisedOp) -> Iterator[GoneOn]:
    """Outputs of the call with the smallest change of one operand's shape or dtype that lets it run; parameters last."""
    tensors = unique(tensors_in((raised.args, raised.kwargs)))
    sizes = list(dict.fromkeys([*(size for t in tensors for size in t.shape), *integers((raised.args, raised.kwargs))]))
    changes = sorted((c for t in tensors for c in _operand_changes(t, sizes)), key=lambda change: change[0])
    best: float | None = None
    seen = set()
    for cost, tensor, shape, dtype in changes[:_MOST_REPAIRS]:
        if best is not None and cost > best:
            return
        args, kwargs = substituted((raised.args, raised.kwargs), {id(tensor): torch.zeros(shape, dtype=dtype, device=tensor.device)})
        try:
            with only_trying():
                output = raised.function(*args, **kwargs)
        except Exception:
            continue
        best = cost
        shapes = tuple(shape_of(t) for t in tensors_in(output))
        if shapes not in seen:
            seen.add(shapes)
            yield GoneOn(output, shapes, certain=False)


def _operand_changes(tensor: torch.Tensor, sizes: list[int]) -> Iterator[tuple[float, torch.Tensor, tuple[int, ...], torch.dtype]]:
    shape = shape_of(tensor)
    extra = 3.0 if isinstance(tensor, nn.Parameter) else 0.0
    for axis, size in itertools.product(range(len(shape)), sizes):
        if size != shape[axis]:
            yield 1 + extra, tensor, (*shape[:axis], size, *shape[axis + 1 :]), tensor.dtype
    for dtype in (torch.long, torch.float32, torch.bool):
        if dtype != tensor.dtype:
            yield 1.5 + extra, tensor, shape, dtype
    if len(shape) < 5:
        for axis in range(len(shape) + 1):
            yield 2 + extra, tensor, (*shape[:axis], 1, *shape[axis:]), tensor.dtype
    if len(shape) > 1:
        yield 2 + extra, tensor, (*shape[:-2], shape[-1], shape[-2]), tensor.dtype
