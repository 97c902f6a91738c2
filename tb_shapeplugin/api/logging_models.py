"""add_shapes and ShapeWriter: capture a model and write its record into a run's event file."""

import os
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

from tb_shapeplugin.analyse.ledger import record_of
from tb_shapeplugin.api.captures import Capture
from tb_shapeplugin.api.capturing import capture, refuse_unknown_options
from tb_shapeplugin.api.guarding import Guard, guard
from tb_shapeplugin.base.errors import ShapesError
from tb_shapeplugin.base.faults import Faults
from tb_shapeplugin.record.trace import nothing_known
from tb_shapeplugin.write.scalars import scalar_values
from tb_shapeplugin.write.sink import EventSink, write_record, write_scalars
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
    scalars: bool = False,
    **capture_options: Any,
) -> Capture:
    """Captures the model once and writes the record into the writer's run; TensorBoard shows it in the tab Shapes.

    An unchanged model with an unchanged input is not run again: the earlier Capture comes back at once. Trouble of ours or
    of the disk becomes one warning; the training goes on.

    Args:
        writer: torch's or tensorboardX's SummaryWriter, a ShapeWriter, TensorBoard's EventFileWriter, or an object whose
            ``experiment`` or ``writer`` is one of these.
        model: an nn.Module or any callable.
        args: as for ``capture``.
        kwargs: as for ``capture``.
        step: the training step that the record is filed under.
        all_ranks: write from every process of a distributed job, not from rank 0 alone.
        scalars: write the totals as scalars, too: ``shapes/<name>/params``, ``/flops``, ``/peak_bytes`` and others that are known.
        **capture_options: every option of ``capture``.

    Raises:
        ShapesError: an unknown writer, or a wrong call of ``capture``.

    Example:
        >>> with shapes.ShapeWriter("runs/first") as writer:  # doctest: +SKIP
        ...     shapes.add_shapes(writer, torch.nn.Linear(4, 2), torch.ones(3, 4))
    """
    sink = event_sink(writer)
    if isinstance(step, bool) or not isinstance(step, int):
        raise ShapesError(f"step is {step!r}. Give a whole number.")
    refuse_unknown_options(capture_options)
    faults = Faults()
    captured = faults.guarded("the capture", lambda: _captured(model, args, kwargs, capture_options), None)
    if captured is None:
        captured = Capture(record_of(nothing_known(str(capture_options.get("name", "model")), faults.texts())))
    faults.guarded("writing the record", lambda: _write(sink, captured, step, all_ranks, scalars), None)
    faults.tell()
    return captured


def _captured(model: Callable[..., Any], args: Any, kwargs: Mapping[str, Any] | None, options: Mapping[str, Any]) -> Capture:
    try:
        from tb_shapeplugin.api.earlier import earlier  # noqa: PLC0415  the tab lives without torch
    except ModuleNotFoundError:
        return capture(model, args, kwargs, **options)  # which says in one sentence what to install
    return earlier(model, args, kwargs, options, lambda: capture(model, args, kwargs, **options))


def _write(sink: EventSink, captured: Capture, step: int, all_ranks: bool, scalars: bool) -> None:
    from tb_shapeplugin.tracing.ranks import rank  # noqa: PLC0415  the tab lives without torch

    if all_ranks or rank() == 0:
        write_record(sink, *captured.stored, step)
        if scalars:
            write_scalars(sink, scalar_values(captured.name, captured.totals), step)


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
        scalars: bool = False,
        **capture_options: Any,
    ) -> Capture:
        """As ``shapes.add_shapes`` with this writer."""
        return add_shapes(self, model, args, kwargs, step=step, all_ranks=all_ranks, scalars=scalars, **capture_options)

    def guard(self, model: Callable[..., Any], *, name: str = "model") -> Guard:
        """As ``shapes.guard`` with this writer."""
        return guard(self, model, name=name)

    def close(self) -> None:
        """Closes the file; a second call does nothing."""
        self.sink.close()

    def __enter__(self) -> "ShapeWriter":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
