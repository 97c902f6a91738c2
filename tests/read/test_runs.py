"""What TensorBoard's data provider may answer, odd things included, and what becomes of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from tensorboard import errors
from tensorboard.data import provider

from tb_shapeplugin.base.errors import RecordError
from tb_shapeplugin.read.runs import NothingThere, Runs
from tests.wire.records import stored

DATA, HEADER = stored()


def listed(content: bytes = HEADER.to_json(), max_step: int | None = 3) -> provider.BlobSequenceTimeSeries:
    """A tag as it is listed."""
    return provider.BlobSequenceTimeSeries(
        max_step=max_step, max_wall_time=1.0, max_length=1, plugin_content=content, description="", display_name=""
    )


def datum(step: int, *keys: str) -> provider.BlobSequenceDatum:
    """A point of a series, with references to these blobs."""
    return provider.BlobSequenceDatum(step=step, wall_time=1.0, values=tuple(provider.BlobReference(blob_key=key) for key in keys))


@dataclass
class OddProvider:
    """Answers of TensorBoard that a small logdir doesn't bring about."""

    blobs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    series: Mapping[str, Mapping[str, Sequence[Any] | Exception]] = field(default_factory=dict)
    stored: Mapping[str, Any] = field(default_factory=dict)

    def list_blob_sequences(self, ctx: Any, *, experiment_id: str, plugin_name: str) -> Any:
        assert plugin_name == "shapes"
        return self.blobs

    def list_tensors(self, ctx: Any, *, experiment_id: str, plugin_name: str) -> Any:
        raise errors.NotFoundError("no tensors at all")

    def read_blob_sequences(self, ctx: Any, *, experiment_id: str, plugin_name: str, downsample: int, run_tag_filter: Any) -> Any:
        wanted = {
            run: {tag: series for tag, series in tags.items() if run_tag_filter.tags is None or tag in run_tag_filter.tags}
            for run, tags in self.series.items()
            if run_tag_filter.runs is None or run in run_tag_filter.runs
        }
        for tags in wanted.values():
            for series in tags.values():
                if isinstance(series, Exception):
                    raise series
        return wanted

    def read_blob(self, ctx: Any, *, blob_key: str) -> Any:
        found = self.stored[blob_key]
        if isinstance(found, Exception):
            raise found
        return found


def runs_of(data_provider: OddProvider) -> Runs:
    """The room's view of it."""
    return Runs(data_provider, None, "")


def test_runs_and_tags_come_in_the_order_of_their_names() -> None:
    """Pickers don't jump between reloads."""
    blobs = {"b": {"t2": listed(), "t1": listed()}, "a": {"t": listed()}}
    series = {run: {tag: [datum(0, "k"), datum(3, "k")] for tag in tags} for run, tags in blobs.items()}
    models = runs_of(OddProvider(blobs, series)).models()
    assert [(run, model.tag, model.steps) for run, found in models.items() for model in found] == [
        ("a", "t", (0, 3)),
        ("b", "t1", (0, 3)),
        ("b", "t2", (0, 3)),
    ]
    assert models["a"][0].header == HEADER and models["a"][0].problem is None


def test_a_purged_series_is_a_problem_of_its_own() -> None:
    """It stays listed with max_step None and no points; the others are as ever."""
    blobs = {"run": {"gone": listed(max_step=None), "there": listed()}}
    gone, there = runs_of(OddProvider(blobs, {"run": {"there": [datum(3, "k")]}})).models()["run"]
    assert (gone.steps, gone.header, gone.problem) == ((), None, "None of its records can be read. Log the model again.")
    assert (there.steps, there.problem) == ((3,), None)


def test_a_series_that_raises_spoils_nothing_for_the_others() -> None:
    """The Python loader converts all that is asked for in one go."""
    blobs = {"run": {"bad": listed(), "good": listed()}}
    bad, good = runs_of(OddProvider(blobs, {"run": {"bad": IndexError("rank 0"), "good": [datum(3, "k")]}})).models()["run"]
    assert bad.problem is not None and (good.steps, good.problem) == ((3,), None)


def test_garbage_beside_a_record_is_said() -> None:
    """The header comes from the event file, like everything."""
    (model,) = runs_of(OddProvider({"r": {"t": listed(b"\x00garbage")}}, {"r": {"t": [datum(1, "k")]}})).models()["r"]
    assert model.header is None and model.steps == (1,)
    assert model.problem is not None and "no JSON object" in model.problem


SERIES = {"r": {"t": [datum(1, "one"), datum(5, "five"), datum(7)], "none": []}}


def test_a_record_is_found_by_step_and_the_last_without() -> None:
    """The bytes as they are stored, whatever type of bytes the loader uses."""
    runs = runs_of(OddProvider(series=SERIES, stored={"one": b"1", "five": memoryview(b"5")}))
    assert runs.record("r", "t", 1) == b"1"
    assert runs.record("r", "t", 5) == b"5"
    assert type(runs.record("r", "t", 5)) is bytes
    with pytest.raises(RecordError, match="empty sequence"):
        runs.record("r", "t")


@pytest.mark.parametrize(("run", "tag", "step"), [("x", "t", None), ("r", "x", None), ("r", "none", None), ("r", "t", 2)])
def test_what_is_not_there_is_said(run: str, tag: str, step: int | None) -> None:
    """Run, tag and step in the sentence, and what may have become of it."""
    with pytest.raises(NothingThere) as caught:
        runs_of(OddProvider(series=SERIES)).record(run, tag, step)
    assert repr(run) in str(caught.value) and repr(tag) in str(caught.value) and "sampled away" in str(caught.value)


def test_a_blob_that_cannot_be_read_is_one_of_two_errors() -> None:
    """Gone since it was listed, or never a blob sequence."""
    runs = runs_of(OddProvider(series=SERIES, stored={"one": errors.NotFoundError("gone"), "five": IndexError("rank 0")}))
    with pytest.raises(NothingThere, match="is gone"):
        runs.record("r", "t", 1)
    with pytest.raises(RecordError, match="no sequence of blobs"):
        runs.record("r", "t", 5)
