"""The entry point: light, quiet, and no danger to TensorBoard."""

import os
import subprocess
import sys
from argparse import Namespace
from importlib.metadata import entry_points
from types import SimpleNamespace

import pytest
from tensorboard.plugins import base_plugin

from tb_shapeplugin.base.names import PLUGIN_NAME, SAMPLES_PER_TAG
from tb_shapeplugin.serve.loader import ShapesLoader

HEAVY = ("torch", "onnx", "numpy", "google.protobuf", "werkzeug", "tensorboardX", "tb_shapeplugin.wire", "tb_shapeplugin.record")


def modules_after(code: str) -> set[str]:
    """What a fresh interpreter has loaded after that code."""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint(*sys.modules)"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


def test_the_entry_point_loads_nothing_heavy() -> None:
    """TensorBoard imports it unguarded at every start."""
    loaded = modules_after("import tb_shapeplugin.serve.loader")
    assert "tb_shapeplugin.serve.loader" in loaded
    assert not loaded.intersection(HEAVY)


def test_that_test_can_fail() -> None:
    """The same question about the plugin itself finds what it needs."""
    loaded = modules_after("import tb_shapeplugin.serve.plugin")
    assert loaded.intersection(HEAVY) >= {"numpy", "werkzeug", "tb_shapeplugin.wire"}


def test_the_backend_needs_none_of_our_messages() -> None:
    """A clash over protobuf can't break the tab; torch and onnx are not looked for either."""
    loaded = modules_after("import tb_shapeplugin.serve.plugin")
    assert "tb_shapeplugin.wire.envelope" in loaded
    assert not loaded.intersection({"tb_shapeplugin.wire.schema", "tb_shapeplugin.wire.decode", "torch", "onnx"})


def test_pip_installs_the_entry_point() -> None:
    """The group that TensorBoard looks in, the loader that it must find."""
    (found,) = [entry for entry in entry_points(group="tensorboard_plugins") if entry.name == PLUGIN_NAME]
    assert found.load() is ShapesLoader
    assert issubclass(ShapesLoader, base_plugin.TBLoader)


def test_the_users_own_sample_is_kept() -> None:
    """Only what wasn't said is filled in; flags of another form are left alone."""
    unsaid, said, odd = Namespace(samples_per_plugin={"images": 3}), Namespace(samples_per_plugin={PLUGIN_NAME: 0}), Namespace()
    for flags in (unsaid, said, odd, Namespace(samples_per_plugin=None)):
        ShapesLoader().fix_flags(flags)
    assert unsaid.samples_per_plugin == {"images": 3, PLUGIN_NAME: SAMPLES_PER_TAG}
    assert said.samples_per_plugin == {PLUGIN_NAME: 0}
    assert vars(odd) == {}


def test_a_plugin_that_cannot_be_imported_is_left_out(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Said in TensorBoard's log, and TensorBoard goes on."""
    monkeypatch.setitem(sys.modules, "tb_shapeplugin.serve.plugin", None)
    assert ShapesLoader().load(SimpleNamespace()) is None
    assert "The tab Shapes can't be loaded" in caplog.text


def test_a_context_of_another_form_is_left_out_too(caplog: pytest.LogCaptureFixture) -> None:
    """A future TensorBoard may hand over something else."""
    assert ShapesLoader().load(None) is None
    assert "The tab Shapes can't be loaded" in caplog.text
