"""Steps of a shape-level run: which of them a value depends on, what they cost, and how long each storage is needed."""

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from tb_shapeplugin.tracing.arguments import tensors_in
from tb_shapeplugin.tracing.aten_ops import aten_op
from tb_shapeplugin.tracing.compat import storage_key, storage_of, written_operands

# Where among an op's arguments its first matrix stands: a product costs its result's elements times that matrix's columns.
_PRODUCTS = {"mm": 0, "bmm": 0, "mv": 0, "dot": 0, "linear": 0, "_grouped_mm": 0, "addmm": 1, "baddbmm": 1, "addbmm": 1, "addmv": 1}


@dataclass(frozen=True)
class Step:
    """One aten op that ran at the shape level."""

    func: Any
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    result: Any
    inputs: tuple[int, ...]  # storages
    outputs: tuple[int, ...]
    writes: tuple[int, ...]  # those of the inputs that it writes to


def step_of(func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], result: Any) -> Step:
    """The step that a call was."""
    inputs = tuple(storage_key(t) for t in tensors_in((args, kwargs)))
    outputs = tuple(storage_key(t) for t in tensors_in(result))
    writes = tuple(storage_key(t) for t in written_operands(func, args, kwargs)) if aten_op(func).writes else ()
    return Step(func, args, kwargs, result, inputs, outputs, writes)


class StepLog:
    """Every step of a run so far, in order."""

    def __init__(self) -> None:
        self.written: set[int] = set()  # storages that some step wrote to
        self._steps: list[Step] = []
        self._touching: dict[int, list[int]] = {}  # storage -> the steps that made or wrote it

    def add(self, step: Step) -> None:
        """The latest step."""
        for key in {*step.outputs, *step.writes}:
            self._touching.setdefault(key, []).append(len(self._steps))
        self.written.update(step.writes)
        self._steps.append(step)

    def slice_of(self, needed: Iterable[int], is_known: Callable[[Step], bool]) -> list[Step]:
        """The steps that the storages' contents depend on, in the order in which they ran; what is known needs none."""
        taken: set[int] = set()
        met = set(needed)
        waiting = [-index for key in met for index in self._touching.get(key, ())]  # the latest step comes out first
        heapq.heapify(waiting)
        while waiting:
            index = -heapq.heappop(waiting)
            step = self._steps[index]
            if index in taken or is_known(step):
                continue
            taken.add(index)
            for key in {*step.inputs, *step.outputs} - met:
                met.add(key)
                for earlier in self._touching.get(key, ()):
                    if earlier < index:
                        heapq.heappush(waiting, -earlier)
        return [self._steps[index] for index in sorted(taken)]


def endings(steps: Sequence[Step], needed: Iterable[int]) -> list[set[int]]:
    """Of each step the storages that no later one of the slice touches: what isn't needed can be let go behind it."""
    met = set(needed)
    ends: list[set[int]] = []
    for step in reversed(steps):
        touched = {*step.inputs, *step.outputs}
        ends.append(touched - met)
        met |= touched
    return ends[::-1]


def peak_bytes(steps: Sequence[Step], ends: Sequence[set[int]]) -> int:
    """The most bytes that a slice holds at once of what it makes itself."""
    held: dict[int, int] = {}
    peak = live = 0
    for step, ended in zip(steps, ends, strict=True):
        for tensor, key in zip(tensors_in(step.result), step.outputs, strict=True):
            if key not in held and key not in step.inputs:
                held[key] = held_bytes(tensor)
                live += held[key]
        peak = max(peak, live)
        live -= sum(held.pop(key, 0) for key in ended)
    return peak


def held_bytes(tensor: torch.Tensor) -> int:
    """Bytes of the storage that a tensor keeps alive, 0 where it has none."""
    return max(0, storage_of(tensor)[2])


def multiply_adds(step: Step) -> int:
    """What a step costs: of products, convolutions, attention and recurrent layers; of all others the elements touched."""
    name = step.func._schema.name.rpartition("::")[2]
    operands = tensors_in((step.args, step.kwargs))
    made = sum(tensor.numel() for tensor in tensors_in(step.result))
    if name in _PRODUCTS:
        return made * _columns(step.args[_PRODUCTS[name]])
    if "convolution" in name and len(operands) > 1:
        image, weight = operands[:2]
        transposed = any(value is True for value in step.args)
        return (image.numel() if transposed else made) * weight.numel() // max(1, weight.shape[0])
    if "attention" in name and len(operands) > 1:
        return 2 * operands[0].numel() * (int(operands[1].shape[-2]) if operands[1].dim() > 1 else 1)
    if any(word in name for word in ("rnn", "lstm", "gru")):
        rows = operands[0].numel() // _columns(operands[0])
        return rows * sum(weight.numel() for weight in operands[1:] if weight.dim() == 2)
    return sum(tensor.numel() for tensor in operands) + made


def _columns(matrix: torch.Tensor) -> int:
    return max(1, int(matrix.shape[-1])) if matrix.dim() else 1
