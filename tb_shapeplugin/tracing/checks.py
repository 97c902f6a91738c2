"""What shape-level kernels let through and real ones refuse: dtypes, devices, masks, and indices outside their table."""

from dataclasses import replace
from typing import Any

import torch

from tb_shapeplugin.ops.indexing import masked_by_values
from tb_shapeplugin.ops.rules import requires
from tb_shapeplugin.ops.value_ranges import Indexed, indexed_by_values
from tb_shapeplugin.record.values import OpCall, Operand
from tb_shapeplugin.tracing.arguments import op_call, tensors_in, with_range
from tb_shapeplugin.tracing.compat import is_missing
from tb_shapeplugin.tracing.compat_ranks import speaks_to_ranks
from tb_shapeplugin.tracing.eager import Answer, ask_eager, refuses_view
from tb_shapeplugin.tracing.tensors import TensorBook
from tb_shapeplugin.tracing.values import ValuesOnDemand

_VIEWS = {"view", "view_as", "unflatten"}


class Checks:
    """Looks again at calls that went through at the shape level; a rule's word counts only when eager confirms it."""

    def __init__(self, values: ValuesOnDemand) -> None:
        self.values = values
        self._fitting: set[Any] = set()  # names and signatures of calls that eager runs
        self._unknown: list[str] = []  # ops whose index would have cost too much to know

    def unchecked(self) -> tuple[str, ...]:
        """What this run could not answer."""
        indexed = [f"the values of an index or a target in {name}" for name in dict.fromkeys(self._unknown)]
        wrong = [
            f"{name} runs as its real kernel does on zeros: its shape-level kernel gives something else" for name in self.values.corrected
        ]
        return (*indexed, *wrong)

    def _asks_for_missing_device(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], book: TensorBook) -> bool:
        """Is a tensor to be made on, or moved to, a device that isn't at hand? Who gives a spec there means a machine that has it."""
        asked = args[1] if name == "to" and len(args) > 1 else kwargs.get("device")
        if not isinstance(asked, (str, torch.device)):
            return False
        try:
            device = torch.device(asked)
        except RuntimeError:
            return False
        return is_missing(device) and not any(fact.producer < 0 and fact.device.startswith(device.type) for fact in book.facts)

    def for_real(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception) -> Answer | None:
        """What eager does with the call on its real values; None where they would cost too much."""
        if speaks_to_ranks(function):
            return None
        try:
            return Answer(None, self.values.run(function, args, kwargs, error))
        except Exception as raised:
            return None if raised is error else Answer(raised)

    def refusal(
        self, name: str, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], book: TensorBook, signature: Any
    ) -> tuple[Exception, OpCall] | None:
        """The error that eager raises for this call, and the call with the values that explain it; None where it runs.

        ``signature``: as ``signature_of`` gives it; what ran once, whatever its values, isn't looked at again.
        """
        key = None if signature is None else (name, signature)
        if key in self._fitting:
            return None
        call = op_call(name, args, kwargs, book)
        refused = self._refusal(function, args, kwargs, call, book)
        if refused is None and key is not None and not (indexed_by_values(call) or masked_by_values(call)):
            self._fitting.add(key)
        return refused

    def _refusal(
        self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], call: OpCall, book: TensorBook
    ) -> tuple[Exception, OpCall] | None:
        if self._asks_for_missing_device(call.short_name, args, kwargs, book):
            answer = ask_eager(function, args, kwargs)
            if answer is not None and answer.error is not None:
                return answer.error, call
        known: dict[int, torch.Tensor] = {}
        for indexed in indexed_by_values(call):
            index = _given(indexed.index, args, kwargs, book)
            if index is not None and index.numel():
                call = self._ranged(call, indexed, index, known)
        if call.short_name in _VIEWS and not all(tensor.is_contiguous() for tensor in tensors_in((args, kwargs))):
            error = refuses_view(function, args, kwargs)
            return (error, call) if error is not None else None
        mask = _given(masked_by_values(call), args, kwargs, book)
        content = None if mask is None else self.values.contents(mask)
        if mask is not None and content is not None:
            known[id(mask)] = content
        if content is None and requires(call) is None:
            return None
        answer = ask_eager(function, args, kwargs, known)
        return (answer.error, call) if answer is not None and answer.error is not None else None

    def _ranged(self, call: OpCall, indexed: Indexed, index: torch.Tensor, known: dict[int, torch.Tensor]) -> OpCall:
        """The call with the limits of that index, where they can be known; its contents go into ``known``."""
        limits = self.values.range_of(index, indexed.ignored)
        content = None if limits is None else self.values.contents(index)
        if limits is None or content is None:
            self._unknown.append(call.short_name)
            return call
        known[id(index)] = content
        return replace(
            call,
            args=tuple(with_range(value, indexed.index.id, *limits) for value in call.args),
            kwargs={name: with_range(value, indexed.index.id, *limits) for name, value in call.kwargs.items()},
        )


def _given(operand: Operand | None, args: tuple[Any, ...], kwargs: dict[str, Any], book: TensorBook) -> torch.Tensor | None:
    """The tensor that an operand tells of, among a call's arguments."""
    return None if operand is None else next((t for t in tensors_in((args, kwargs)) if book.known(t) == operand.id), None)
