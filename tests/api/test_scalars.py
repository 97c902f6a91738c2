"""scalars=True: the totals in TensorBoard's own tabs, through every writer."""

from pathlib import Path
from typing import Any

import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from torch import nn

import tb_shapeplugin as shapes
from tests.api.test_logging import WRITERS


def logged(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """Steps and values of all scalars of a run, by tag, as TensorBoard reads them."""
    read = EventAccumulator(str(folder), size_guidance={"tensors": 0}).Reload()
    return {tag: [(event.step, float(event.tensor_proto.double_val[0])) for event in read.Tensors(tag)] for tag in _scalar_tags(read)}


def _scalar_tags(read: Any) -> list[str]:
    return [tag for tag in read.Tags()["tensors"] if read.SummaryMetadata(tag).plugin_data.plugin_name == "scalars"]


@pytest.mark.parametrize("kind", WRITERS)
def test_every_kind_of_writer_takes_the_totals(kind: str, tmp_path: Path) -> None:
    """Those that are known, under the model's name, at the step."""
    writer = WRITERS[kind](str(tmp_path / "run"))
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    options = {"backward": True, "optimizer": torch.optim.Adam(net.parameters())}
    totals = shapes.add_shapes(writer, net, torch.ones(3, 4), name="net", step=7, scalars=True, **options).totals
    found = logged(tmp_path / "run")
    assert set(found) == {f"shapes/net/{name}" for name in _KNOWN}
    assert all(found[f"shapes/net/{name}"] == [(7, getattr(totals, name))] for name in _KNOWN)


_KNOWN = (
    *("params", "trainable_params", "param_bytes", "flops", "backward_flops", "saved_bytes", "gradient_bytes", "optimizer_bytes"),
    *("peak_forward_bytes", "peak_first_bytes", "peak_bytes"),
)


def test_an_unchanged_model_is_told_at_each_step_once(tmp_path: Path) -> None:
    """The record is there once; its scalars make a line."""
    net = nn.Linear(4, 8)
    with shapes.ShapeWriter(tmp_path) as writer:
        for step in (0, 10, 10, 20):
            writer.add_shapes(net, torch.ones(3, 4), step=step, scalars=True)
    assert [step for step, _ in logged(tmp_path)["shapes/model/flops"]] == [0, 10, 20]
    assert len(shapes.load(tmp_path)) == 1


def test_what_nobody_knows_is_no_scalar(tmp_path: Path) -> None:
    """Never a 0: without a backward there is no figure of it; without the option there are no scalars."""
    with shapes.ShapeWriter(tmp_path / "some") as writer:
        writer.add_shapes(lambda x: torch.fft.fft(x), torch.ones(4), scalars=True)
    assert "shapes/model/flops" not in logged(tmp_path / "some") and "shapes/model/peak_bytes" in logged(tmp_path / "some")
    with shapes.ShapeWriter(tmp_path / "none") as writer:
        writer.add_shapes(nn.Linear(2, 2), torch.ones(1, 2))
    assert logged(tmp_path / "none") == {}
