"""Gathers the aten ops below the op that is running."""

import contextlib
import sys
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any, Protocol

from tb_shapeplugin.tracing.aten_children import child_of
from tb_shapeplugin.tracing.aten_ops import AtenOp, aten_op
from tb_shapeplugin.tracing.compat import TorchDispatchMode, device_of, written_operands
from tb_shapeplugin.tracing.recorder import Recorder
from tb_shapeplugin.tracing.source import is_users_file
from tb_shapeplugin.tracing.values import trying


class SendsToRanks(Protocol):
    """Runs the collectives of a run."""

    def run(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType) -> Any:
        """What the call gives."""


class AtenRecorder(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch has no types there
    """Gathers the aten ops below the running op; ``before`` is told first of each one that writes to operands or draws."""

    def __init__(
        self,
        recorder: Recorder,
        before: Callable[[Any, tuple[Any, ...], Mapping[str, Any]], None] | None = None,
        collectives: SendsToRanks | None = None,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._recorder = recorder
        self._before = before
        self._collectives = collectives

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        """Nothing of ours may raise here: below some of these calls torch can only end the process."""
        kwargs = kwargs or {}
        recorder, op = self._recorder, None
        try:
            op = aten_op(func)
            if op.asks_device:
                return device_of(args[0])
            if self._before is not None:
                self._before(func, args, kwargs)
        except Exception as fault:
            recorder.stop(fault)
            self._once_more(func, args, kwargs)
        if op is not None and op.collective and self._collectives is not None:
            return self._collectives.run(func, args, kwargs, sys._getframe(1))
        result = func(*args, **kwargs)
        if op is not None and not recorder.stopped and not trying():
            try:
                self._gather(op, func, args, kwargs, result, sys._getframe(1))
            except Exception as fault:
                recorder.stop(fault)
        return result

    def _once_more(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """What is about to be written to has to be kept, also after a fault."""
        with contextlib.suppress(Exception):
            if self._before is not None:
                self._before(func, args, kwargs)

    def _gather(self, op: AtenOp, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], result: Any, frame: FrameType) -> None:
        running = self._recorder.running
        if running is not None:
            running.drew, running.read = running.drew or op.draws, running.read or op.reads
            if op.writes:
                running.written.update(map(id, written_operands(func, args, kwargs)))
            if not op.noise or running.name.endswith("detach"):
                running.children.append(child_of(func, args, result))
        elif op.reads:  # fakes have a tolist of their own, which no function mode hears of
            self._recorder.note_read(func, args, kwargs, result, -1, frame)
        elif not op.noise and (op.takes_functions or is_users_file(frame.f_code.co_filename)):
            self._recorder.native(func, args, kwargs, result, frame)
