"""The wheel as users get it, and a clean environment without torch to install it into."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.package.environment import Environment, clean_variables

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the source distribution, so that what is missing there is missing here."""
    if not (ROOT / "tb_shapeplugin/serve/static/index.js").is_file():
        pytest.fail("The frontend isn't built. Build it first: make frontend.")
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(ROOT)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    [built] = out.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def without_torch(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment that holds the wheel and what it requires, nothing else."""
    environment = Environment(tmp_path_factory.mktemp("clean") / "venv")
    subprocess.run([sys.executable, "-m", "venv", str(environment.folder)], check=True, env=clean_variables())
    answer = environment.run("python", "-m", "pip", "install", "--quiet", "-c", str(ROOT / "constraints.txt"), str(wheel))
    assert answer.returncode == 0, answer.stderr
    return environment
