"""guard around a training loop: nothing while all is well, the record and a note when something crosses it, the exception as it was."""

import asyncio
import contextlib
import gc
import io
import sys
import threading
import traceback
import warnings
import weakref
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from tensorboard.summary.writer.event_file_writer import EventFileWriter
from torch import nn
from torch.overrides import _get_current_function_mode_stack
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack
from torch.utils.tensorboard import SummaryWriter

import tb_shapeplugin as shapes
from tb_shapeplugin.api import guarding
from tests.api.guarded import Net, crashed, labels, pictures, raised_by
from tests.tracing.pictures import picture, process_picture


def forward(model: Any, batch: torch.Tensor) -> Any:
    """The loop's only line."""
    return model(batch)


def test_a_forward_that_fails_is_told_as_capture_tells_it(tmp_path: Path) -> None:
    """Kind, numbers, origin and fixes are those of a capture; the note is the four lines of the finding."""
    model = Net(width=300)
    crash = crashed(tmp_path, model, forward, pictures())
    known = shapes.capture(model, pictures())
    for aspect in ("kind", "message", "module", "op", "line", "got", "want", "why", "torch_message", "fixes"):
        assert getattr(crash.finding, aspect) == getattr(known.findings[0], aspect), aspect
    assert crash.finding.fixes[0].verified
    assert [row.name for row in crash.captured.ops] == [row.name for row in known.ops]
    assert str(crash.error).startswith("mat1 and mat2 shapes cannot be multiplied")
    for line in ("✕ linear_in_features", "WHERE  fc (Linear, tests/api/guarded.py:", "WHAT   the last dim", "FROM   400 = 16·5·5"):
        assert line in crash.note
    assert "TRY    nn.Linear(400, 10)" in crash.note and "✓ runs" in crash.note


def test_the_exception_goes_on_unchanged(tmp_path: Path) -> None:
    """The same object, with the text, the cause and the frames that it had."""
    error = ValueError("mine")
    error.__cause__ = KeyError("deeper")

    def raising() -> None:
        raise error

    with shapes.ShapeWriter(tmp_path) as writer:

        def guarded() -> None:
            with shapes.guard(writer, nn.Identity()):
                raising()

        came = raised_by(guarded)
    assert came is error and str(came) == "mine" and isinstance(came.__cause__, KeyError) and came.__context__ is None
    assert [frame.name for frame in traceback.extract_tb(came.__traceback__)] == ["raised_by", "guarded", "raising"]


def test_nothing_is_there_while_all_is_well(tmp_path: Path) -> None:
    """No hook, no patch, no mode, no thread, no attribute: inside, everything is as outside."""
    model = Net()

    def seen() -> Any:
        return (
            dict(vars(nn.Module)),
            {path: dict(vars(module)) for path, module in model.named_modules()},
            {name: dict(vars(module)) for name, module in sys.modules.items() if name in ("torch.nn.functional", "torch._tensor")},
            (sys.excepthook, sys.gettrace(), sys.getprofile(), threading.excepthook, list(gc.callbacks), list(warnings.filters)),
            (list(_get_current_function_mode_stack()), list(_get_current_dispatch_mode_stack()), threading.active_count()),
        )

    with shapes.ShapeWriter(tmp_path) as writer:
        outside, loaded = str(seen()), set(sys.modules)
        with shapes.guard(writer, model):
            inside, more = str(seen()), set(sys.modules) - loaded
            model(pictures()).sum().backward()
    assert inside == outside
    assert not more
    assert shapes.load(tmp_path) == []


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit, asyncio.CancelledError])
def test_what_is_no_failure_passes_by(kind: type[BaseException], tmp_path: Path) -> None:
    """An interrupt, an exit, a generator that is closed: no diagnosis, no record, at once."""
    with shapes.ShapeWriter(tmp_path) as writer, pytest.raises(kind) as caught, shapes.guard(writer, Net()):
        raise kind
    assert not hasattr(caught.value, "__notes__")
    assert shapes.load(tmp_path) == []


def test_nested_guards_diagnose_once(tmp_path: Path) -> None:
    """The innermost one does; an exception that crosses another guard later has its note already."""
    model = Net(width=300)
    with shapes.ShapeWriter(tmp_path / "inner") as inner, shapes.ShapeWriter(tmp_path / "outer") as outer:

        def guarded() -> None:
            with shapes.guard(outer, model), shapes.guard(inner, model):
                model(pictures())

        error = raised_by(guarded)
        assert raised_by(lambda: _raise_inside(shapes.guard(outer, model), error)) is error
    assert len(getattr(error, "__notes__", [1])) == 1
    assert (len(shapes.load(tmp_path / "inner")), shapes.load(tmp_path / "outer")) == (1, [])


