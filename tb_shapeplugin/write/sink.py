"""Where records go: written once, flushed at once, and no trouble of the disk ever reaches a training loop."""

import os
import threading
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping

from tb_shapeplugin.base.names import graph_tag
from tb_shapeplugin.wire.envelope import digest
from tb_shapeplugin.wire.header import Header
from tb_shapeplugin.wire.text import storable_text
from tb_shapeplugin.write.event import event_bytes
from tb_shapeplugin.write.scalars import scalars_bytes


class Ledger:
    """What is known of one writer: the tags its run holds, and whether a warning was given in this process."""

    def __init__(self) -> None:
        self.tags: set[str] = set()
        self._own = (os.getpid(), threading.Lock(), [True])

    def lock(self) -> threading.Lock:
        """This process's lock: a fork may copy one that is locked, and nobody would open it."""
        return self._of_this_process()[1]

    def may_warn(self) -> bool:
        """True the first time that it is asked in a process."""
        unused = self._of_this_process()[2]
        return bool(unused) and unused.pop()

    def _of_this_process(self) -> tuple[int, threading.Lock, list[bool]]:
        if self._own[0] != os.getpid():
            self._own = (os.getpid(), threading.Lock(), [True])
        return self._own


class EventSink(ABC):
    """Takes serialised events for one run's event file."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger

    @abstractmethod
    def put(self, event: bytes) -> bool:
        """Write one event and flush it; False when the writer is one that writes nothing on purpose.

        Raises:
            OSError: the event isn't on the disk; the message says why.
        """


def write_scalars(sink: EventSink, values: Mapping[str, float], step: int) -> bool:
    """Write figures as scalars, by their tags, each step once.

    Returns:
        Whether they are in the event file; see ``write_record``.

    Example:
        >>> write_scalars(open_sink("runs/first"), {"shapes/net/params": 18.0}, step=0)
        True
    """
    known = {f"{tag} {step}": (tag, value) for tag, value in values.items() if f"{tag} {step}" not in sink.ledger.tags}
    return not known or _put(sink, "scalars", known, lambda: scalars_bytes(dict(known.values()), step))


def write_record(sink: EventSink, data: bytes, header: Header, step: int) -> bool:
    """Write a record's bytes, under a tag made of its name and content, so that the same record is there once.

    Args:
        sink: where to, from ``event_sink`` or ``open_sink``.
        data: what ``wire.encode`` made.
        header: what ``wire.header_of`` says of the same record.
        step: the step of the training it belongs to.

    Returns:
        Whether the record is in the event file. False after one warning when the disk or a forked process is in the way;
        False without one when the writer writes nothing on purpose.

    Raises:
        RecordError: data is no record.

    Example:
        >>> write_record(open_sink("runs/first"), encode(record), header_of(record), step=0)
        True
    """
    tag = graph_tag(storable_text(header.name), digest(data))
    return tag in sink.ledger.tags or _put(sink, tag, [tag], lambda: event_bytes(tag, data, header, int(step)))


def _put(sink: EventSink, what: str, marks: Iterable[str], event: Callable[[], bytes]) -> bool:
    """Writes an event, and remembers by the marks that it is there; False after one warning where that can't be."""
    ledger = sink.ledger
    with ledger.lock():
        try:
            written = sink.put(event())
        except Exception as error:  # whatever a writer or its file system raises, training goes on
            if ledger.may_warn():
                said = f"Shapes could not write {what}: {type(error).__name__}: {error}"
                warnings.warn(f"{said}. Check the disk and open a new writer. Training goes on; this is said once.", stacklevel=3)
            return False
        if written:
            ledger.tags.update(marks)
        return written
