"""guard: diagnoses what crosses it, writes the record, and lets the exception go on with the diagnosis as a note."""

import contextlib
import gc
import sys
import threading
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

from tb_shapeplugin.api.captures import Capture
from tb_shapeplugin.api.capturing import refuse_no_model
from tb_shapeplugin.base.errors import ShapesError
from tb_shapeplugin.base.faults import Faults
from tb_shapeplugin.report.four_lines import four_lines
from tb_shapeplugin.write.sink import EventSink, write_record
from tb_shapeplugin.write.writers import event_sink

_SECONDS = 10.0  # that a diagnosis may take in all
_SILENT_SECONDS = 1.0  # before it says that it is at work
_WIDTH = 100  # characters that a line of the note may have
_MARK = "__shapes_diagnosed__"  # on an exception that was looked at
_NO_WRITER = "writer is None. Pass one; in a distributed job None will do on every rank but 0, where the diagnosis is then the note alone."


def guard(writer: Any, model: Callable[..., Any], *, name: str = "model") -> "Guard":
    """Watches a training loop: what fails inside is diagnosed from its traceback, written, and goes on with the diagnosis as a note.

    While all is well nothing is done: no hook, no patch, no thread. The exception itself is never changed or replaced; on
    Python 3.10, which has no notes, the diagnosis is printed to stderr. Interrupts and exits pass by. Every process of a distributed
    job diagnoses and writes its own failure.

    Args:
        writer: as for ``add_shapes``. None on ranks other than 0: there the diagnosis is the note alone.
        model: the nn.Module or callable that is trained, wrapped or not.
        name: what it is called in the tab.

    Returns:
        A context manager, also usable as a decorator, any number of times.

    Raises:
        ShapesError: an unknown writer, a model that can't be called, an empty name.

    Example:
        >>> with shapes.guard(writer, model):  # doctest: +SKIP
        ...     for images, labels in loader:
        ...         criterion(model(images), labels).backward()
    """
    refuse_no_model(model, name)
    if writer is None and _is_first_rank():
        raise ShapesError(_NO_WRITER)
    return Guard(None if writer is None else event_sink(writer), model, name)


class Guard(contextlib.ContextDecorator):
    """What ``guard`` gives."""

    def __init__(self, sink: EventSink | None, model: Callable[..., Any], name: str) -> None:
        self._sink = sink
        self._model = model
        self._name = name

    def __enter__(self) -> "Guard":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if isinstance(error, Exception) and not hasattr(error, _MARK):
            with contextlib.suppress(Exception):  # of a fault there was a warning, which the user's filters may turn into an error
                setattr(error, _MARK, True)
                self._diagnose(error)

    def _diagnose(self, error: Exception) -> None:
        faults = Faults()
        with _progress(error):
            captured = faults.guarded("the diagnosis", lambda: self._captured(error, faults), None)
            if captured is not None:
                if self._sink is not None:
                    sink = self._sink
                    faults.guarded("writing the record", lambda: write_record(sink, *captured.stored, 0), False)
                faults.guarded("the note", lambda: _note(error, captured), None)
            gc.collect()  # runs that failed are circles of frames, which hold the user's tensors
        faults.tell()

    def _captured(self, error: Exception, faults: Faults) -> Capture | None:
        from tb_shapeplugin.api.crashes import record_of_crash  # noqa: PLC0415  it needs torch, and time to load: not while all is well

        record = record_of_crash(error, self._model, self._name, _SECONDS, faults)
        return None if record is None else Capture(record)


def _is_first_rank() -> bool:
    from tb_shapeplugin.tracing.ranks import rank  # noqa: PLC0415  the tab lives without torch

    return rank() == 0


@contextlib.contextmanager
def _progress(error: Exception) -> Iterator[None]:
    """Says on stderr that a diagnosis is at work, when it takes long."""
    kind = type(error).__name__
    said = f"Shapes looks for the cause of this {kind}, for at most {_SECONDS:.0f} s …"
    timer = threading.Timer(_SILENT_SECONDS, lambda: print(said, file=sys.stderr, flush=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _note(error: Exception, captured: Capture) -> None:
    """Adds the four lines of each finding to the exception."""
    told = [f"✕ {finding.kind}\n{four_lines(finding, captured.record, width=_WIDTH)}" for finding in captured.findings]
    if not told:
        return
    text = "\n\n".join([f"Shapes on this failure (tab Shapes, model {captured.name!r}):", *told])
    add_note = getattr(error, "add_note", None)  # from Python 3.11
    if add_note is None:
        print(text, file=sys.stderr, flush=True)
    else:
        add_note(text)