def _raise_inside(context: Any, error: Exception) -> None:
    with context:
        raise error


def test_one_guard_serves_many_times_and_as_a_decorator(tmp_path: Path) -> None:
    """Each failure that crosses it is looked at; the same record stands in the run once."""
    model = Net(width=300)
    with shapes.ShapeWriter(tmp_path) as writer:
        guard = writer.guard(model, name="twice")
        step = guard(forward)
        notes = [raised_by(partial(step, model, pictures(count))).__notes__ for count in (4, 4, 5)]
    assert notes[0] == notes[1] != notes[2]
    assert [captured.name for captured in shapes.load(tmp_path)] == ["twice", "twice"]
    assert step.__name__ == "forward"


@pytest.mark.parametrize(
    "wrapped", [lambda writer: writer, lambda writer: type("Logger", (), {"experiment": writer})()], ids=["itself", "held by a logger"]
)
@pytest.mark.parametrize("kind", [SummaryWriter, EventFileWriter, shapes.ShapeWriter])
def test_every_writer_that_add_shapes_takes(kind: Any, wrapped: Callable[[Any], Any], tmp_path: Path) -> None:
    """The record is in the file before the exception goes on: nothing is closed or flushed by hand."""
    writer = kind(str(tmp_path))
    error = raised_by(lambda: _forward_inside(shapes.guard(wrapped(writer), model := Net(300)), model))
    assert "✕ linear_in_features" in error.__notes__[0]
    (captured,) = shapes.load(tmp_path)
    assert captured.findings[0].kind == "linear_in_features"
    writer.close()


def _forward_inside(context: Any, model: nn.Module, batch: torch.Tensor | None = None) -> None:
    with context:
        model(pictures() if batch is None else batch)


@pytest.mark.parametrize(
    ("writer", "model", "options", "said"),
    [
        ("runs/first", Net(), {}, ("builtins.str", "ShapeWriter(log_dir)")),
        (None, Net(), {}, ("writer is None", "rank but 0")),
        (..., 3, {}, ("int", "can't be called")),
        (..., Net(), {"name": ""}, ("name is ''", "non-empty")),
    ],
)
def test_a_wrong_call_says_so_at_once(writer: Any, model: Any, options: dict[str, Any], said: tuple[str, ...], tmp_path: Path) -> None:
    """Not when the training dies, hours later."""
    with shapes.ShapeWriter(tmp_path) as ours, pytest.raises(shapes.ShapesError) as caught:
        shapes.guard(ours if writer is ... else writer, model, **options)
    assert all(part in str(caught.value) for part in said)


def test_a_disk_that_fails_is_one_warning_and_the_note_is_there(tmp_path: Path) -> None:
    """The writer was closed: nothing can be written, everything else is as it is."""
    writer = EventFileWriter(str(tmp_path))
    writer.close()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        error = raised_by(lambda: _forward_inside(shapes.guard(writer, model := Net(300)), model))
    ours = [str(warning.message) for warning in told if "Shapes" in str(warning.message)]
    assert len(ours) == 1 and "could not write" in ours[0]
    assert isinstance(error, RuntimeError) and "✕ linear_in_features" in error.__notes__[0]


def test_warnings_made_errors_do_not_replace_the_exception(tmp_path: Path) -> None:
    """``python -W error``: what we warn of must not become the training's exception."""
    writer = EventFileWriter(str(tmp_path))
    writer.close()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        error = raised_by(lambda: _forward_inside(shapes.guard(writer, model := Net(300)), model))
    assert isinstance(error, RuntimeError) and "mat1 and mat2" in str(error)


def test_all_is_left_as_found(tmp_path: Path) -> None:
    """Parameters, gradients, buffers, modes, hooks, random numbers, process: as they were when the exception came."""
    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.5), nn.Linear(5, 2))
    model[0](torch.ones(3, 4)).sum().backward()
    args = (torch.ones(3, 4),)
    before: list[Any] = []

    def failing(watched: nn.Module, given: torch.Tensor) -> None:
        try:
            watched(given)
        finally:
            before.append((picture(model, args), process_picture()))

    crash = crashed(tmp_path, model, failing, *args)
    assert crash.finding.kind == "linear_in_features"
    (was, process_was) = before[0]
    assert was.differences(picture(model, args)) + process_was.differences(process_picture()) == []


