"""An event file of our own, for a log directory that no other writer serves."""

import contextlib
import os
import secrets

from tensorboard.compat import tf
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from tb_shapeplugin.base.errors import ShapesError
from tb_shapeplugin.write.sink import EventSink, Ledger
from tb_shapeplugin.write.writers import UserSink


class StandaloneSink(EventSink):
    """A sink that owns its event file; ``close`` ends it."""

    def __init__(self, writer: EventFileWriter) -> None:
        super().__init__(Ledger())
        self._writer = writer
        self._sink = UserSink(writer, self.ledger)

    def put(self, event: bytes) -> bool:
        """As ``EventSink.put``."""
        return self._sink.put(event)

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        # Every record was flushed when it was written: trouble here loses nothing, and it must not stop a training.
        with contextlib.suppress(Exception):
            self._writer.close()


def open_sink(log_dir: str | os.PathLike[str]) -> StandaloneSink:
    """A new event file in that directory, which is made where it doesn't exist.

    Raises:
        ShapesError: nothing can be written there.

    Example:
        >>> sink = open_sink("runs/first")
        >>> sink.close()
    """
    folder = os.fsdecode(log_dir)
    # TensorBoard names files by second, host and process: two containers that share these would overwrite each other.
    suffix = f".shapes.{secrets.token_hex(4)}"
    try:
        return StandaloneSink(EventFileWriter(folder, filename_suffix=suffix))
    except (OSError, ValueError, tf.errors.OpError) as error:
        raise ShapesError(f"log_dir {folder!r} can't be written: {error}. Choose a directory that can.") from error
