"""Going on past a failing call: its output is assumed, and re-runs choose among the alternatives by the fewest further failures."""

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import nn

from tb_shapeplugin.ops.rules import gives
from tb_shapeplugin.record.trace import Failure, Trace
from tb_shapeplugin.record.values import Shape
from tb_shapeplugin.tracing.arguments import leaves, tensors_in
from tb_shapeplugin.tracing.compat import no_function_modes
from tb_shapeplugin.tracing.eager import writes_first_operand
from tb_shapeplugin.tracing.following import MODULE_CALLS
from tb_shapeplugin.tracing.recorder import GoneOn, RaisedModule, RaisedOp
from tb_shapeplugin.tracing.substitution import substituted
from tb_shapeplugin.tracing.tensors import shape_of
from tb_shapeplugin.tracing.values import only_trying

# Reads and conversions: what comes out of them is no tensor that could be assumed.
_NEVER = {"__get__", "__bool__", "item", "__index__", "__len__", "size", "tolist", "numpy", "__float__", "__int__"}
_RECOVERABLE = (RuntimeError, ValueError, IndexError, TypeError, AssertionError)
_MOST_REPAIRS = 400
_MOST_PAIRS = 120
_LARGEST_EAGER = 1 << 24  # elements that asking eager may at most compute on
_CHECKED_FIRST = ("linear", "matmul", "conv", "bmm", "mm")  # these compare sizes before they compute, at any size


@dataclass
class GoOn:
    """A Recovery that assumes outputs: by the rules of ops, else by the smallest change of operands that makes the call run.

    With ``go_on=False`` it only asks eager for its words. ``choice`` says which alternative to take at which failure, by the
    failure's number; elsewhere it is the first.
    """

    choice: dict[int, int] = field(default_factory=dict)
    go_on: bool = True

    def after_op(self, raised: RaisedOp) -> GoneOn | None:
        """What stands in for the output of a torch function that raised; None where nothing plausible is found."""
        name = getattr(raised.function, "__name__", "")
        tensors = tensors_in((raised.args, raised.kwargs))
        if name in _NEVER or not isinstance(raised.error, _RECOVERABLE) or not tensors:
            return None
        if raised.let_through and self.go_on:
            return GoneOn(raised.output, tuple(shape_of(t) for t in tensors_in(raised.output)))
        said = raised.said if isinstance(raised.said, _RECOVERABLE) and not isinstance(raised.said, NotImplementedError) else None
        ended = GoneOn(None, (), said=said, ends=True)
        if not self.go_on:
            return ended
        like = next((t for t in tensors if t.is_floating_point()), tensors[0])
        options = [GoneOn(_shaped_as(name, shapes, like, raised), shapes) for shapes in gives(raised.call)] or list(_repaired_calls(raised))
        if not options:
            return ended
        taken = options[min(self.choice.get(raised.number, 0), len(options) - 1)]
        certain = len(options) == 1 and taken.certain
        return replace(taken, alternatives=len(options), certain=certain, said=said)

    def after_module(self, raised: RaisedModule) -> GoneOn | None:
        """What stands in for a module that raised: its output on inputs that it accepts; None at the root."""
        if raised.is_root or not self.go_on or not isinstance(raised.error, _RECOVERABLE) or isinstance(raised.error, RecursionError):
            return None
        with no_function_modes():
            return self._on_changed_inputs(raised)

    def _on_changed_inputs(self, raised: RaisedModule) -> GoneOn | None:
        for changed, original, args, kwargs in _changed_inputs(raised):
            try:
                with only_trying(), MODULE_CALLS.paused():
                    output = raised.run(raised.module, *args, **kwargs)
            except Exception:
                continue
            shapes = tuple(shape_of(tensor) for tensor in tensors_in(output))
            return GoneOn(output, shapes, certain=False, repaired=((original, shape_of(changed)),))
        return None


def _shaped_as(name: str, shapes: tuple[Shape, ...], like: torch.Tensor, raised: RaisedOp) -> Any:
    """Tensors of the given shapes in the form in which that function gives its results."""
    if writes_first_operand(name):
        return raised.args[0]
    outputs = [torch.zeros([max(0, size) for size in shape], dtype=like.dtype, device=like.device) for shape in shapes]
    if name == "multi_head_attention_forward":
        return (outputs[0], outputs[1] if len(outputs) > 1 else None)
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


