"""The program, run as people run it: what it prints, where, and its exit codes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tb_shapeplugin as shapes
from tb_shapeplugin.base.names import VERSION
from tb_shapeplugin.cli.main import main

INPUT = "--input=4x1x28x28:float32"


def test_show_prints_the_table_and_succeeds(capsys: pytest.CaptureFixture[str]) -> None:
    """The directory in which the command is given holds the package."""
    assert main(["show", "user_nets.digits:Net", INPUT]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Layer") and "f32[4,6,24,24]" in out and "Total params" in out


def test_show_succeeds_for_a_broken_model_and_check_does_not(capsys: pytest.CaptureFixture[str]) -> None:
    """A failing model is a result of show, and what check is for."""
    assert main(["show", "user_nets.digits:broken"]) == 0
    assert "WHERE  fc1 (Linear" in capsys.readouterr().out
    assert main(["check", "user_nets.digits:broken"]) == 1
    out = capsys.readouterr().out
    assert "WHERE  fc1 (Linear" in out and out.splitlines()[-1] == "✕ Net: failed, 1 error"


def test_check_passes_a_model_that_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """One line, no table."""
    assert main(["check", "user_nets.digits:Net", INPUT, "--execution", "fake"]) == 0
    assert capsys.readouterr().out == "✓ Net: completed, nothing found\n"


def test_keywords_are_given_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    """Two inputs by keyword."""
    assert main(["check", "user_nets.digits:Tokens", "--input", "ids=2x3:int64", "--input", "mask=2x3:float32"]) == 0
    assert "completed" in capsys.readouterr().out


def test_inputs_that_do_not_fit_are_an_error_of_the_model(capsys: pytest.CaptureFixture[str]) -> None:
    """No input at all: forward misses x."""
    assert main(["check", "user_nets.digits:Net"]) == 1
    assert "call_signature" in capsys.readouterr().out


def test_saved_captures_are_shown_and_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By the path that Capture.save wrote."""
    main(["show", "user_nets.digits:broken"])
    shown = capsys.readouterr().out
    made = sys.modules["user_nets.digits"].broken()
    shapes.capture(*made, name="Net").save(tmp_path / "net.shapes")
    assert main(["show", "net.shapes"]) == 0
    assert capsys.readouterr().out == shown
    assert main(["check", str(tmp_path / "net.shapes")]) == 1


@pytest.mark.parametrize("arguments, words", [
    (["show", "no/such/path"], "no/such/path is no path that exists, and no model"),
    (["show", "no_such_package:make"], "There is no module no_such_package"),
    (["check", "user_nets.digits:Net", "--input", "4by3"], "--input 4by3 is no input"),
    (["show", "user_nets", "--input", "4x3"], "has no use"),
    (["show", "empty"], "empty holds no captures"),
])  # fmt: skip
def test_wrong_use_is_one_sentence_on_stderr_and_exit_code_2(
    arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing on stdout, no traceback."""
    (tmp_path / "empty").mkdir()
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("tb-shapes: ") and words in err and err.count("\n") == 1


@pytest.mark.parametrize("arguments", [[], ["fly"], ["show"], ["check", "a:b", "--execution", "fast"]])
def test_what_the_command_line_cannot_mean_is_exit_code_2(arguments: list[str]) -> None:
    """argparse's own refusals."""
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == 2


def test_the_module_is_the_same_program(tmp_path: Path) -> None:
    """python -m, in a terminal that knows neither ✓ nor ─."""
    root = Path(shapes.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "tb_shapeplugin", "check", "user_nets.digits:Net", INPUT]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "? Net: completed, nothing found"), done.stderr


def test_help_and_version_need_no_torch(tmp_path: Path) -> None:
    """A lab server that only serves the tab has none."""
    code = "import sys; from tb_shapeplugin.cli.main import main\ntry: main(['--version'])\nfinally: print('torch' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": str(Path(shapes.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["tb-shapes", VERSION, "False"], done.stderr
