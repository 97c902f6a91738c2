"""Records out of files: a saved record, an event file, a run's directory or a whole logdir. Without torch, without a server."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.protobuf.message import DecodeError
from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
from tensorboard.compat.proto import event_pb2, summary_pb2
from tensorboard.summary.writer.record_writer import masked_crc32c

from tb_shapeplugin.base.errors import RecordError, ShapesError
from tb_shapeplugin.base.names import PLUGIN_NAME
from tb_shapeplugin.record.record import Record
from tb_shapeplugin.wire.decode import decode

_GZIP = b"\x1f\x8b"
_EVENT_FILE = "tfevents"  # TensorBoard's own test of a file's name


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A record's bytes and where they lie. ``run`` is named as TensorBoard names it; a saved record has no run and no tag."""

    path: str
    run: str
    tag: str
    step: int
    data: bytes

    def open(self) -> Record:
        """The record; RecordError, with the file named, when it can't be read."""
        try:
            return decode(self.data)
        except RecordError as error:
            raise RecordError(f"{self.path}{f' ({self.tag})' if self.tag else ''}: {error}") from error


def stored_records(path: str | os.PathLike[str]) -> list[StoredRecord]:
    """Every record under a path: runs in the order of their names, records in the order in which they were written.

    Args:
        path: a saved record, an event file, a run's directory or a logdir.

    Raises:
        ShapesError: there is nothing at that path.
        RecordError: an event file is damaged; all that are, are named. A file that merely ends in the middle of an event is
            not: its run may be writing.

    Example:
        >>> [stored.run for stored in stored_records("runs")]
        ['first', 'second']
    """
    place = Path(os.fsdecode(path))
    if place.is_dir():
        return _records_of_runs(_event_files(place))
    if not place.exists():
        raise ShapesError(f"There is nothing at {str(place)!r}. Pass a saved record, an event file, a run's directory or a logdir.")
    data = place.read_bytes()
    if data.startswith(_GZIP):
        return [StoredRecord(str(place), "", "", 0, data)]
    return _records_of_runs({".": [place]})


def _event_files(logdir: Path) -> dict[str, list[Path]]:
    """By run, both in the order of their names; a file's name begins with its second."""
    runs: dict[str, list[Path]] = {}
    for file in sorted(logdir.rglob(f"*{_EVENT_FILE}*")):
        if file.is_file():
            runs.setdefault(file.parent.relative_to(logdir).as_posix(), []).append(file)
    return dict(sorted(runs.items()))


def _records_of_runs(runs: Mapping[str, list[Path]]) -> list[StoredRecord]:
    """Each tag once a step: two processes may have written the same."""
    damage: list[str] = []
    found = [stored for run, files in runs.items() for stored in _records_of_run(run, files, damage)]
    if damage:
        raise RecordError(" ".join([*damage, "Copy them anew, or move them away to read the others."]))
    return list({(stored.run, stored.tag, stored.step): stored for stored in found}.values())


def _records_of_run(run: str, files: list[Path], damage: list[str]) -> Iterator[StoredRecord]:
    ours: dict[str, bool] = {}  # the first event with a tag says whose it is, as in TensorBoard
    for file in files:
        for step, value in _values(file, damage):
            if ours.setdefault(value.tag, _is_ours(value)):
                for data in value.tensor.string_val:
                    yield StoredRecord(str(file), run, value.tag, step, data)


# Any, here and below: TensorBoard ships no types.
def _values(file: Path, damage: list[str]) -> Iterator[tuple[int, Any]]:
    loader = RawEventFileLoader(str(file))
    read = 0
    for count, data in enumerate(loader.Load()):
        read += len(data) + 16  # its length, the length's checksum, its own
        try:
            event = event_pb2.Event.FromString(data)
        except DecodeError:
            damage.append(f"{file} is damaged: its event {count} is none.")
            return
        for value in event.summary.value:
            yield event.step, value
    # The loader stops at a broken checksum as it does at a file that is still written; what is left tells them apart.
    if _is_broken_at(file, read):
        damage.append(f"{file} is damaged at byte {read:,}.")


def _is_broken_at(file: Path, start: int) -> bool:
    with file.open("rb") as stream:
        rest = os.fstat(stream.fileno()).st_size - start
        stream.seek(start)
        length, checksum = stream.read(8), stream.read(4)
    if len(checksum) < 4:
        return False
    whole = rest >= int.from_bytes(length, "little") + 16
    return whole or masked_crc32c(length) != int.from_bytes(checksum, "little")


def _is_ours(value: Any) -> bool:
    metadata = value.metadata
    return bool(metadata.plugin_data.plugin_name == PLUGIN_NAME and metadata.data_class == summary_pb2.DATA_CLASS_BLOB_SEQUENCE)