def _integers(value: Any) -> list[int]:
    return [leaf for _, leaf in leaves(value) if isinstance(leaf, int) and not isinstance(leaf, bool) and leaf > 0]


def _unique(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    return list({id(tensor): tensor for tensor in tensors}.values())


def _repaired_calls(raised: RaisedOp) -> Iterator[GoneOn]:
    """Outputs of the call with the smallest change of one operand's shape or dtype that lets it run; parameters last."""
    tensors = _unique(tensors_in((raised.args, raised.kwargs)))
    sizes = list(dict.fromkeys([*(size for t in tensors for size in t.shape), *_integers((raised.args, raised.kwargs))]))
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


def _changed_inputs(raised: RaisedModule) -> Iterator[tuple[torch.Tensor, int, tuple[Any, ...], dict[str, Any]]]:
    """The module's inputs with one tensor's one or two dims set to sizes that its parameters or attributes carry."""
    own = [size for p in raised.module.parameters() for size in shape_of(p)]
    sizes = list(dict.fromkeys([*own, *_integers([v for k, v in vars(raised.module).items() if not k.startswith("_")])]))
    for position, tensor in enumerate(_unique(tensors_in((raised.args, raised.kwargs)))[:3]):
        shape = list(tensor.shape)
        single = [(axis, size) for axis in reversed(range(len(shape))) for size in sizes if size != shape[axis]]
        pairs = [(a, b) for a, b in itertools.combinations(single, 2) if a[0] != b[0]]
        if len(pairs) > _MOST_PAIRS:
            pairs = [((i, size), (j, size)) for i, j in itertools.combinations(range(len(shape)), 2) for size in sizes]
        for change in [*((s,) for s in single), *pairs]:
            changed = list(shape)
            for axis, size in change:
                changed[axis] = size
            other = torch.zeros(changed, dtype=tensor.dtype, device=tensor.device)
            args, kwargs = substituted((raised.args, raised.kwargs), {id(tensor): other})
            yield other, position, args, kwargs


Rerun = Callable[[GoOn], Trace]


def diagnose(rerun: Rerun, passes: int = 64, seconds: float = 10.0) -> Trace:
    """Re-runs with other alternatives and keeps the reading with the fewest failures.

    A failure is called caused by an earlier one only if it vanishes under an equally plausible alternative of that one.
    """
    deadline = time.monotonic() + seconds
    best = rerun(GoOn())
    choice: dict[int, int] = {}
    seen = [best]
    position = 0
    while position < len(best.failures):
        failure = best.failures[position]
        if failure.alternatives > 1 and any(position in later.depends_on for later in best.failures):
            for other in range(1, min(failure.alternatives, 8)):
                if len(seen) >= passes or time.monotonic() > deadline:
                    return _with_causes(best, seen)
                tried = {**choice, position: other}
                trace = rerun(GoOn(tried))
                seen.append(trace)
                if len(trace.failures) < len(best.failures) and _reached_as_far(trace, best):
                    best, choice = trace, tried
        position += 1
    return _with_causes(best, seen)


def _reached_as_far(trace: Trace, best: Trace) -> bool:
    """Did the run end no earlier than the best one did? (A run whose last failure has no outputs ended there.)"""
    return not _ended_early(trace) or _ended_early(best)


def _ended_early(trace: Trace) -> bool:
    return not trace.outputs


def _site(failure: Failure, trace: Trace) -> tuple[str, str, int, str]:
    source = trace.sources[trace.ops[failure.op].source] if trace.ops[failure.op].source >= 0 else None
    module = trace.modules[failure.module].path if failure.module >= 0 else ""
    return failure.call.name, source.file if source else "", source.line if source else 0, module


def _with_causes(best: Trace, seen: list[Trace]) -> Trace:
    """Marks the failures that some other reading doesn't have as caused by the first failure that they come from."""
    whole = [{_site(failure, trace) for failure in trace.failures} for trace in seen if not _ended_early(trace)]
    failures = []
    for failure in best.failures:
        vanishes = failure.depends_on and any(_site(failure, best) not in sites for sites in whole)
        failures.append(replace(failure, caused_by=failure.depends_on[0]) if vanishes else failure)
    return replace(best, failures=tuple(failures))
