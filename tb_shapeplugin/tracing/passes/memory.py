"""What memory a forward takes, and a training step: a pass of a twin of its own that listens to aten ops alone.

No function mode is active, so that fused paths are those of a plain run.
"""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from tb_shapeplugin.base.faults import Faults
from tb_shapeplugin.record.memory import Iteration, MemoryFacts, Saved, SavedKind, Term
from tb_shapeplugin.tracing.arguments import tensors_in
from tb_shapeplugin.tracing.compat import drop_casts, is_value_read, storage_of, without_autocast
from tb_shapeplugin.tracing.compat_ranks import own_groups
from tb_shapeplugin.tracing.following import MODULE_CALLS, deeper_nests
from tb_shapeplugin.tracing.hidden_fakes import hidden_fakes, quiet_fakes
from tb_shapeplugin.tracing.liveness import Liveness
from tb_shapeplugin.tracing.read_value import ReadValue
from tb_shapeplugin.tracing.replayed_values import ReplayedValues
from tb_shapeplugin.tracing.source import error_text
from tb_shapeplugin.tracing.twin import Twin
from tb_shapeplugin.tracing.uncompiled import uncompiled

_FORWARD_TOTALS = ("saved_bytes", "peak_forward_bytes", "peak_first_bytes", "peak_bytes")
_STEP_TOTALS = ("gradient_bytes", "optimizer_bytes", "peak_first_bytes", "peak_bytes")


@dataclass(frozen=True)
class Training:
    """What makes a training step of a forward."""

    loss_fn: Callable[[Any], Any] | None = None
    optimizer: Any = None  # Any: whatever has torch's optimizers' step
    accumulate: int = 1


class _Unknown(Exception):
    """Nothing more can be told; the message says why."""


def memory(twin: Twin, training: Training | None, known: Sequence[ReadValue], faults: Faults) -> MemoryFacts:
    """The allocations of the forward; with ``training`` those of two whole steps, of which the first makes the optimizer's state.

    Args:
        twin: of the model, its arguments and the optimizer; afterwards its optimizer has stepped.
        training: what follows the forward; None for the forward alone.
        known: the values that an earlier run of the forward read.
        faults: takes up our own.
    """
    values = ReplayedValues(twin.mode, known, faults)
    memory_pass = _Pass(twin, training, values)
    with contextlib.ExitStack() as stack:
        as_written = uncompiled(lambda *_: None)
        for context in (own_groups(), as_written, quiet_fakes(), twin.mode, hidden_fakes(), values, deeper_nests()):
            stack.enter_context(context)
        stack.enter_context(MODULE_CALLS.through(memory_pass.where.call))
        stack.callback(memory_pass.liveness.close)
        return memory_pass.facts()


def nothing_told(why: str) -> MemoryFacts:
    """What is known where there is no twin that could be asked."""
    return MemoryFacts(unknown=dict.fromkeys(dict.fromkeys((*_FORWARD_TOTALS, *_STEP_TOTALS)), why))


