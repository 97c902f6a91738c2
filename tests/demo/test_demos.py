"""Every demo runs as a user would run it, and what it logged can be read back."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import tb_shapeplugin as shapes

DEMO = Path(__file__).resolve().parents[2] / "demo"

pytestmark = pytest.mark.demo


def run_demo(name: str, logdir: Path) -> tuple[list[shapes.Capture], str]:
    """The captures that a demo leaves in its run, and what it prints."""
    if name in ("transformer", "memory_budget"):
        pytest.importorskip("transformers")
    if name == "digits":
        pytest.importorskip("sklearn")
    command = [sys.executable, str(DEMO / f"{name}.py"), "--logdir", str(logdir)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env={**os.environ, "OMP_NUM_THREADS": "2"})
    assert done.returncode == 0, done.stderr[-3000:]
    return shapes.load(logdir / name), done.stdout


def test_every_demo_is_tested_and_told_of() -> None:
    """A new story needs a test here and a line in the README."""
    stories = sorted(path.stem for path in DEMO.glob("*.py"))
    assert stories == ["digits", "many_inputs", "memory_budget", "training_crash", "transformer", "two_paths", "wrong_width"]
    readme = (DEMO / "README.md").read_text()
    assert all(f"`{story}.py`" in readme for story in stories)


def test_digits_logs_scalars_and_shapes_side_by_side(tmp_path: Path) -> None:
    """One event file holds both, and the net learns."""
    (captured,), printed = run_demo("digits", tmp_path)
    assert (captured.name, captured.completed, captured.findings) == ("DigitNet", True, ())
    assert captured.totals.params == sum(row.params or 0 for row in captured.modules if row.path and row.call <= 1) == 13_802
    assert len(list((tmp_path / "digits").glob("events.out.tfevents.*"))) == 1
    events = EventAccumulator(str(tmp_path / "digits")).Reload()
    assert set(events.Tags()["scalars"]) == {"loss", "accuracy"}
    assert events.Scalars("accuracy")[-1].value > 0.8
    assert "f32[32,16,8,8]" in printed


def test_wrong_width_says_why(tmp_path: Path) -> None:
    """The finding names the layer, both numbers, the arithmetic and the line; the script prints it."""
    (captured,), printed = run_demo("wrong_width", tmp_path)
    (finding,) = captured.findings
    assert (captured.completed, finding.kind, finding.module) == (False, "linear_in_features", "fc1")
    assert (dict(finding.got), dict(finding.want)) == ({"in_features": 400}, {"in_features": 576})
    assert "16·5·5" in finding.why
    assert (finding.file, finding.code) == ("demo/wrong_width.py", "x = F.relu(self.fc1(x))")
    assert "WHERE  fc1" in printed and "WHAT " in printed and "FROM " in printed


def test_many_inputs_shows_the_head_that_the_label_chose(tmp_path: Path) -> None:
    """Two records of one model: another head ran, the output has another width."""
    microscope, street = sorted(run_demo("many_inputs", tmp_path)[0], key=lambda captured: captured.name)
    for captured, called, classes in ((microscope, "heads.0", 5), (street, "heads.1", 12)):
        assert captured.completed
        assert [row.path for row in captured.modules if row.path.startswith("heads.") and row.called] == [called]
        assert [end.name for end in captured.inputs] == ["image", "mask", "kind"]
        outputs = {end.name: captured.tensors[end.tensor].shape for end in captured.outputs}
        assert sorted(outputs.values()) == [(2, 2, 64, 64), (2, classes)]


def test_two_paths_tells_what_each_input_ran(tmp_path: Path) -> None:
    """One record: the embedding is the text's, the patches are the picture's, the encoder is both's; nobody smooths."""
    (captured,), printed = run_demo("two_paths", tmp_path)
    ran = {name: {op.module.partition(".")[0] for op in case.ops} for name, case in captured.cases.items()}
    assert ran["text"] - ran["picture"] == {"words"}
    assert ran["picture"] - ran["text"] == {"patches"}
    assert captured.branches is not None
    assert [branch.code for branch in captured.branches] == ["if self.smooth:"]
    assert [(value.origin, value.literal) for value in captured.values] == [("read", "True")]
    assert "never ran: demo/two_paths.py" in printed


def test_training_crash_says_why_the_loss_failed(tmp_path: Path) -> None:
    """The note on the exception and the record in the run of the scalars tell the same: the label, the classes, the line."""
    (captured,), printed = run_demo("training_crash", tmp_path)
    finding = captured.findings[0]
    assert (captured.name, finding.kind, finding.file) == ("Stamps", "loss_target_range", "demo/training_crash.py")
    assert finding.code == "loss = criterion(scores, labels)"
    assert (dict(finding.got), dict(finding.want)) == ({"label": 5}, {"below": 5})
    assert {"model", "model.head", "criterion"} <= {row.path for row in captured.modules if row.called}
    events = EventAccumulator(str(tmp_path / "training_crash")).Reload()
    assert len(events.Scalars("loss")) == 2
    if sys.version_info >= (3, 11):
        assert "IndexError: Target 5 is out of bounds.\nShapes on this failure" in printed and "WHAT " in printed


def test_transformer_has_its_ops_and_parameters(tmp_path: Path) -> None:
    """BERT-base: at least 300 ops and the number of parameters that everybody quotes."""
    (captured,), printed = run_demo("transformer", tmp_path)
    assert captured.completed
    assert len(captured.ops) >= 300
    assert captured.totals.params == 109_484_547
    assert sum(row.type == "BertLayer" for row in captured.modules) == 12
    assert "109,484,547" in printed


def test_memory_budget_answers_what_fits(tmp_path: Path) -> None:
    """The numbers that are printed are those of the record, and the totals are scalars, too."""
    (captured,), printed = run_demo("memory_budget", tmp_path)
    what_if = captured.what_if
    assert what_if is not None and captured.totals.params == 86_567_656
    assert captured.totals.flops == 256 * 2 * 17_563_828_224
    assert "takes 29.58 GiB at its peak: it does not fit 24 GiB." in printed and "The largest batch that fits is 206." in printed
    assert what_if.peak_bytes(batch=206) <= 24 * 2**30 < what_if.peak_bytes(batch=207)
    for way in ("bfloat16 autocast", "SGD", "checkpointed vit.layers"):
        assert f"  {way}: {what_if.peak_bytes(way) / 2**30:.2f} GiB, largest batch {what_if.largest('batch', 24 * 2**30, way)}" in printed
    events = EventAccumulator(str(tmp_path / "memory_budget"), size_guidance={"tensors": 0}).Reload()
    (told,) = events.Tensors("shapes/ViT-B16/peak_bytes")
    assert told.tensor_proto.double_val[0] == captured.totals.peak_bytes