def test_no_tensor_is_kept(tmp_path: Path) -> None:
    """When the exception is gone, so are the batch and the model: a loop that goes on with a smaller batch needs the memory."""

    def lived_through() -> list[weakref.ref[Any]]:
        model, criterion = Net(), nn.CrossEntropyLoss()

        def loop(watched: nn.Module, images: torch.Tensor, target: torch.Tensor) -> None:
            out = watched(images)
            kept.append(weakref.ref(out))
            criterion(out, target)

        batch, target = pictures(), labels(5)
        kept: list[weakref.ref[Any]] = [weakref.ref(batch), weakref.ref(target), weakref.ref(model), weakref.ref(model.fc.weight)]
        crash = crashed(tmp_path, model, loop, batch, target)
        assert crash.finding.kind == "loss_target_shape"
        crash.error.__traceback__ = None  # which holds the loop's frames, as any exception's does
        return kept

    gc.collect()
    gc.disable()
    try:
        assert [reference() for reference in lived_through()] == [None] * 5
    finally:
        gc.enable()


def test_a_loop_that_goes_on_keeps_no_tensor_either(tmp_path: Path) -> None:
    """It lets its variables go after the exception, and they are gone, though its own frame is still there; ``locals()`` stays its own."""

    def training(model: nn.Module) -> None:
        batch = pictures()
        mine = locals()
        try:
            with shapes.guard(writer, model):
                out = model(batch)
                nn.functional.mse_loss(out, out[:, :7].clone())
        except RuntimeError:
            kept = [weakref.ref(batch), weakref.ref(out)]
        assert mine["batch"] is batch
        mine.clear()
        del batch, out
        assert [reference() for reference in kept] == [None, None]

    def without(model: nn.Module) -> None:
        batch = pictures()
        try:
            with shapes.guard(writer, model):
                out = model(batch)
                out.view(3, 3)
        except RuntimeError:
            kept = [weakref.ref(batch), weakref.ref(out)]
        del batch, out
        assert [reference() for reference in kept] == [None, None]

    gc.collect()
    gc.disable()
    try:
        with shapes.ShapeWriter(tmp_path) as writer, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            training(Net())
            without(Net())
    finally:
        gc.enable()


def test_a_long_diagnosis_says_that_it_is_at_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On stderr, once, and only when it takes long."""
    for silence, said in ((0.0, 1), (3600.0, 0)):
        monkeypatch.setattr(guarding, "_SILENT_SECONDS", silence)
        with contextlib.redirect_stderr(io.StringIO()) as printed:
            crashed(tmp_path / str(said), Net(300), forward, pictures())
        assert printed.getvalue().count("Shapes looks for the cause of this RuntimeError") == said


def test_no_rerun_begins_when_the_time_is_over(tmp_path: Path) -> None:
    """Then the finding is what the frames and the words alone tell, and the exception goes on."""
    crash = crashed(tmp_path, Net(300), forward, pictures(), seconds=0.0)
    assert crash.finding.torch_message == str(crash.error)
    assert crash.finding.fixes == ()
    assert any("could not be run again" in text for text in crash.captured.unchecked)


def test_without_notes_the_diagnosis_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Python 3.10 has no add_note: an exception whose own is hidden stands for one there."""

    class Old(RuntimeError):
        add_note = None

    def loop(model: Any) -> None:
        raise Old("as of Python 3.10")

    crash = crashed(tmp_path, Net(), loop)
    assert crash.note == "" and "✕ user_error" in capsys.readouterr().err


def test_the_modes_of_the_failing_call_are_those_of_the_rerun(tmp_path: Path) -> None:
    """A diagnosis runs under the autocast and the gradient mode that the failing call had, and leaves neither on."""

    def loop(model: nn.Module, batch: torch.Tensor) -> None:
        with torch.autocast("cpu", dtype=torch.bfloat16), torch.no_grad():
            out = model(batch)
            torch.mm(out, torch.ones(3, 3))

    crash = crashed(tmp_path, Net(), loop, pictures())
    dtypes = {row.path: row.outputs[0].dtype for row in crash.captured.modules if row.called and row.outputs}
    assert crash.finding.kind == "matmul_dims"
    assert "bfloat16" in dtypes.values()
    assert not torch.is_autocast_enabled("cpu") and torch.is_grad_enabled()
