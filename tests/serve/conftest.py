"""One logdir with all that can go wrong in it, and one TensorBoard a loader that serves it to every test."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tensorboard.compat.proto import event_pb2, summary_pb2, tensor_pb2, types_pb2
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from tb_shapeplugin.write.event import event_bytes
from tb_shapeplugin.write.sink import write_record
from tb_shapeplugin.write.standalone import open_sink
from tb_shapeplugin.write.writers import event_sink
from tests.tensorboard_process import TensorBoard, tensorboard
from tests.wire.records import small_record, stored

PREFIX = "__shapes__/graph/"


@pytest.fixture(scope="session")
def logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Good runs, a run of scalars only, and runs with one kind of garbage each beside a good record."""
    folder = tmp_path_factory.mktemp("logdir")
    write_good(folder / "good" / "inner")
    write_scalars(folder / "scalars")
    write_garbage(folder)
    return folder


def write_good(run: Path) -> None:
    """Two models, one of them failing; the failing one twice the same; and a scalar in the same file."""
    writer = EventFileWriter(str(run))
    add_scalar(writer, "loss")
    write_record(event_sink(writer), *stored(), step=0)
    failing = stored(small_record("Broken", completed=False))
    write_record(event_sink(writer), *failing, step=5)
    write_record(event_sink(writer), *failing, step=6)
    writer.close()


def write_scalars(run: Path) -> None:
    """A run without a record."""
    writer = EventFileWriter(str(run))
    add_scalar(writer, "loss")
    writer.close()


def add_scalar(writer: EventFileWriter, tag: str) -> None:
    """A scalar as torch's add_scalar writes it."""
    writer.add_event(
        event_pb2.Event(wall_time=1.0, summary=summary_pb2.Summary(value=[summary_pb2.Summary.Value(tag=tag, simple_value=0.5)]))
    )


def write_garbage(folder: Path) -> None:
    """A run a kind of garbage; a good record stands beside each."""
    data, header = stored()
    event = event_pb2.Event.FromString(event_bytes(f"{PREFIX}Net@bad", data, header, 0))
    for run, change in GARBAGE.items():
        garbage = event_pb2.Event.FromString(event.SerializeToString())
        change(garbage.summary.value[0])
        sink = open_sink(folder / run)
        sink.put(garbage.SerializeToString())
        write_record(sink, data, header, step=1)
        sink.close()


def _blob(data: bytes) -> Callable[[Any], None]:
    def change(value: Any) -> None:
        value.tensor.string_val[:] = [data]

    return change


def _no_header(value: Any) -> None:
    value.metadata.plugin_data.content = b"\xff\x00 no JSON"


def _tensor_class(value: Any) -> None:
    value.metadata.data_class = summary_pb2.DATA_CLASS_TENSOR


def _no_class(value: Any) -> None:
    value.metadata.data_class = summary_pb2.DATA_CLASS_UNKNOWN


def _rank_0(value: Any) -> None:
    value.tensor.tensor_shape.ClearField("dim")


def _no_strings(value: Any) -> None:
    value.tensor.CopyFrom(tensor_pb2.TensorProto(dtype=types_pb2.DT_FLOAT, float_val=[1.0]))


def _empty(value: Any) -> None:
    value.tensor.ClearField("string_val")
    value.tensor.tensor_shape.dim[0].size = 0


GARBAGE = {
    "text": _blob(b"hello, I am no record"),
    "truncated": _blob(stored()[0][:-30]),
    "flipped": _blob(stored()[0][:-6] + bytes([stored()[0][-6] ^ 1]) + stored()[0][-5:]),
    "nothing": _blob(b""),
    "header": _no_header,
    "tensor": _tensor_class,
    "unclassed": _no_class,
    "rank-0": _rank_0,
    "floats": _no_strings,
    "empty": _empty,
}


@pytest.fixture(scope="session", params=["fast", "python"])
def served(request: pytest.FixtureRequest, logdir: Path) -> Iterator[TensorBoard]:
    """A TensorBoard that has read the logdir, once a loader."""
    with tensorboard(logdir, fast=request.param == "fast") as running:
        running.wait_for("/models", _is_read)
        yield running


def _is_read(found: Any) -> bool:
    """Every run with a good record is there with its step."""
    return {run["run"] for run in found["runs"] if any(model["steps"] for model in run["models"])} >= {"good/inner", *GARBAGE}