class _Where:
    """Which module is running."""

    def __init__(self, twin: Twin) -> None:
        self._stand_ins = twin.stand_ins
        named = twin.model.named_modules() if isinstance(twin.model, nn.Module) else ()
        self._paths = {id(module): path.replace("_orig_mod.", "").removesuffix("_orig_mod") for path, module in named}
        self._stack: list[str] = [""]

    @property
    def path(self) -> str:
        """Its dotted path, "" outside any."""
        return self._stack[-1]

    def call(self, run: Callable[..., Any], module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Runs a call of a module, or of the one that stands in for it."""
        module = self._stand_ins.get(id(module), module)
        self._stack.append(self._paths.get(id(module), self.path))
        try:
            return run(module, *args, **kwargs)
        finally:
            self._stack.pop()


@dataclass
class _Keeping:
    """The storages that autograd keeps for a backward, each once; parameters left out."""

    kinds: dict[int, SavedKind | None]  # by the storage's key; None for a parameter's
    where: _Where
    goes_back: bool  # does a backward follow, which wants tensors?
    found: dict[int, Saved] = field(default_factory=dict)
    fault: Exception | None = None

    def pack(self, tensor: torch.Tensor) -> Any:
        """What autograd keeps in the tensor's place: the same storage, and nothing that leads back to the op that keeps it."""
        storage = None
        try:
            key, storage, size = storage_of(tensor)
            kind = self.kinds.get(key, "activation")
            if storage is not None and size > 0 and kind is not None and key not in self.found:
                self.found[key] = Saved(size, kind, self.where.path)
        except Exception as fault:  # of ours: autograd would take it for the op's
            self.fault = fault
        if storage is not None and not self.goes_back:
            return storage
        return tensor.detach()


class _Pass:
    """The forwards, backwards and steps of one twin."""

    def __init__(self, twin: Twin, training: Training | None, values: ReplayedValues) -> None:
        self._twin = twin
        self._training = training
        self._values = values
        self.where = _Where(twin)
        self.liveness = Liveness(lambda: self.where.path)
        self._parameters = [p for module in twin.copies for p in module._parameters.values() if p is not None]
        self._buffers = [b for module in twin.copies for b in module._buffers.values() if b is not None]
        self._inputs = tensors_in((twin.args, twin.kwargs))
        leaves = (*self._parameters, *self._inputs)
        self._leaves = list({id(leaf): leaf for leaf in leaves if leaf.is_leaf and leaf.requires_grad}.values())

    def facts(self) -> MemoryFacts:
        """What was found; where something ends the pass, what was found up to there, and why the rest is unknown."""
        held: tuple[tuple[Sequence[torch.Tensor], Term], ...] = (
            (self._parameters, "parameters"),
            (self._buffers, "buffers"),
            (self._inputs, "inputs"),
            (self._state(), "optimizer"),
        )
        for tensors, term in held:
            self.liveness.hold(tensors, term)
        self._drop_gradients()
        drop_casts()
        keeping = _Keeping(self._kinds(), self.where, self._training is not None)
        iterations: list[Iteration] = []
        unknown: dict[str, str] = {}
        try:
            if self._training is None:
                iterations.append(self._forward_alone(keeping))
            else:
                iterations += [self._step(self._training, number, keeping) for number in range(2)]
        except _Unknown as why:
            unknown = dict.fromkeys(_STEP_TOTALS, str(why))
            if self.liveness.phases:
                iterations.append(self.liveness.iteration())
            else:
                unknown |= dict.fromkeys(_FORWARD_TOTALS, str(why))
        if keeping.fault is not None:
            raise keeping.fault
        saved = tuple(keeping.found.values())
        return MemoryFacts(tuple(iterations), saved, unknown)

    def _kinds(self) -> dict[int, SavedKind | None]:
        kinds: dict[int, SavedKind | None] = {storage_of(tensor)[0]: "input" for tensor in self._inputs}
        kinds |= {storage_of(tensor)[0]: "buffer" for tensor in self._buffers}
        return kinds | {storage_of(tensor)[0]: None for tensor in self._parameters}

    def _state(self) -> list[torch.Tensor]:
        optimizer = self._training.optimizer if self._training is not None else None
        return [] if optimizer is None else tensors_in(list(self._twin.optimizer.state.values()))

    def _drop_gradients(self) -> None:
        for leaf in self._leaves:
            leaf.grad = None

    def _forward(self, keeping: _Keeping | None) -> Any:
        """The output of one forward; in the first one is watched what autograd keeps."""
        self._values.begin()
        kept = torch.autograd.graph.saved_tensors_hooks(keeping.pack, lambda tensor: tensor) if keeping else contextlib.nullcontext()
        try:
            with kept:
                output = self._twin.model(*self._twin.args, **self._twin.kwargs)
        except Exception as error:
            raise _Unknown(_why("the forward", error)) from error
        self.liveness.ended("forward")
        return output

    def _forward_alone(self, keeping: _Keeping) -> Iteration:
        with self.liveness:
            output = self._forward(keeping)
        made = self.liveness.iteration()
        del output  # alive to the end
        return made

    def _step(self, training: Training, number: int, keeping: _Keeping) -> Iteration:
        """Forward and backward of each micro-batch, then the optimizer's step; output and loss live to the end."""
        with self.liveness:
            for batch in range(training.accumulate):
                output = self._forward(keeping if number == batch == 0 else None)
                loss = _loss(training, output)
                self.liveness.ended("loss")
                with without_autocast():
                    _backward(loss)
                self.liveness.belong([leaf.grad for leaf in self._leaves if leaf.grad is not None], "gradients")
                self.liveness.ended("backward")
            with without_autocast():
                _stepped(self._twin.optimizer)
            self.liveness.belong(self._state(), "optimizer")
            self.liveness.ended("step")
            self._drop_gradients()
        made = self.liveness.iteration()
        del output, loss  # alive to the end
        return made


def _loss(training: Training, output: Any) -> torch.Tensor:
    try:
        loss = training.loss_fn(output) if training.loss_fn is not None else _sum_of(output)
        if isinstance(loss, torch.Tensor) and training.accumulate > 1:
            loss = loss / training.accumulate
    except Exception as error:
        raise _Unknown(_why("loss_fn", error)) from error
    if not isinstance(loss, torch.Tensor) or not loss.requires_grad:
        raise _Unknown("there is nothing to go backward from: neither the output nor what loss_fn gives requires a gradient")
    return loss


def _sum_of(output: Any) -> Any:
    return sum(tensor.sum() for tensor in tensors_in(output) if tensor.is_floating_point())


def _backward(loss: torch.Tensor) -> None:
    try:
        loss.backward()  # type: ignore[no-untyped-call]  # torch has no types there
    except Exception as error:
        raise _Unknown(_why("the backward", error)) from error


def _stepped(optimizer: Any) -> None:
    if optimizer is None:
        return
    try:
        type(optimizer).step(optimizer)  # not an attribute of its own, which a scheduler may have put there
    except Exception as error:
        raise _Unknown(_why("the optimizer's step", error)) from error


def _why(what: str, error: Exception) -> str:
    return f"{what} reads a value, which shapes don't tell" if is_value_read(error) else f"{what} raised {error_text(error)}"
