"""What a module whose own code raised is called with once more, so that it gets past what raised."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from tb_shapeplugin.record.values import Shape
from tb_shapeplugin.tracing.arguments import tensors_in
from tb_shapeplugin.tracing.compat import TorchDispatchMode
from tb_shapeplugin.tracing.following import MODULE_CALLS
from tb_shapeplugin.tracing.going_on import Again, GoneOn, MadeInside, RaisedModule
from tb_shapeplugin.tracing.passes.changed_inputs import ChangedInput, without_axis
from tb_shapeplugin.tracing.python_failures import UNPACK
from tb_shapeplugin.tracing.source import innermost_user_frame
from tb_shapeplugin.tracing.tensors import shape_of
from tb_shapeplugin.tracing.values import only_trying

_MOST_OPTIONS = 4  # other inputs that are no way through, and yet get further


class _Counting(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch has no types there
    """Counts the aten ops that run: how far a trial gets."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.ops = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        self.ops += 1
        return func(*args, **(kwargs or {}))


@dataclass(frozen=True)
class _Trial:
    """How a call went: what it gave, or where in the user's code it raised; and how many ops it ran."""

    output: Any
    raised_at: tuple[str, int] | None
    ops: int


class Trials:
    """Calls of a module with changed inputs, which nobody writes down; those that get further than it did by itself are kept."""

    def __init__(self, raised: RaisedModule) -> None:
        self._raised = raised
        self._reached: list[tuple[int, ChangedInput]] = []
        self._plain = self._run(raised.args, raised.kwargs) if self._may_be_called_again else None

    @property
    def _may_be_called_again(self) -> bool:
        """Not where what failed took something apart that the module had made by itself: that is then what changes."""
        return self._raised.call is not None and not self._raised.made

    def accepts(self, changed: ChangedInput) -> tuple[bool, Any]:
        """Does the module run to its end on them? And what it gives then."""
        trial = self._run(changed.args, changed.kwargs)
        if self._plain is not None and trial.ops > self._plain.ops and trial.raised_at not in (None, self._plain.raised_at):
            self._reached.append((trial.ops, changed))
        return trial.raised_at is None, trial.output

    def further(self) -> list[GoneOn]:
        """Those with which it gets furthest, as ways to call it once more."""
        best = sorted(self._reached, key=lambda reached: -reached[0])[:_MOST_OPTIONS]
        return [called_with(changed) for _, changed in best]

    def _run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Trial:
        counting = _Counting()
        try:
            with only_trying(), MODULE_CALLS.paused(), counting:
                return _Trial(self._raised.run(self._raised.module, *args, **kwargs), None, counting.ops)
        except Exception as error:
            frame = innermost_user_frame(error.__traceback__)
            return _Trial(None, (frame.f_code.co_filename, frame.f_lineno) if frame else ("", 0), counting.ops)


def called_with(changed: ChangedInput) -> GoneOn:
    """The module is called with them once more."""
    return GoneOn(changed.replaced, tuple(map(shape_of, changed.replaced)), certain=False, again=Again(changed.args, changed.kwargs))


def with_another_tensor(raised: RaisedModule) -> Iterator[GoneOn]:
    """The ways to go on where the module took apart what an op of its own gave: that op gives as many axes as were asked for."""
    asked = _asked_axes(raised)
    for made in raised.made if asked is not None else ():
        for shape in _of_axes(made.operand.shape, asked or 0):
            yield _given_by(made, shape, raised)


def _given_by(made: MadeInside, shape: Shape, raised: RaisedModule) -> GoneOn:
    tensor = torch.zeros(shape, dtype=getattr(torch, made.operand.dtype), device=made.operand.device or None)
    return GoneOn(tensor, (shape,), certain=False, again=Again(raised.args, raised.kwargs, made.op, made.position))


def _asked_axes(raised: RaisedModule) -> int | None:
    """How many axes the tensor that was taken apart should have; None where nothing tells."""
    call = raised.call
    if not raised.made or call is None:
        return None
    if call.name == UNPACK:
        return call.integer(1, "", 0) if call.get(2, "") in (None, raised.made[0].operand.ndim) else None
    axis = call.integer(1, "dim", -1) if call.short_name == "size" else -1  # x.size(2), x.shape[2]
    return axis + 1 if axis >= 0 else None


def _of_axes(shape: Shape, count: int) -> Iterator[Shape]:
    """Shapes of so many axes that are made of that one: axes of size 1 more or less, then neighbours in one, then an axis gone."""
    if len(shape) < count:
        missing = count - len(shape)
        yield (1,) * missing + shape
        yield shape[:1] + (1,) * missing + shape[1:]
        yield shape + (1,) * missing
    elif len(shape) == count + 1:
        ones = [axis for axis in range(len(shape)) if shape[axis] == 1]
        yield from (without_axis(shape, axis) for axis in ones)
        yield from ((*shape[:at], shape[at] * shape[at + 1], *shape[at + 2 :]) for at in reversed(range(len(shape) - 1)))
        yield from (without_axis(shape, axis) for axis in range(len(shape)) if axis not in ones)


def as_its_input(raised: RaisedModule) -> GoneOn | None:
    """What stands in for a module that took something apart into too few or too many: its input, as most modules within others keep it."""
    tensors = [tensor for tensor in tensors_in((raised.args, raised.kwargs)) if tensor.is_floating_point()]
    if not tensors or not isinstance(raised.error, ValueError) or "to unpack" not in str(raised.error):
        return None
    output = torch.zeros_like(tensors[0])
    shapes = (shape_of(output),)
    count = _returned(raised.module)
    return GoneOn((output, *[None] * (count - 1)) if count else output, shapes, certain=False)


def _returned(module: nn.Module) -> int:
    """How many values the module's forward returns as a tuple; 0 where it returns one value, or nobody knows."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(type(module).forward)))
    except (OSError, TypeError, SyntaxError):
        return 0
    values = [node.value for node in ast.walk(tree) if isinstance(node, ast.Return)]
    return max((len(value.elts) for value in values if isinstance(value, ast.Tuple)), default=0)
