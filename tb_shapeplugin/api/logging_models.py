"""add_shapes and ShapeWriter: capture a model and write its record into a run's event file."""

import os
import warnings
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

from tb_shapeplugin.analyse.ledger import record_of
from tb_shapeplugin.api.captures import Capture
from tb_shapeplugin.api.capturing import capture, refuse_unknown_options
from tb_shapeplugin.base.errors import ShapesError
from tb_shapeplugin.record.trace import Trace
from tb_shapeplugin.wire.encode import encode
from tb_shapeplugin.wire.header import header_of
from tb_shapeplugin.write.sink import EventSink, write_record
from tb_shapeplugin.write.standalone import open_sink
from tb_shapeplugin.write.writers import event_sink


def add_shapes(
    writer: Any,
    model: Callable[..., Any],
    args: Any = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    step: int = 0,
    all_ranks: bool = False,
    **capture_options: Any,
) -> Capture:
    """Captures the model once and writes the record into the writer's run; TensorBoard shows it in the tab Shapes.

    Trouble of ours or of the disk becomes one warning; the training goes on.

    Args:
        writer: torch's or tensorboardX's SummaryWriter, a ShapeWriter, TensorBoard's EventFileWriter, or an object whose
            ``experiment`` or ``writer`` is one of these.
        model: an nn.Module or any callable.
        args: as for ``capture``.
        kwargs: as for ``capture``.
        step: the training step that the record is filed under.
        all_ranks: write from every process of a distributed job, not from rank 0 alone.
        **capture_options: every option of ``capture``.

    Raises:
        ShapesError: an unknown writer, or a wrong call of ``capture``.

    Example:
        >>> with shapes.ShapeWriter("runs/first") as writer:  # doctest: +SKIP
        ...     shapes.add_shapes(writer, torch.nn.Linear(4, 2), torch.ones(3, 4))
    """
    sink = writer.sink if isinstance(writer, ShapeWriter) else event_sink(writer)
    if isinstance(step, bool) or not isinstance(step, int):
        raise ShapesError(f"step is {step!r}. Give a whole number.")
    refuse_unknown_options(capture_options)
    try:
        captured = capture(model, args, kwargs, **capture_options)
        _write(sink, captured, step, all_ranks)
    except ShapesError:
        raise
    except Exception as error:
        told = f"Shapes could not capture {type(model).__name__}: {type(error).__name__}: {error}"
        warnings.warn(f"{told}. Training goes on. Please report this.", stacklevel=2)
        return _nothing_captured(str(capture_options.get("name", "model")), error)
    return captured


def _write(sink: EventSink, captured: Capture, step: int, all_ranks: bool) -> None:
    from tb_shapeplugin.tracing.ranks import rank  # noqa: PLC0415  the tab lives without torch

    if all_ranks or rank() == 0:
        write_record(sink, encode(captured.record), header_of(captured.record), step)


def _nothing_captured(name: str, error: Exception) -> Capture:
    """A Capture that says that it holds nothing, and why."""
    nothing = Trace(name, "real", False, f"{type(error).__name__}: {error}", (), (), (), (), (), (), (), (), ("everything",))
    return Capture(record_of(nothing))


class ShapeWriter:
    """Writes records into an event file of its own, where no other writer serves the directory.

    Args:
        log_dir: the run's directory; made where it doesn't exist.

    Raises:
        ShapesError: nothing can be written there.

    Example:
        >>> with shapes.ShapeWriter("runs/first") as writer:  # doctest: +SKIP
        ...     writer.add_shapes(torch.nn.Linear(4, 2), torch.ones(3, 4))
    """

    def __init__(self, log_dir: str | os.PathLike[str]) -> None:
        self.log_dir = os.fspath(log_dir)
        self.sink = open_sink(log_dir)

    def add_shapes(
        self,
        model: Callable[..., Any],
        args: Any = (),
        kwargs: Mapping[str, Any] | None = None,
        *,
        step: int = 0,
        all_ranks: bool = False,
        **capture_options: Any,
    ) -> Capture:
        """As ``shapes.add_shapes`` with this writer."""
        return add_shapes(self, model, args, kwargs, step=step, all_ranks=all_ranks, **capture_options)

    def close(self) -> None:
        """Closes the file; a second call does nothing."""
        self.sink.close()

    def __enter__(self) -> "ShapeWriter":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
