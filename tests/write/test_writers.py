"""Real writers of every kind: the record lands in their file, once, beside what they wrote themselves."""

import gc
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
from tensorboard.compat.proto import summary_pb2, types_pb2
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from tb_shapeplugin.base.errors import RecordError, ShapesError
from tb_shapeplugin.read.event_files import stored_records
from tb_shapeplugin.write import writers
from tb_shapeplugin.write.sink import write_record
from tb_shapeplugin.write.standalone import open_sink
from tb_shapeplugin.write.writers import event_sink
from tests.wire.records import small_record, stored

DATA, HEADER = stored()


def torch_writer(folder: str) -> Any:
    """torch's SummaryWriter."""
    pytest.importorskip("torch")
    return pytest.importorskip("torch.utils.tensorboard").SummaryWriter(folder)


def torch_file_writer(folder: str) -> Any:
    """What torch's SummaryWriter keeps inside."""
    pytest.importorskip("torch")
    return pytest.importorskip("torch.utils.tensorboard").FileWriter(folder)


def tensorboardx_writer(folder: str) -> Any:
    """tensorboardX's SummaryWriter."""
    return pytest.importorskip("tensorboardX").SummaryWriter(folder)


def tensorboardx_event_file_writer(folder: str) -> Any:
    """tensorboardX's EventFileWriter."""
    return pytest.importorskip("tensorboardX.event_file_writer").EventFileWriter(folder)


def lightning_like(folder: str) -> Any:
    """A logger that holds the writer as .experiment."""
    return SimpleNamespace(experiment=torch_writer(folder))


def tracker_like(folder: str) -> Any:
    """A tracker that holds it as .writer, inside something that holds the tracker."""
    return SimpleNamespace(writer=SimpleNamespace(experiment=None, writer=EventFileWriter(folder)))


KINDS: list[Callable[[str], Any]] = [
    torch_writer,
    torch_file_writer,
    tensorboardx_writer,
    tensorboardx_event_file_writer,
    EventFileWriter,
    open_sink,
    lightning_like,
    tracker_like,
]
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


@every_kind
def test_a_record_lands_in_the_writers_file(kind: Callable[[str], Any], tmp_path: Path) -> None:
    """On the disk when write_record returns, without closing or flushing anything."""
    writer = kind(str(tmp_path))
    assert write_record(event_sink(writer), DATA, HEADER, step=7) is True
    (found,) = stored_records(tmp_path)
    assert (found.run, found.step, found.data) == (".", 7, DATA)
    assert found.tag.startswith("__shapes__/graph/Net@")
    assert len(list(tmp_path.iterdir())) == 1, "no file beside the writer's own"


@every_kind
def test_the_event_is_what_both_loaders_need(kind: Callable[[str], Any], tmp_path: Path) -> None:
    """A blob sequence: strings of rank 1, a data class, a wall time, the header beside it; whoever wrote it."""
    writer = kind(str(tmp_path))
    write_record(event_sink(writer), DATA, HEADER, step=7)
    (file,) = tmp_path.iterdir()
    (event,) = [event for event in EventFileLoader(str(file)).Load() if event.summary.value]
    (value,) = event.summary.value
    assert event.wall_time > 1.6e9
    assert value.metadata.data_class == summary_pb2.DATA_CLASS_BLOB_SEQUENCE
    assert value.metadata.plugin_data.plugin_name == "shapes"
    assert value.metadata.plugin_data.content == HEADER.to_json()
    assert value.tensor.dtype == types_pb2.DT_STRING
    assert [dim.size for dim in value.tensor.tensor_shape.dim] == [1]


@every_kind
def test_the_same_record_is_written_once_a_writer(kind: Callable[[str], Any], tmp_path: Path) -> None:
    """However often, at whatever step, through however many sinks: one writer, one record."""
    writer = kind(str(tmp_path))
    other = stored(small_record("Other"))
    assert [write_record(event_sink(writer), DATA, HEADER, step) for step in range(3)] == [True] * 3
    assert write_record(event_sink(writer), *other, step=3) is True
    assert [found.step for found in stored_records(tmp_path)] == [0, 3]


