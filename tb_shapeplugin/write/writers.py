"""Which kind of writer the user has, and how an event gets into its file."""

import os
import weakref
from typing import Any

from tensorboard.compat.proto import event_pb2
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from tb_shapeplugin.base.errors import ShapesError
from tb_shapeplugin.write.sink import EventSink, Ledger

# One ledger a writer, for as long as it lives: every call of add_shapes makes a sink anew.
_LEDGERS: weakref.WeakKeyDictionary[Any, Ledger] = weakref.WeakKeyDictionary()

# Lightning's logger holds a SummaryWriter as .experiment, accelerate's and ignite's as .writer; a ShapeWriter has its .sink.
_HOLDERS = ("experiment", "writer", "sink")
_DEEPEST = 3


def event_sink(writer: object) -> EventSink:
    """The sink of a user's writer.

    Args:
        writer: torch's or tensorboardX's SummaryWriter, TensorBoard's EventFileWriter, a sink, or an object whose
            ``experiment`` or ``writer`` is one of these.

    Raises:
        ShapesError: it is none of these.

    Example:
        >>> sink = event_sink(torch.utils.tensorboard.SummaryWriter("runs/first"))
    """
    found = _find(writer, _DEEPEST)
    if found is None:
        raise ShapesError(
            f"writer is a {type(writer).__module__}.{type(writer).__qualname__}, which can't hold shapes. Pass torch's or tensorboardX's "
            f"SummaryWriter, TensorBoard's EventFileWriter, an object with one of these as .experiment or .writer, or ShapeWriter(log_dir)."
        )
    return found


def _find(writer: object, depth: int) -> EventSink | None:
    if isinstance(writer, EventSink):
        return writer
    if _is_writer(writer):
        return UserSink(writer, _ledger(writer))
    for name in _HOLDERS if depth else ():
        try:
            held = getattr(writer, name, None)
        except Exception:  # a property of the user's object may raise anything
            continue
        if held is not None and (found := _find(held, depth - 1)) is not None:
            return found
    return None


def _is_writer(writer: object) -> bool:
    # Asked of the type: objects that answer to every attribute (Lightning's on other ranks, mocks) are no writers.
    if hasattr(type(writer), "_get_file_writer"):
        return True
    writer = vars(writer).get("event_writer", writer) if hasattr(writer, "__dict__") else writer
    return isinstance(writer, EventFileWriter) or (_is_of_tensorboardx(writer) and hasattr(type(writer), "add_event"))


def _ledger(writer: object) -> Ledger:
    try:
        return _LEDGERS.setdefault(writer, Ledger())
    except TypeError:  # can't be hashed or referenced weakly
        return Ledger()


class UserSink(EventSink):
    """Writes through a writer of the user's, found anew each time: a SummaryWriter opens another file after close()."""

    def __init__(self, writer: Any, ledger: Ledger) -> None:  # Any: known by what it can do
        super().__init__(ledger)
        self._writer = writer

    def put(self, event: bytes) -> bool:
        """As ``EventSink.put``."""
        writer = self._writer
        if hasattr(type(writer), "_get_file_writer"):
            writer = writer._get_file_writer()
        writer = getattr(writer, "event_writer", writer)
        if isinstance(writer, EventFileWriter):
            _put_into_tensorboard(writer, event)
        elif _is_of_tensorboardx(writer):
            if not hasattr(writer, "_ev_writer"):
                return False  # SummaryWriter(write_to_disk=False)
            _put_into_tensorboardx(writer, event)
        else:
            raise OSError(f"{type(writer).__module__}.{type(writer).__qualname__} is no writer of event files that is known")
        return True


def _put_into_tensorboard(writer: EventFileWriter, event: bytes) -> None:
    queue = writer._async_writer
    worker = queue._worker
    # A flush without the thread would wait for ever; an error of the thread's own is raised by add_event.
    if not worker.is_alive() and not queue._closed and worker.exception is None:
        raise OSError("the writer was opened before this process was forked, so that its thread is missing here")
    writer.add_event(event_pb2.Event.FromString(event))
    writer.flush()


def _is_of_tensorboardx(writer: object) -> bool:
    return any(kind.__module__.partition(".")[0] == "tensorboardX" for kind in type(writer).__mro__)


def _put_into_tensorboardx(writer: Any, event: bytes) -> None:  # Any: tensorboardX ships no types
    # It has its own classes of messages, which keep the fields they don't know; only who has it here needs it.
    from tensorboardX.proto import event_pb2 as their_event_pb2  # noqa: PLC0415

    worker = writer._worker
    if worker is None or not worker.is_alive():
        raise OSError("the writer is closed, or was opened before this process was forked")
    file = writer._ev_writer
    # Past the queue, whose flush doesn't wait for what is in it; the file has a lock of its own.
    file.write_event(their_event_pb2.Event.FromString(event))
    file.flush()
    if "://" not in file._file_name and not os.path.exists(file._file_name):
        raise FileNotFoundError(f"{file._file_name} was deleted")
