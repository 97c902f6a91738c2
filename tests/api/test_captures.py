"""The Capture: what it says of a run, as rows, totals, findings and text; saved and loaded again."""

import io
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import tb_shapeplugin as shapes
from tests.zoo.models import COMPLETING, ZOO


def captured(name: str, **options: Any) -> shapes.Capture:
    """The capture of an entry of the zoo."""
    if ZOO[name].needs:
        pytest.importorskip(ZOO[name].needs)
    model, args, kwargs = ZOO[name]()
    return shapes.capture(model, args, kwargs, name=name, **options)


def test_a_capture_tells_its_run() -> None:
    """Name, execution, versions, inputs and outputs."""
    capture = captured("cnn")
    assert (capture.name, capture.completed, capture.error, capture.execution) == ("cnn", True, "", "fake")
    assert capture.versions["torch"] == torch.__version__
    assert [end.name for end in capture.inputs] == ["x"]
    assert capture.tensors[capture.outputs[0].tensor].shape == (2, 10)
    assert repr(capture) == f"<Capture 'cnn': {len(capture.ops)} ops, completed>"
    assert captured("cnn", execution="real").execution == "real"


def test_ops_are_rows_with_all_that_was_recorded() -> None:
    """By index, by slice and by iteration."""
    ops = captured("cnn").ops
    conv = ops[0]
    assert (conv.name, conv.module, conv.call, conv.failed, conv.assumed) == ("torch.nn.functional.conv2d", "conv1", 1, False, False)
    assert [str(tensor) for tensor in conv.inputs] == ["f32[2,1,28,28]", "f32[6,1,5,5]", "f32[6]"]
    assert [str(tensor) for tensor in conv.outputs] == ["f32[2,6,24,24]"]
    assert conv.outputs[0].bytes == 2 * 6 * 24 * 24 * 4
    assert conv.file == "tests/zoo/classics.py"
    assert "self.conv1(x)" in conv.code
    assert [child.name for child in conv.children] == ["aten.convolution.default"]
    assert [op.name for op in ops[-2:]] == [op.name for op in list(ops)[-2:]]


def test_modules_are_rows_in_execution_order() -> None:
    """One row per call, and one per module that was never called."""
    rows = captured("called_twice").modules
    assert [(row.path, row.call, row.depth) for row in rows] == [("", 1, 0), ("layer", 1, 1), ("layer", 2, 1), ("head", 1, 1)]
    assert [row.type for row in rows] == ["CalledTwice", "Linear", "Linear", "Linear"]
    branch = captured("branch_on_values").modules
    assert [row.path for row in branch if not row.called] == ["negative"]


@pytest.mark.parametrize("name", [name for name in COMPLETING if not name.startswith(("lazy", "plain_list", "compiled"))])
def test_totals_are_those_that_pytorch_counts(name: str) -> None:
    """Parameters = Σ numel of distinct parameters, bytes at their real dtype; an independent count."""
    capture = captured(name)
    model, _, _ = ZOO[name]()
    if not isinstance(model, nn.Module):
        pytest.skip("a function has no parameters of its own")
    parameters = list(model.parameters())
    assert capture.totals.params == sum(p.numel() for p in parameters)
    assert capture.totals.trainable_params == sum(p.numel() for p in parameters if p.requires_grad)
    assert capture.totals.param_bytes == sum(p.numel() * p.element_size() for p in parameters)
    assert capture.totals.buffer_bytes == sum(b.numel() * b.element_size() for b in model.buffers())


def test_lazy_parameters_are_unknown_and_never_nought() -> None:
    """The run knows the shapes that flow, not what the user's model will have."""
    capture = captured("lazy_fresh")
    assert capture.totals.params is None
    assert "unknown" in str(capture)


def test_findings_are_one_tuple_of_the_same_objects() -> None:
    """So that caused_by can be compared by identity."""
    capture = captured("three_faults_cnn")
    assert capture.findings is capture.findings
    assert [finding.kind for finding in capture.findings if finding.caused_by is None] == list(ZOO["three_faults_cnn"].kinds)


