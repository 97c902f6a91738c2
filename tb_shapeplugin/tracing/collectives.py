"""Collectives of torch.distributed in a run that the other ranks take no part in: checked, simulated, never waited for."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import FrameType
from typing import Any

import torch

from tb_shapeplugin.ops.collectives import EXCHANGED, GATHERED, GATHERED_WHOLE, PREFIX, SCATTERED, SCATTERED_WHOLE
from tb_shapeplugin.ops.rules import requires
from tb_shapeplugin.record.trace import OpFact
from tb_shapeplugin.record.values import OpCall, Value
from tb_shapeplugin.tracing.arguments import describe, tensors_in
from tb_shapeplugin.tracing.compat import fake_of, fresh_fake_mode, no_function_modes, real_execution
from tb_shapeplugin.tracing.compat_ranks import Group, group_among
from tb_shapeplugin.tracing.compat_sizes import no_modes
from tb_shapeplugin.tracing.recorder import Recorder
from tb_shapeplugin.tracing.refusals import written_refusal
from tb_shapeplugin.tracing.source import is_users_file
from tb_shapeplugin.tracing.substitution import substituted

_FORMS = {
    "allgather_": GATHERED,
    "gather_": GATHERED,
    "reduce_scatter_": SCATTERED,
    "scatter_": SCATTERED,
    "_allgather_base_": GATHERED_WHOLE,
    "_reduce_scatter_base_": SCATTERED_WHOLE,
    "alltoall_": EXCHANGED,
}
_HANDING_ON = {"wrapper", "inner", "wrapped"}  # functions around functions


@dataclass(frozen=True)
class _Collective:
    """One call, told apart into what it writes to and what it sends."""

    name: str  # allgather_
    places: Any  # tensors that it writes to, nested as given
    parts: Any  # tensors of this rank's that it sends
    group: Group | None

    @property
    def ranks(self) -> int:
        return self.group.ranks if self.group else 1


class Collectives:
    """Runs them for one run.

    Args:
        recorder: of the run.
        alone: do the other ranks take no part? Then nothing is sent: this rank's own parts stand in for theirs.
        before: told of what is about to be written to.
    """

    def __init__(self, recorder: Recorder, alone: bool, before: Callable[[Any, tuple[Any, ...], Mapping[str, Any]], None] | None) -> None:
        self._recorder = recorder
        self._alone = alone
        self._before = before
        self.simulated: dict[str, None] = {}  # names of those that were told of more than one rank

    def notes(self) -> tuple[str, ...]:
        """What stands on parts that nobody sent."""
        return tuple(f"what other ranks give to {name}: this rank's own stands in" for name in self.simulated)

    def run(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType) -> Any:
        """What the call gives; its error where it is refused and nothing goes on."""
        recorder = self._recorder
        if recorder.stopped:
            return func(*args, **kwargs) if not self._alone else self._nothing_sent(func, args, kwargs)
        collective = _told_apart(func, args)
        call = _call(collective, frame, recorder)
        if self._alone:
            error = _error(func, args, kwargs, collective, call)
            raises = None if error is None else written_refusal(recorder, call, error, frame)
            if raises is not None:
                raise raises
            result = self._nothing_sent(func, args, kwargs)
            self._simulate(collective, call, fits=error is None)
            if error is not None:
                return result
        else:
            result = self._sent(func, args, kwargs, call, frame)
        self._write(collective, call, frame)
        return result

    def _sent(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], call: OpCall, frame: FrameType) -> Any:
        try:
            return func(*args, **kwargs)
        except Exception as error:
            written_refusal(self._recorder, call, error, frame)
            raise

    def _nothing_sent(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The call on fakes of a mode of its own, which reaches nobody: what it gives says that all is done."""
        given = tensors_in((args, kwargs))
        with no_modes(), no_function_modes(), contextlib.ExitStack() as stack:
            mode = fresh_fake_mode()
            fakes = {id(tensor): fake_of(mode, tensor.detach()) for tensor in given}
            fake_args, fake_kwargs = substituted((args, kwargs), fakes)
            stack.enter_context(mode)
            result = func(*fake_args, **fake_kwargs)
        back = {id(fakes[id(tensor)]): tensor for tensor in given}
        return substituted(result, back)

    def _simulate(self, collective: _Collective, call: OpCall, *, fits: bool) -> None:
        if collective.ranks > 1:
            self.simulated[call.name] = None
        for place, part in _moves(collective) if fits else ():
            if place is not part:
                if self._before is not None:
                    self._before(torch.ops.aten.copy_.default, (place, part), {})
                with no_function_modes(), torch.no_grad():
                    place.copy_(part)

    def _write(self, collective: _Collective, call: OpCall, frame: FrameType) -> None:
        """The op in the books: it writes to its places."""
        recorder = self._recorder
        if recorder.running is not None:  # from torch 2.13 on they are torch functions, which are written down as such
            recorder.running.written.update(map(id, tensors_in(collective.places)))
            return
        recorder.settle()
        assumed = bool(recorder.failures)
        outputs = tuple(
            recorder.tensors.add(tensor, producer=len(recorder.ops), assumed=assumed) for tensor in tensors_in(collective.places)
        )
        inputs = tuple(operand.id for operand in call.operands())
        source = recorder.sources.here(frame)
        recorder.ops.append(OpFact(call.name, recorder.modules.current_call, source, inputs, outputs, assumed=assumed))


