"""The wheel in an environment without torch: the tab lives, capture says what to install."""

import gzip
import json
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any  # the parsed JSON of an answer

import pytest
import torch
from torch import nn
from torch.utils.tensorboard import SummaryWriter

import tb_shapeplugin as shapes
from tests.package.environment import Environment, clean_variables

pytestmark = pytest.mark.package


@pytest.fixture(scope="module")
def logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with one model in it, logged with torch as a training script does."""
    folder = tmp_path_factory.mktemp("runs")
    with SummaryWriter(str(folder / "first")) as writer:
        shapes.add_shapes(writer, nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 2)), torch.zeros(3, 8), name="tiny")
    return folder


@pytest.fixture(scope="module", params=["true", "false"], ids=["fast loader", "python loader"])
def address(
    request: pytest.FixtureRequest, without_torch: Environment, logdir: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The address of a TensorBoard started in the clean environment, once it answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    output = tmp_path_factory.mktemp("tensorboard") / "output.txt"
    command = [without_torch.program("tensorboard"), "--logdir", str(logdir), "--host", "127.0.0.1", "--port", str(port)]
    with output.open("w") as out:
        server = subprocess.Popen(
            [*command, f"--load_fast={request.param}"],
            stdout=out,
            stderr=subprocess.STDOUT,
            cwd=without_torch.folder,
            env=clean_variables(),
        )
    try:
        yield wait_for_run(f"http://127.0.0.1:{port}", server, output)
    finally:
        server.terminate()
        server.wait(30)


def wait_for_run(address: str, server: subprocess.Popen[bytes], output: Path) -> str:
    """Asks until the run is loaded; gives the address back."""
    for _ in range(300):
        assert server.poll() is None, output.read_text()
        try:
            if ask(f"{address}/data/runs"):
                return address
        except urllib.error.URLError:
            pass
        time.sleep(0.2)
    raise AssertionError(f"TensorBoard showed no run:\n{output.read_text()}")


def ask(url: str) -> Any:
    """The parsed JSON behind an address."""
    with urllib.request.urlopen(url) as answer:
        return json.load(answer)


def test_torch_is_absent(without_torch: Environment) -> None:
    """The environment is what this file says: complete, and without torch."""
    assert "No module named 'torch'" in without_torch.run("python", "-c", "import torch").stderr
    checked = without_torch.run("python", "-m", "pip", "check")
    assert checked.returncode == 0, checked.stdout


def test_the_installed_wheel_answers(without_torch: Environment) -> None:
    """The package imported there is the wheel's, not the checkout's."""
    where = without_torch.run("python", "-c", "import tb_shapeplugin; print(tb_shapeplugin.__file__)").stdout
    assert Path(where.strip()).is_relative_to(without_torch.folder)


def test_tensorboard_lists_the_tab(address: str) -> None:
    """The plugin is listed as enabled, with the door that the bundle has."""
    listed = ask(f"{address}/data/plugins_listing")["shapes"]
    assert listed["enabled"] is True
    assert listed["loading_mechanism"]["module_path"].endswith("index.js")
    with urllib.request.urlopen(f"{address}/data/plugin/shapes/index.js") as answer:
        assert "javascript" in answer.headers["Content-Type"]
        assert len(answer.read()) > 1000


def test_a_record_is_shown(address: str) -> None:
    """The model logged with torch is listed, and its stored bytes come back whole."""
    [run] = ask(f"{address}/data/plugin/shapes/models")["runs"]
    [model] = run["models"]
    assert (run["run"], model["name"], model["completed"], model["errors"], model["problem"]) == ("first", "tiny", True, 0, None)
    assert model["params"] == 8 * 4 + 4 + 4 * 2 + 2
    query = urllib.parse.urlencode({"run": run["run"], "tag": model["tag"], "step": model["steps"][-1]})
    with urllib.request.urlopen(f"{address}/data/plugin/shapes/record?{query}") as answer:
        stored = answer.read()
    assert b"torch.nn.functional.linear" in gzip.decompress(stored)


def test_capture_says_what_to_install(without_torch: Environment) -> None:
    """Without torch, capture is one sentence that says how to get it, and no traceback of ours ends in an ImportError."""
    answer = without_torch.run("python", "-c", "import tb_shapeplugin; tb_shapeplugin.capture(lambda x: x, 1)")
    last = answer.stderr.strip().splitlines()[-1]
    assert answer.returncode == 1
    assert last.startswith("tb_shapeplugin.base.errors.ShapesError: ")
    assert "pip install" in last and "torch" in last


def test_the_command_line_answers(without_torch: Environment) -> None:
    """``tb-shapes --help`` lists the commands without torch."""
    answer = without_torch.run("tb-shapes", "--help")
    assert answer.returncode == 0, answer.stderr
    assert "show" in answer.stdout and "check" in answer.stdout
