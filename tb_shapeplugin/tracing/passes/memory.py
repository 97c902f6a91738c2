"""What memory a forward takes, and a training step: a pass of a twin of its own that listens to aten ops alone.

No function mode is active, so that fused paths are those of a plain run.
"""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from tb_shapeplugin.base.faults import Faults
from tb_shapeplugin.record.memory import Iteration, MemoryFacts, SavedKind, Term
from tb_shapeplugin.tracing.alteration import Alteration
from tb_shapeplugin.tracing.arguments import tensors_in
from tb_shapeplugin.tracing.call_keys import CallKeys
from tb_shapeplugin.tracing.compat import drop_casts, is_value_read, storage_of, without_autocast
from tb_shapeplugin.tracing.compat_ranks import local_numel, own_groups
from tb_shapeplugin.tracing.following import MODULE_CALLS, deeper_nests
from tb_shapeplugin.tracing.held_tensors import Held, HeldTensors
from tb_shapeplugin.tracing.hidden_fakes import hidden_fakes, quiet_fakes
from tb_shapeplugin.tracing.keeping import Keeping
from tb_shapeplugin.tracing.liveness import Liveness
from tb_shapeplugin.tracing.read_value import ReadValue
from tb_shapeplugin.tracing.replayed_values import ReplayedValues
from tb_shapeplugin.tracing.source import error_text
from tb_shapeplugin.tracing.twin import Twin
from tb_shapeplugin.tracing.uncompiled import uncompiled

_FORWARD_TOTALS = ("saved_bytes", "peak_forward_bytes", "peak_first_bytes", "peak_bytes")
_STEP_TOTALS = ("gradient_bytes", "optimizer_bytes", "peak_first_bytes", "peak_bytes")


# It keeps its gates for the backward in a tensor whose size its shape-level kernel leaves 0.
_RECURRENT = "aten.mkldnn_rnn_layer"
_RECURRENT_WORKSPACE = "what the recurrent CPU kernel keeps in a workspace of its own isn't counted"

_WHOLE = "sharded tensors are counted whole, as if one rank held them"
_ASSUMED = "the optimizer's step reads values, which shapes don't tell: 1 was taken in their place"


@dataclass(frozen=True)
class Training:
    """What makes a training step of a forward."""

    loss_fn: Callable[[Any], Any] | None = None
    optimizer: Any = None  # Any: whatever has torch's optimizers' step
    accumulate: int = 1


class _Unknown(Exception):
    """Nothing more can be told; the message says why."""


def memory(
    twin: Twin, training: Training | None, known: Sequence[ReadValue], faults: Faults, alteration: Alteration | None = None
) -> MemoryFacts:
    """The allocations of the forward; with ``training`` those of two whole steps, of which the first makes the optimizer's state.

    Args:
        twin: of the model, its arguments and the optimizer; afterwards its optimizer has stepped.
        training: what follows the forward; None for the forward alone.
        known: the values that an earlier run of the forward read.
        faults: takes up our own.
        alteration: that the twin was made with.
    """
    values = ReplayedValues(twin.mode, known, faults, alteration)
    memory_pass = _Pass(twin, training, values)
    with contextlib.ExitStack() as stack:
        as_written = uncompiled(lambda *_: None)
        for context in (own_groups(), as_written, quiet_fakes(), twin.mode, hidden_fakes(), values, deeper_nests()):
            stack.enter_context(context)
        stack.enter_context(MODULE_CALLS.through(memory_pass.calls.call))
        stack.callback(memory_pass.liveness.close)
        return memory_pass.facts()


def nothing_told(why: str) -> MemoryFacts:
    """What is known where there is no twin that could be asked."""
    return MemoryFacts(unknown=dict.fromkeys(dict.fromkeys((*_FORWARD_TOTALS, *_STEP_TOTALS)), why))