def test_two_writers_hold_a_record_each(tmp_path: Path) -> None:
    """Once a writer, not once a process."""
    for name in ("a", "b"):
        write_record(event_sink(EventFileWriter(str(tmp_path / name))), DATA, HEADER, step=0)
    assert [found.run for found in stored_records(tmp_path)] == ["a", "b"]


@pytest.mark.parametrize("kind", [torch_writer, tensorboardx_writer], ids=lambda kind: kind.__name__)
def test_scalars_and_shapes_live_in_one_writer(kind: Callable[[str], Any], tmp_path: Path) -> None:
    """The user's own scalars are all there, in order, before and after ours."""
    writer = kind(str(tmp_path))
    for step in range(5):
        writer.add_scalar("loss", 1 / (step + 1), step)
        write_record(event_sink(writer), *stored(small_record(f"m{step}")), step=step)
    writer.close()
    (file,) = tmp_path.iterdir()
    events = [event for event in EventFileLoader(str(file)).Load() if event.summary.value]
    assert [event.step for event in events if event.summary.value[0].tag == "loss"] == [0, 1, 2, 3, 4]
    assert [found.step for found in stored_records(tmp_path)] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("kind", [torch_writer, tensorboardx_writer], ids=lambda kind: kind.__name__)
def test_a_summary_writer_goes_on_after_close(kind: Callable[[str], Any], tmp_path: Path) -> None:
    """It opens another file, and so do we."""
    writer = kind(str(tmp_path))
    write_record(event_sink(writer), DATA, HEADER, step=0)
    writer.close()
    time.sleep(1.1)  # tensorboardX names files by the second, and would write over its own
    assert write_record(event_sink(writer), *stored(small_record("Later")), step=1) is True
    assert sorted(found.step for found in stored_records(tmp_path)) == [0, 1]


def test_a_writer_that_writes_nothing_on_purpose_is_respected(tmp_path: Path) -> None:
    """tensorboardX's write_to_disk=False, as people use it on other ranks: no file, no warning, no error."""
    writer = pytest.importorskip("tensorboardX").SummaryWriter(str(tmp_path / "none"), write_to_disk=False)
    assert write_record(event_sink(writer), DATA, HEADER, step=0) is False
    assert not (tmp_path / "none").exists()


class _Raising:
    @property
    def experiment(self) -> object:
        raise RuntimeError("not set up")


class _Ring:
    @property
    def writer(self) -> object:
        return self


class _OtherFileWriter:
    def add_event(self, event: object) -> None:
        """Not TensorBoard's."""


STRANGERS = [
    None,
    1,
    "runs",
    Path("runs"),
    object(),
    [],
    SimpleNamespace(experiment=3),
    MagicMock(),
    _Raising(),
    _Ring(),
    _OtherFileWriter(),
]


@pytest.mark.parametrize("stranger", STRANGERS, ids=lambda stranger: type(stranger).__name__)
def test_anything_else_is_a_sentence_with_the_way_out(stranger: object) -> None:
    """Objects that answer to every attribute included: a Mock, Lightning's logger on other ranks."""
    with pytest.raises(ShapesError) as caught:
        event_sink(stranger)
    assert type(stranger).__qualname__ in str(caught.value)
    assert "SummaryWriter" in str(caught.value) and "ShapeWriter(log_dir)" in str(caught.value)


def test_bytes_that_are_no_record_are_refused_before_they_are_written(tmp_path: Path) -> None:
    """Their tag is made of what is inside."""
    with pytest.raises(RecordError):
        write_record(open_sink(tmp_path), b"garbage", HEADER, step=0)
    assert stored_records(tmp_path) == []


def test_no_writer_is_kept_alive(tmp_path: Path) -> None:
    """What is remembered of a writer goes with it."""
    gc.collect()
    before = len(writers._LEDGERS)
    writer = EventFileWriter(str(tmp_path))
    write_record(event_sink(writer), DATA, HEADER, step=0)
    assert len(writers._LEDGERS) == before + 1
    writer.close()
    del writer
    gc.collect()
    assert len(writers._LEDGERS) == before
