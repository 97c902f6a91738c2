"""add_shapes, ShapeWriter and load: into a run's event file and out again."""

import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.summary.writer.event_file_writer import EventFileWriter
from torch import nn
from torch.utils.tensorboard import SummaryWriter

import tb_shapeplugin as shapes
from tb_shapeplugin.tracing import execution
from tests.zoo.models import ZOO


class Logger:
    """As Lightning's and accelerate's: the writer is an attribute."""

    def __init__(self, **held: Any) -> None:
        vars(self).update(held)


def tensorboardx_writer(folder: str) -> Any:
    """The writer of the package tensorboardX."""
    return pytest.importorskip("tensorboardX").SummaryWriter(folder)


WRITERS: dict[str, Any] = {
    "torch's": SummaryWriter,
    "tensorboardX's": tensorboardx_writer,
    "TensorBoard's": EventFileWriter,
    "our own": shapes.ShapeWriter,
    "Lightning's logger": lambda folder: Logger(experiment=SummaryWriter(folder)),
    "accelerate's tracker": lambda folder: Logger(writer=SummaryWriter(folder)),
}


@pytest.mark.parametrize("kind", WRITERS)
def test_every_kind_of_writer_takes_a_record(kind: str, tmp_path: Path) -> None:
    """It is on the disk at once, before the writer is flushed or closed."""
    writer = WRITERS[kind](str(tmp_path / "run"))
    model, args, kwargs = ZOO["cnn"]()
    captured = shapes.add_shapes(writer, model, args, kwargs, name="net", step=3)
    (loaded,) = shapes.load(tmp_path)
    assert (loaded.name, str(loaded)) == ("net", str(captured))


def test_scalars_and_shapes_stand_side_by_side(tmp_path: Path) -> None:
    """One SummaryWriter, one file, and TensorBoard still reads its scalars."""
    with SummaryWriter(str(tmp_path)) as writer:
        writer.add_scalar("loss", 1.0, 0)
        shapes.add_shapes(writer, nn.Linear(4, 2), torch.ones(3, 4))
        writer.add_scalar("loss", 0.5, 1)
    (events,) = tmp_path.iterdir()
    assert [scalar.value for scalar in EventAccumulator(str(events)).Reload().Scalars("loss")] == [1.0, 0.5]
    assert len(shapes.load(events)) == 1


def test_a_shape_writer_is_a_context_with_the_same_verb(tmp_path: Path) -> None:
    """Its method takes what the function takes; a failing model is a record like any other."""
    model, args, _ = ZOO["wrong_linear_width"]()
    with shapes.ShapeWriter(tmp_path / "new" / "run") as writer:
        writer.add_shapes(nn.Linear(4, 2), torch.ones(3, 4), name="first")
        writer.add_shapes(model, args, name="second", execution="fake")
    loaded = {captured.name: captured for captured in shapes.load(tmp_path)}
    assert {name: captured.completed for name, captured in loaded.items()} == {"first": True, "second": False}
    assert loaded["second"].findings[0].module == "fc1"


def test_the_same_record_is_stored_once(tmp_path: Path) -> None:
    """Called in every epoch, it takes the space of one."""
    model = nn.Linear(4, 2)
    with shapes.ShapeWriter(tmp_path) as writer:
        for step in range(5):
            shapes.add_shapes(writer, model, torch.ones(3, 4), step=step)
        shapes.add_shapes(writer, model, torch.ones(7, 4), step=5)
    assert [captured.tensors[captured.inputs[0].tensor].shape for captured in shapes.load(tmp_path)] == [(3, 4), (7, 4)]


def test_a_directory_that_cannot_be_written_is_told_when_the_writer_is_made(tmp_path: Path) -> None:
    """ShapesError with the path and the way out."""
    (tmp_path / "file").write_text("no directory")
    with pytest.raises(shapes.ShapesError, match=r"file.*can't be written.*Choose a directory"):
        shapes.ShapeWriter(tmp_path / "file")


def test_a_fault_of_ours_never_stops_a_training(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One warning, and a run for real in place of the one that failed; where that fails too, a Capture that says so."""

    def fault(*_: Any) -> Any:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(execution, "_shape_level", fault)
    with (
        shapes.ShapeWriter(tmp_path) as writer,
        pytest.warns(UserWarning, match="fault of its own.*ZeroDivisionError: planted.*goes on") as told,
    ):
        captured = shapes.add_shapes(writer, nn.Linear(4, 2), torch.ones(3, 4))
    assert len(told) == 1
    assert (captured.completed, captured.execution) == (True, "real")
    monkeypatch.setattr(execution, "_real", fault)
    with shapes.ShapeWriter(tmp_path) as writer, pytest.warns(UserWarning, match="ZeroDivisionError: planted"):
        captured = shapes.add_shapes(writer, nn.Linear(4, 2), torch.ones(3, 4))
    assert not captured.completed
    assert "planted" in captured.error or any("planted" in text for text in captured.unchecked)


def test_only_rank_nought_writes_unless_all_are_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Every rank gets its Capture; a job of many writes one record."""
    monkeypatch.setenv("RANK", "2")
    monkeypatch.setenv("WORLD_SIZE", "4")
    with shapes.ShapeWriter(tmp_path / "one") as writer:
        assert shapes.add_shapes(writer, nn.Linear(4, 2), torch.ones(3, 4)).completed
    with shapes.ShapeWriter(tmp_path / "all") as writer:
        shapes.add_shapes(writer, nn.Linear(4, 2), torch.ones(3, 4), all_ranks=True)
    assert [len(shapes.load(tmp_path / name)) for name in ("one", "all")] == [0, 1]


def test_logging_warns_of_nothing_and_leaves_gradients_alone(tmp_path: Path) -> None:
    """In the middle of a training step, between forward and backward."""
    model, x = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)), torch.randn(3, 4)
    loss = model(x).sum()
    with warnings.catch_warnings(), shapes.ShapeWriter(tmp_path) as writer:
        warnings.simplefilter("error")
        shapes.add_shapes(writer, model, x)
    loss.backward()
    assert all(parameter.grad is not None for parameter in model.parameters())
