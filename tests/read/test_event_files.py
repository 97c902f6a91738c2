"""Records out of files and folders, whole, still written and damaged."""

import shutil
import struct
from pathlib import Path

import pytest
from tensorboard.compat.proto import event_pb2
from tensorboard.summary.writer.event_file_writer import EventFileWriter
from tensorboard.summary.writer.record_writer import masked_crc32c

from tb_shapeplugin.base.errors import RecordError, ShapesError
from tb_shapeplugin.base.names import graph_tag
from tb_shapeplugin.read.event_files import stored_records
from tb_shapeplugin.wire.envelope import digest
from tb_shapeplugin.write.event import event_bytes
from tb_shapeplugin.write.sink import write_record
from tb_shapeplugin.write.standalone import open_sink
from tests.wire.records import small_record, stored


def write_run(folder: Path, *names: str) -> Path:
    """A run with a record of each name, at steps 0, 1, …; its event file."""
    sink = open_sink(folder)
    for step, name in enumerate(names):
        write_record(sink, *stored(small_record(name)), step=step)
    sink.close()
    (file,) = folder.glob("*tfevents*")
    return file


def framed(event: bytes) -> bytes:
    """An event as a file holds it."""
    length = struct.pack("<Q", len(event))
    return length + struct.pack("<I", masked_crc32c(length)) + event + struct.pack("<I", masked_crc32c(event))


def test_a_logdir_gives_runs_as_tensorboard_names_them(tmp_path: Path) -> None:
    """Folders by their path below the logdir, the logdir itself as a dot; records as they were written."""
    write_run(tmp_path / "b" / "inner", "Net")
    write_run(tmp_path / "a", "First", "Second")
    write_run(tmp_path, "Root")
    (tmp_path / "notes.txt").write_text("no event file")
    found = [(record.run, record.tag.partition("@")[0], record.step) for record in stored_records(tmp_path)]
    prefix = "__shapes__/graph/"
    assert found == [(".", f"{prefix}Root", 0), ("a", f"{prefix}First", 0), ("a", f"{prefix}Second", 1), ("b/inner", f"{prefix}Net", 0)]


def test_a_run_an_event_file_and_a_saved_record_open_too(tmp_path: Path) -> None:
    """Every path that load takes, as text and as a Path."""
    file = write_run(tmp_path / "run", "Net")
    data = stored()[0]
    saved = tmp_path / "net.shapes"
    saved.write_bytes(data)
    for path in (tmp_path / "run", str(tmp_path / "run"), file, str(file)):
        (found,) = stored_records(path)
        assert (found.path, found.run, found.data) == (str(file), ".", data)
    (found,) = stored_records(saved)
    assert (found.run, found.tag, found.step, found.data) == ("", "", 0, data)
    assert found.open() == small_record()


def test_nothing_there_is_a_sentence(tmp_path: Path) -> None:
    """A path that doesn't exist is a wrong call; a folder without records is an empty list."""
    with pytest.raises(ShapesError, match=r"nothing at .*gone"):
        stored_records(tmp_path / "gone")
    assert stored_records(tmp_path) == []


def test_what_others_wrote_is_passed_over(tmp_path: Path) -> None:
    """Scalars, and a tag of ours that another plugin wrote first: TensorBoard gives it to that plugin."""
    data, header = stored()
    tag = graph_tag("Net", digest(data))
    writer = EventFileWriter(str(tmp_path))
    foreign = event_pb2.Event.FromString(event_bytes(tag, b"theirs", header, 0))
    foreign.summary.value[0].metadata.plugin_data.plugin_name = "scalars"
    writer.add_event(foreign)
    writer.add_event(event_pb2.Event.FromString(event_bytes(tag, data, header, 1)))
    writer.close()
    assert stored_records(tmp_path) == []


def test_the_same_record_of_two_processes_comes_once(tmp_path: Path) -> None:
    """Content makes the tag: the same tag at the same step is the same record."""
    write_run(tmp_path / "one", "Net")
    shutil.copytree(tmp_path / "one", tmp_path / "both")
    shutil.copy(write_run(tmp_path / "two", "Net"), tmp_path / "both")
    assert len(list((tmp_path / "both").iterdir())) == 2
    assert len(stored_records(tmp_path / "both")) == 1


def test_a_file_that_is_still_written_gives_what_is_whole(tmp_path: Path) -> None:
    """It may end anywhere: the records before that are there, and nothing is called damaged."""
    file = write_run(tmp_path, "First", "Second")
    whole = file.read_bytes()
    second = whole.rindex(b"__shapes__/graph/Second")
    for end in (len(whole) - 1, len(whole) - 5, second, second - 25):
        file.write_bytes(whole[:end])
        assert [found.tag.partition("@")[0] for found in stored_records(tmp_path)] == ["__shapes__/graph/First"]


def test_every_damaged_file_is_named(tmp_path: Path) -> None:
    """Two of three runs are damaged: both are named, with the place, and the way to the third."""
    write_run(tmp_path / "good", "Net")
    payload, zeros = write_run(tmp_path / "payload", "Net"), write_run(tmp_path / "zeros", "Net")
    data = bytearray(payload.read_bytes())
    data[-20] ^= 1
    payload.write_bytes(data)
    zeros.write_bytes(zeros.read_bytes() + bytes(64))  # what NFS leaves behind
    with pytest.raises(RecordError) as caught:
        stored_records(tmp_path)
    told = str(caught.value)
    assert f"{payload} is damaged at byte" in told and f"{zeros} is damaged at byte" in told and "move them away" in told
    assert "good" not in told
    payload.unlink()
    zeros.unlink()
    assert len(stored_records(tmp_path)) == 1


@pytest.mark.parametrize("flip", range(12))
def test_a_broken_length_is_damage_not_an_end(flip: int, tmp_path: Path) -> None:
    """A length that points beyond the file looks like an event to come; its checksum says that it isn't."""
    file = write_run(tmp_path, "Net")
    data = file.read_bytes()
    start = 12 + int.from_bytes(data[:8], "little") + 4
    file.write_bytes(data[: start + flip] + bytes([data[start + flip] ^ 0x40]) + data[start + flip + 1 :])
    with pytest.raises(RecordError, match=f"is damaged at byte {start}"):
        stored_records(file)


def test_a_valid_frame_around_garbage_is_damage(tmp_path: Path) -> None:
    """Checksums hold, and no event is inside."""
    file = write_run(tmp_path, "Net")
    file.write_bytes(file.read_bytes() + framed(b"\xff\xff\xff"))
    with pytest.raises(RecordError, match="its event 2 is none"):
        stored_records(file)


def test_a_garbage_record_is_named_when_it_is_opened(tmp_path: Path) -> None:
    """The file is whole, what it holds isn't: the others open, and this one says which file and tag."""
    data, header = stored()
    writer = EventFileWriter(str(tmp_path))
    for name, blob in (("bad", data[:-4]), ("good", data)):
        writer.add_event(event_pb2.Event.FromString(event_bytes(f"__shapes__/graph/{name}@0", blob, header, 0)))
    writer.close()
    bad, good = stored_records(tmp_path)
    assert good.open() == small_record()
    with pytest.raises(RecordError) as caught:
        bad.open()
    assert bad.path in str(caught.value) and "__shapes__/graph/bad@0" in str(caught.value) and "cut off" in str(caught.value)


def test_any_other_file_holds_no_records(tmp_path: Path) -> None:
    """A picture given by mistake is called damaged, not read for ever."""
    picture = tmp_path / "net.png"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    with pytest.raises(RecordError, match=r"net\.png is damaged at byte 0"):
        stored_records(picture)
