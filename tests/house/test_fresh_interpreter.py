"""What an import loads, asked of a fresh interpreter: TensorBoard imports the package unguarded, so it must stay light."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAVY = {"torch", "onnx", "tensorflow", "transformers"}


def modules_loaded_by(statements: str) -> set[str]:
    """Top-level names of the modules that the statements add to those of a bare interpreter."""
    program = f"import sys, json; before = set(sys.modules); {statements}; print(json.dumps(sorted(set(sys.modules) - before)))"
    # Outside the checkout, so that only the installed package can answer.
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd="/")
    return {name.partition(".")[0] for name in json.loads(answer.stdout)}


def test_the_package_loads_the_standard_library_only() -> None:
    """``import tb_shapeplugin`` adds itself and modules of the standard library."""
    loaded = modules_loaded_by("import tb_shapeplugin") - {"tb_shapeplugin"}
    assert loaded <= sys.stdlib_module_names


def test_the_version_loads_the_standard_library_only() -> None:
    """Asking for the version or an error type wakes no room but base."""
    loaded = modules_loaded_by("import tb_shapeplugin as s; s.__version__; s.ShapesError; dir(s)") - {"tb_shapeplugin"}
    assert loaded <= sys.stdlib_module_names


def test_the_loader_loads_neither_torch_nor_onnx() -> None:
    """TensorBoard's way in, ``tb_shapeplugin.serve.loader``, wakes no heavy library."""
    loaded = modules_loaded_by("import tb_shapeplugin.serve.loader")
    assert "tb_shapeplugin" in loaded
    assert not loaded & HEAVY


def test_the_question_can_be_answered_otherwise() -> None:
    """The same question shows a third-party module where one is loaded, so the tests above can fail."""
    loaded = modules_loaded_by("import tb_shapeplugin, numpy") - {"tb_shapeplugin"}
    assert not loaded <= sys.stdlib_module_names
    assert "torch" in modules_loaded_by("import tb_shapeplugin.serve.loader, torch") & HEAVY


def test_every_public_name_leads_somewhere() -> None:
    """Each name of the lazy table is found, and the typed table beside it names the same."""
    program = "import tb_shapeplugin as s; print([n for n in s.__all__ if getattr(s, n) is None])"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd="/")
    assert (answer.returncode, answer.stdout.strip()) == (0, "[]"), answer.stderr
    stub = (ROOT / "tb_shapeplugin/__init__.pyi").read_text(encoding="utf-8")
    table = (ROOT / "tb_shapeplugin/__init__.py").read_text(encoding="utf-8")
    all_of = [line for line in stub.splitlines() if line.startswith("__all__")]
    assert all_of == [line for line in table.splitlines() if line.startswith("__all__")]


def test_an_unknown_name_is_an_attribute_error() -> None:
    """A name that isn't public is refused as any module refuses it."""
    import tb_shapeplugin

    with pytest.raises(AttributeError, match="'tb_shapeplugin' has no attribute 'nonsense'"):
        _ = tb_shapeplugin.nonsense  # type: ignore[attr-defined]  # the absence is what is tested
