"""What the wheel holds."""

import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.package

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def names(wheel: Path) -> set[str]:
    """The names of the files in the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_it_holds_the_built_frontend(names: set[str]) -> None:
    """Both doors and the style sheet are there, so that nobody needs Node."""
    static = "tb_shapeplugin/serve/static"
    assert names >= {f"{static}/index.js", f"{static}/layout_worker.js", f"{static}/style.css"}


def test_it_holds_what_the_modules_read(names: set[str]) -> None:
    """The record's descriptors and the marks of a typed package are there."""
    assert names >= {"tb_shapeplugin/wire/record.binpb", "tb_shapeplugin/py.typed", "tb_shapeplugin/__init__.pyi"}


def test_it_holds_every_module(names: set[str]) -> None:
    """No module of the checkout is left out."""
    modules = {str(path.relative_to(ROOT)) for path in (ROOT / "tb_shapeplugin").rglob("*.py")}
    assert len(modules) > 20
    assert modules <= names


def test_it_holds_nothing_else(names: set[str]) -> None:
    """Tests, demos, tools and the frontend's sources stay at home."""
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"tb_shapeplugin"}
    assert not [name for name in names if name.endswith((".ts", ".tsx", ".map", ".pyc"))]


def test_it_carries_the_licences(names: set[str]) -> None:
    """Our licence and those of the bundled packages travel with it."""
    assert {name.rsplit("/", 1)[1] for name in names if "/licenses/" in name} == {"LICENSE", "THIRD_PARTY_NOTICES"}


def test_it_says_what_it_needs(wheel: Path) -> None:
    """Torch is an extra; TensorBoard, protobuf and numpy are required, protobuf without an upper bound."""
    with zipfile.ZipFile(wheel) as archive:
        [metadata] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        lines = archive.read(metadata).decode().splitlines()
    required = {line.removeprefix("Requires-Dist: ") for line in lines if line.startswith("Requires-Dist:") and "extra ==" not in line}
    assert required == {"tensorboard>=2.16", "protobuf>=3.20.3", "numpy"}
    assert "Requires-Python: >=3.10" in lines
    assert {line for line in lines if line.startswith("Provides-Extra:")} == {
        f"Provides-Extra: {extra}" for extra in ("torch", "onnx", "all")
    }