def _told_apart(func: Any, args: tuple[Any, ...]) -> _Collective:
    name = str(func._schema.name).rpartition("::")[2]
    first, second = args[0] if args else (), args[1] if len(args) > 1 else ()
    parts = second if tensors_in(second) else first
    return _Collective(name, first, parts, group_among(args))


def _call(collective: _Collective, frame: FrameType | None, recorder: Recorder) -> OpCall:
    book = recorder.tensors
    places: Value = tuple(describe(tensor, book) for tensor in tensors_in(collective.places))
    parts: Value = tuple(describe(tensor, book) for tensor in tensors_in(collective.parts))
    form = _FORMS.get(collective.name, "")
    told: dict[str, Value] = {"form": form, "ranks": collective.ranks}
    running = recorder.running
    name = running.name if running is not None else PREFIX + _function_name(frame, collective.name)
    return OpCall(name, (places, parts) if form else (parts,), told)


def _function_name(frame: FrameType | None, otherwise: str) -> str:
    """Of the function of torch.distributed that the user called."""
    name = otherwise
    while frame is not None and not is_users_file(frame.f_code.co_filename):
        code = frame.f_code
        if "distributed" in code.co_filename and code.co_name not in _HANDING_ON:
            name = code.co_name
        frame = frame.f_back
    return name


def _error(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], collective: _Collective, call: OpCall) -> Exception | None:
    """What torch raises for parts and places that don't fit; None where they do."""
    clash = requires(call)
    if clash is None:
        return None
    if collective.group is not None and collective.group.reaches_nobody:
        made = {id(t): torch.zeros(tuple(t.shape), dtype=t.dtype, device="meta") for t in tensors_in((args, kwargs))}
        with no_modes(), real_execution(), no_function_modes():
            real_args, real_kwargs = substituted((args, kwargs), {key: torch.zeros_like(t, device="cpu") for key, t in made.items()})
            try:
                func(*real_args, **real_kwargs)
            except Exception as error:
                return error
            return None
    return RuntimeError(f"{call.name}: {clash.words}")


def _moves(collective: _Collective) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Which part goes where, with this rank's own in place of all others'."""
    places, parts = tensors_in(collective.places), tensors_in(collective.parts)
    form, rank = _FORMS.get(collective.name), collective.group.rank if collective.group else 0
    if form == GATHERED:
        yield from ((place, parts[0]) for place in places)
    elif form == SCATTERED and parts:
        yield places[0], parts[min(rank, len(parts) - 1)]
    elif form == GATHERED_WHOLE:
        yield from ((piece, parts[0].view(-1)) for piece in places[0].view(-1).chunk(collective.ranks))
    elif form == SCATTERED_WHOLE:
        yield places[0].view(-1), parts[0].view(-1).chunk(collective.ranks)[rank]
    elif form == EXCHANGED:
        yield from zip(places, parts, strict=False)
