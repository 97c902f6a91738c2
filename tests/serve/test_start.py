"""Other ways in which TensorBoard is started: behind a prefix, with nothing logged, while a run is written."""

from pathlib import Path

import pytest

from tb_shapeplugin.write.sink import write_record
from tb_shapeplugin.write.standalone import open_sink
from tests.serve.conftest import write_scalars
from tests.tensorboard_process import tensorboard
from tests.wire.records import small_record, stored

both_loaders = pytest.mark.parametrize("fast", [True, False], ids=["fast", "python"])


@both_loaders
def test_behind_a_prefix_and_while_a_run_is_written(fast: bool, tmp_path: Path) -> None:
    """No data, then data, then more of it, as a training goes on: each time what is there and no more."""
    write_scalars(tmp_path / "scalars")
    with tensorboard(tmp_path, fast=fast, path_prefix="/lab/tb") as running:
        assert running.url.endswith("/lab/tb/")
        assert running.get("/models").json() == {"runs": []}
        assert b"render" in running.get("/index.js").body
        told = running.wait_for("/status", lambda found: bool(found["runs"]))
        assert told["runs"] == [{"run": "scalars", "plugins": ["scalars"]}]
        sink = open_sink(tmp_path / "run")
        for count, name in enumerate(("First", "Second"), start=1):
            write_record(sink, *stored(small_record(name)), step=count)
            found = running.wait_for(
                "/models", lambda found, count=count: sum(bool(m["steps"]) for run in found["runs"] for m in run["models"]) == count
            )
        assert [(model["name"], model["steps"]) for model in found["runs"][0]["models"]] == [("First", [1]), ("Second", [2])]


@both_loaders
def test_more_records_of_one_tag_are_kept_than_tensorboards_ten(fast: bool, tmp_path: Path) -> None:
    """fix_flags raises the sample without a flag of the user's: the same tag at thirty steps, as a writer a step gives it."""
    for step in range(30):
        sink = open_sink(tmp_path)
        write_record(sink, *stored(), step=step)
        sink.close()
    with tensorboard(tmp_path, fast=fast) as running:
        found = running.wait_for("/models", lambda found: bool(found["runs"]) and len(found["runs"][0]["models"][0]["steps"]) == 30)
    assert found["runs"][0]["models"][0]["steps"] == list(range(30))