@pytest.mark.parametrize("name", [name for name, entry in ZOO.items() if entry.fails])
def test_findings_of_the_zoo_have_their_kind_their_place_and_eagers_words(name: str) -> None:
    """Kind, module and message of each planted fault."""
    entry = ZOO[name]
    model, args, kwargs = entry()
    with pytest.raises(Exception) as caught:
        model(*args, **kwargs)
    capture = captured(name)
    errors = [finding for finding in capture.findings if finding.caused_by is None]
    assert [(finding.kind, finding.module) for finding in errors] == list(zip(entry.kinds, entry.fails, strict=True))
    assert errors[0].torch_message == str(caught.value)
    assert capture.error.startswith(type(caught.value).__name__)
    for finding in errors:
        assert finding.places[0].module == finding.module
        assert finding.message and "\n" not in finding.message


def test_equal_blocks_with_the_same_fault_are_one_finding_with_its_places() -> None:
    """Twelve layers, one cause: one finding, twelve places."""

    class Layer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Linear(9, 8)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.relu(self.fc(x))

    capture = shapes.capture(nn.Sequential(*(Layer() for _ in range(12))), torch.ones(2, 8))
    (finding,) = [finding for finding in capture.findings if finding.caused_by is None]
    assert [place.module for place in finding.places] == [f"{number}.fc" for number in range(12)]


def test_continue_past_errors_can_be_turned_off() -> None:
    """Then the record ends with the failing call, and one finding stands."""
    capture = captured("three_faults_cnn", continue_past_errors=False)
    assert [finding.module for finding in capture.findings] == ["conv2"]
    assert capture.ops[-1].failed
    assert capture.outputs == ()


def test_the_text_is_the_table_and_on_failure_the_four_lines() -> None:
    """In execution order with real names; the failing call marked."""
    text = str(captured("cnn"))
    assert [name for name in ("conv1", "pool", "conv2", "fc1", "fc2") if name in text] == ["conv1", "pool", "conv2", "fc1", "fc2"]
    assert "f32[2,6,24,24]" in text
    failing = str(captured("wrong_linear_width"))
    assert all(head in failing for head in ("WHERE  fc1 (Linear, tests/zoo/classics.py:", "WHAT   ", "FROM   "))
    assert "400 = 16·5·5" in failing
    assert "<pre>" in captured("cnn")._repr_html_()


def test_summary_prints_the_table_where_it_is_told_to(capsys: pytest.CaptureFixture[str]) -> None:
    """Standard output by default, a file on request; depth and columns as asked; the Capture comes back."""
    model, args, kwargs = ZOO["unet"]()
    shapes.summary(model, args, kwargs)
    printed = capsys.readouterr().out
    assert "down.0" in printed
    file = io.StringIO()
    capture = shapes.summary(model, args, kwargs, file=file, depth=0, columns=["params"])
    assert capsys.readouterr().out == ""
    assert "down.0" not in file.getvalue()
    assert f"{capture.totals.params:,}" in file.getvalue()
    assert "ConvTranspose2d" not in file.getvalue()


@pytest.mark.parametrize("name", ["cnn", "three_faults_cnn", "bert", "nested_inputs", "lazy_fresh", "wrong_call"])
def test_a_saved_capture_is_loaded_as_it_was(name: str, tmp_path: Path) -> None:
    """Every row, every finding, every word."""
    capture = captured(name)
    capture.save(tmp_path / "capture.shapes")
    (loaded,) = shapes.load(tmp_path / "capture.shapes")
    assert str(loaded) == str(capture)
    assert loaded.totals == capture.totals
    assert [repr(op) for op in loaded.ops] == [repr(op) for op in capture.ops]
    assert [repr(row) for row in loaded.modules] == [repr(row) for row in capture.modules]
    assert loaded.findings == capture.findings
    assert (loaded.inputs, loaded.outputs, loaded.unchecked) == (capture.inputs, capture.outputs, capture.unchecked)


def test_the_same_model_gives_the_same_bytes(tmp_path: Path) -> None:
    """No times, ids or addresses: what is equal is stored once."""
    for number in range(2):
        captured("gnn").save(tmp_path / str(number))
    assert (tmp_path / "0").read_bytes() == (tmp_path / "1").read_bytes()
