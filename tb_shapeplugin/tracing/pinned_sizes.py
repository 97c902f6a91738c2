"""Which size that is declared variable the code pins to a constant: asked of a fake copy whose sizes are symbols, never of dynamo."""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any

import torch
from torch import nn

from tb_shapeplugin.record.values import OpCall, Operand, Value
from tb_shapeplugin.tracing.arguments import leaves, operand, tensors_in
from tb_shapeplugin.tracing.compat import declared_variable
from tb_shapeplugin.tracing.compat_sizes import fixed_size, let_sizes_vary, no_modes, symbolic
from tb_shapeplugin.tracing.following import MODULE_CALLS, SCRIPT_CALLS
from tb_shapeplugin.tracing.inputs import bound_names
from tb_shapeplugin.tracing.recorder import Recorder
from tb_shapeplugin.tracing.refusals import written_refusal
from tb_shapeplugin.tracing.source import display_path, is_torchs_file, is_users_file
from tb_shapeplugin.tracing.substitution import substituted
from tb_shapeplugin.tracing.tensors import TensorBook
from tb_shapeplugin.tracing.twin import make_twin
from tb_shapeplugin.tracing.uncompiled import uncompiled

COMPILE = "torch.compile"


@dataclass(frozen=True)
class Pin:
    """A dim of an argument that is declared variable, and the constant that the code pins it to."""

    name: str  # of the argument, as torch.compile names it: L['x']
    tensor: torch.Tensor
    dim: int
    size: int
    file: str = ""  # the statement that pins it
    line: int = 0

    @property
    def error(self) -> RuntimeError:
        """What torch.compile raises, but for advice that differs from release to release."""
        size = f"{self.name}.size()[{self.dim}]"
        return RuntimeError(
            f'Constraints violated ({size})! For more information, run with TORCH_LOGS="+dynamic".\n'
            f"  - You marked {size} as dynamic but your code specialized it to be a constant ({self.size})."
        )

    def call(self, book: TensorBook) -> OpCall:
        """The compiled call as the rules see it."""
        place = f"{display_path(self.file)}:{self.line}" if self.file else ""
        told: dict[str, Value] = {"dim": self.dim, "size": self.size, "pinned_at": place}
        return OpCall(COMPILE, (operand(self.tensor, book),), told)


@dataclass(frozen=True)
class PinnedCall:
    """A compiled call whose code pins a size, written down as a failure."""

    recorder: Recorder
    pin: Pin
    number: int  # of the failure
    first_op: int
    raises: Exception | None  # where the run ends there

    @staticmethod
    def found(
        recorder: Recorder, compiled: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], frame: FrameType | None
    ) -> "PinnedCall | None":
        """The call written down, None where it pins nothing.

        Args:
            recorder: of the run.
            compiled: what torch.compile was given.
            args: the call's arguments.
            kwargs: its keyword arguments.
            frame: who calls, None where the capture itself does.
        """
        pin = pinned_size(compiled, args, kwargs)
        if pin is None:
            return None
        number = len(recorder.failures)
        raises = written_refusal(recorder, pin.call(recorder.tensors), pin.error, frame)
        return PinnedCall(recorder, pin, number, len(recorder.ops), raises)

    def name_the_op(self) -> None:
        """Once the call has run as it was written: the op that pins the size is known, and the failure names what it gave."""
        recorder = self.recorder
        if self.raises is not None or self.number >= len(recorder.failures):
            return
        failure = recorder.failures[self.number]
        for op in recorder.ops[self.first_op :]:
            source = recorder.sources.fact(op.source)
            if (
                source is not None
                and op.inputs
                and op.outputs
                and (source.file, source.line) == (display_path(self.pin.file), self.pin.line)
            ):
                made = recorder.tensors.facts[op.outputs[0]]
                pinning = Operand(op.outputs[0], made.shape, made.dtype, kind=made.kind)
                told = {**failure.call.kwargs, "pinning": pinning}
                recorder.failures[self.number] = replace(failure, call=replace(failure.call, kwargs=told))
                return


@dataclass
class _Watch:
    """Who pins a size first."""

    frame: tuple[str, int] | None = None
    lost: bool = False  # from here on the copy goes other ways than torch.compile

    def pinned(self, frame: FrameType) -> None:
        at: FrameType | None = frame
        while at is not None and not is_users_file(at.f_code.co_filename):
            at = at.f_back
        if self.frame is None and at is not None:
            self.frame = (at.f_code.co_filename, at.f_lineno)

    def lose(self) -> None:
        self.lost = True


def pinned_size(model: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Pin | None:
    """The first size that is declared variable and that the model, run as it was written, lets be one value only.

    Args:
        model: what torch.compile was given: a module or a function.
        args: the call's arguments, with fake or real tensors.
        kwargs: its keyword arguments.
    """
    if not any(map(declared_variable, tensors_in((args, kwargs)))):
        return None
    with no_modes(), MODULE_CALLS.paused(), SCRIPT_CALLS.paused(), uncompiled(lambda *_: None):
        return _first_pin(model, args, kwargs)


def _first_pin(model: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Pin | None:
    declared = [(tensor, dims) for tensor in tensors_in((args, kwargs)) if (dims := _variable(tensor))]
    watch = _Watch()
    marked = _asked(model, args, dict(kwargs), watch)
    if watch.lost:
        return None
    names = {id(tensor): name for name, tensor in _named(model, args, kwargs)}
    for (tensor, dims), fake in zip(declared, marked, strict=True):
        for dim in sorted(dims):
            size = fixed_size(fake, dim)
            if size is not None:
                return Pin(names.get(id(tensor), "L['x']"), tensor, dim, size, *(watch.frame or ("", 0)))
    return None


def _variable(tensor: torch.Tensor) -> set[int]:
    """The declared dims that torch.compile lets vary: 0 and 1 are sizes of their own kind."""
    return {dim % tensor.dim() for dim in declared_variable(tensor) if tensor.dim() and tensor.shape[dim] > 1}


def _asked(model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], watch: _Watch) -> list[torch.Tensor]:
    """Runs a copy; gives the arguments that stand for those whose dims may vary."""
    twin = make_twin(model, args, kwargs)
    let_sizes_vary(twin.mode, watch.pinned, watch.lose)
    marked: list[torch.Tensor] = []
    changed: dict[int, torch.Tensor] = {}
    for given, fake in zip(tensors_in((args, kwargs)), tensors_in((twin.args, twin.kwargs)), strict=True):
        if dims := _variable(given):
            changed[id(fake)] = symbolic(twin.mode, given, dims)
            marked.append(changed[id(fake)])
    copied_args, copied_kwargs = substituted((twin.args, twin.kwargs), changed)
    run = twin.model._call_impl if isinstance(twin.model, nn.Module) else twin.model
    with twin.mode, contextlib.suppress(Exception):  # what it raises, the run as written tells
        run(*copied_args, **copied_kwargs)
    return marked


def _named(model: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The arguments' leaves as torch.compile names them: by forward's parameters, which those of torch's own layers it doesn't see."""
    function = model.forward if isinstance(model, nn.Module) else model
    code = getattr(function, "__code__", None)
    wrapped = code is not None and is_torchs_file(code.co_filename)
    named = [(f"args[{at}]", value) for at, value in enumerate(args)] if wrapped else bound_names(function, args, {})
    found = []
    for name, value in [*named, *kwargs.items()]:
        head, bracket, rest = name.partition("[")
        found += list(leaves(value, f"L['{head}']{bracket}{rest}"))
    return found