class _Pass:
    """The forwards, backwards and steps of one twin."""

    def __init__(self, twin: Twin, training: Training | None, values: ReplayedValues) -> None:
        self._twin = twin
        self._training = training
        self._values = values
        self.calls = CallKeys(twin)
        self.liveness = Liveness(self.calls.here)
        self._held = HeldTensors(twin, self.calls.paths)

    def facts(self) -> MemoryFacts:
        """What was found; where something ends the pass, what was found up to there, and why the rest is unknown."""
        held: tuple[tuple[list[Held], Term], ...] = (
            (self._held.parameters, "parameters"),
            (self._held.buffers, "buffers"),
            (self._held.inputs, "inputs"),
            (self._state(), "optimizer"),
        )
        for tensors, term in held:
            self.liveness.hold(tensors, term)
        self._drop_gradients()
        drop_casts()
        keeping = Keeping(self._kinds(), self.calls, self.liveness, self._training is not None)
        iterations: list[Iteration] = []
        unknown: dict[str, str] = {}
        try:
            if self._training is None:
                iterations.append(self._forward_alone(keeping))
            else:
                iterations += self._steps(self._training, keeping)
        except _Unknown as why:
            unknown = dict.fromkeys(_STEP_TOTALS, str(why))
            if self.liveness.phases:
                iterations.append(self.liveness.iteration())
            else:
                unknown |= dict.fromkeys(_FORWARD_TOTALS, str(why))
        if keeping.fault is not None:
            raise keeping.fault
        return MemoryFacts(tuple(iterations), tuple(keeping.found.values()), unknown, self._estimated(iterations))

    def _estimated(self, iterations: Sequence[Iteration]) -> dict[str, str]:
        """What isn't exact: a reason outdoes those before it."""
        names = {op.name for made in iterations for op in made.ops}
        told: dict[str, str] = {}
        if len(iterations) > 1 and any(name.startswith(_RECURRENT) for name in names):
            told |= dict.fromkeys(("saved_bytes", "peak_first_bytes", "peak_bytes"), _RECURRENT_WORKSPACE)
        if any(local_numel(held.tensor) >= 0 for held in self._held.parameters):
            told |= dict.fromkeys((*_FORWARD_TOTALS, *_STEP_TOTALS), _WHOLE)
        if self._values.assumed:
            told |= dict.fromkeys(("optimizer_bytes", "peak_first_bytes", "peak_bytes"), _ASSUMED)
        return told

    def _kinds(self) -> dict[int, SavedKind | None]:
        kinds: dict[int, SavedKind | None] = {storage_of(held.tensor)[0]: "input" for held in self._held.inputs}
        kinds |= {storage_of(held.tensor)[0]: "buffer" for held in self._held.buffers}
        return kinds | {storage_of(held.tensor)[0]: None for held in self._held.parameters}

    def _state(self) -> list[Held]:
        return self._held.state(self._twin.optimizer if self._training is not None and self._training.optimizer is not None else None)

    def _drop_gradients(self) -> None:
        for leaf in self._held.leaves:
            leaf.tensor.grad = None

    def _forward(self, keeping: Keeping | None) -> Any:
        """The output of one forward; in the first one of an iteration is watched what autograd keeps."""
        self._values.begin()
        self.calls.begin()
        try:
            with keeping.watched() if keeping else contextlib.nullcontext():
                output = self._twin.model(*self._twin.args, **self._twin.kwargs)
        except Exception as error:
            raise _Unknown(_why("the forward", error)) from error
        if self._twin.had_lazy:
            self._materialised()
        self.liveness.ended("forward")
        return output

    def _materialised(self) -> None:
        """What lazy layers have made of themselves in the forward."""
        self._held = HeldTensors(self._twin, self.calls.paths)
        self.liveness.belong(self._held.parameters, "parameters")
        self.liveness.belong(self._held.buffers, "buffers")

    def _forward_alone(self, keeping: Keeping) -> Iteration:
        with self.liveness:
            output = self._forward(keeping)
        made = self.liveness.iteration()
        del output  # alive to the end
        return made

    def _steps(self, training: Training, keeping: Keeping) -> tuple[Iteration, Iteration]:
        """The first iteration, and a steady one, which has the state that the first one's step makes.

        Where nothing but that state stays of the first, only the step is run again: all before it would be the same.
        """
        with self.liveness:
            held = self._forward_and_back(training, keeping)
            self._step()
            self._step()
        first, steady = self.liveness.stepped_twice()
        self._drop_gradients()
        del held  # output and loss are alive to the end
        if steady is not None and not self.liveness.outlived():
            return first, steady
        self.liveness.iteration()
        with self.liveness:
            held = self._forward_and_back(training, Keeping(self._kinds(), self.calls, self.liveness, goes_back=True))
            self._step()
        steady = self.liveness.iteration()
        del held
        return first, steady

    def _forward_and_back(self, training: Training, keeping: Keeping) -> Any:
        """Forward and backward of each micro-batch; gives the last output and loss."""
        for batch in range(training.accumulate):
            output = self._forward(keeping if batch == 0 else None)
            with self._values.outside():
                loss = _loss(training, output)
            self.liveness.ended("loss")
            self.liveness.going_back = True
            with without_autocast():
                _backward(loss)
            self.liveness.going_back = False
            self.liveness.belong(self._held.gradients(), "gradients")
            self.liveness.ended("backward")
        return output, loss

    def _step(self) -> None:
        self.liveness.stepping = True
        with without_autocast(), self._values.assuming():
            _stepped(self._twin.optimizer)
        self.liveness.stepping = False
        self.liveness.belong(self._state(), "optimizer")
        self.liveness.ended("step")


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
