"""CSV, JSON and Markdown: the numbers of the capture, to be read back; nothing in them is taken for a formula or for markup."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

import tb_shapeplugin as shapes
from tb_shapeplugin.base.errors import ShapesError
from tb_shapeplugin.report.exports import csv_text, markdown_text
from tests.wire.records import records


class Net(nn.Module):
    """conv -> relu -> head, called twice; aux never."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.act, self.head, self.aux = nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Linear(8, 4), nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.act(self.conv(x)).mean((2, 3))
        return self.act(self.head(y))


_CALLS = [("", "1"), ("conv", "1"), ("act", "1"), ("head", "1"), ("aux", ""), ("act", "2")]


@pytest.fixture(scope="module")
def training() -> shapes.Capture:
    """A training step with all that can be asked."""
    net = Net()
    return shapes.capture(
        net, torch.randn(2, 3, 8, 8), backward=True, optimizer=torch.optim.AdamW(net.parameters()), what_if=True, name="net"
    )


def read(capture: shapes.Capture, table: str, folder: Path) -> list[dict[str, str]]:
    """The rows of a table as any program would read them."""
    capture.to_csv(folder / "table.csv", table)
    with (folder / "table.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_table_of_modules_has_their_figures(training: shapes.Capture, tmp_path: Path) -> None:
    """One row a call; what is unknown is an empty cell; calls of the root's parts add up to the root."""
    rows = read(training, "modules", tmp_path)
    assert [(row["path"], row["call"]) for row in rows] == _CALLS
    for row, known in zip(rows, training.modules, strict=True):
        for name in ("params", "flops", "backward_flops", "saved_bytes", "output_bytes"):
            figure = getattr(known, name)
            assert row[name] == ("" if figure is None else str(figure))
    for name in ("flops", "backward_flops"):
        assert sum(int(row[name]) for row in rows[1:] if row[name]) == int(rows[0][name]) == getattr(training.totals, name)
    assert rows[4]["outcome"] == "never called" and rows[4]["flops"] == ""


def test_the_table_of_ops_adds_up(training: shapes.Capture, tmp_path: Path) -> None:
    """Names, places and FLOPs of each."""
    rows = read(training, "ops", tmp_path)
    assert [row["name"] for row in rows] == [op.name for op in training.ops]
    assert sum(int(row["flops"]) for row in rows) == training.totals.flops == 2 * (2 * 36 * 8 * 27 + 2 * 8 * 4)
    assert all(row["file"].endswith("test_exports.py") for row in rows if row["module"] == "")


def test_the_table_of_memory_is_the_line_over_time(training: shapes.Capture, tmp_path: Path) -> None:
    """One row an aten op; terms add up; the highest total is the peak."""
    rows = read(training, "memory", tmp_path)
    assert training.memory is not None and len(rows) == training.memory.ops
    terms = [name for name in rows[0] if name.endswith("_bytes") and name != "total_bytes"]
    assert all(sum(int(row[term]) for term in terms) == int(row["total_bytes"]) for row in rows)
    assert max(int(row["total_bytes"]) for row in rows) == training.totals.peak_bytes
    assert list(dict.fromkeys(row["phase"] for row in rows)) == ["forward", "loss", "backward", "step"]


def test_the_table_of_allocations_is_what_is_alive_at_the_peak(training: shapes.Capture, tmp_path: Path) -> None:
    """It adds up to the peak, the largest first."""
    sizes = [int(row["bytes"]) for row in read(training, "allocations", tmp_path)]
    assert sum(sizes) == training.totals.peak_bytes and sizes == sorted(sizes, reverse=True)


def test_the_table_of_tensors_has_every_tensor(training: shapes.Capture, tmp_path: Path) -> None:
    """By id, with its kind."""
    rows = read(training, "tensors", tmp_path)
    assert [int(row["id"]) for row in rows] == list(range(len(training.tensors)))
    assert [row["kind"] for row in rows] == [tensor.kind for tensor in training.tensors]


def test_json_tells_all_of_it(training: shapes.Capture) -> None:
    """Whole numbers stay whole, what nobody knows is null."""
    told = json.loads(training.to_json())
    assert told["totals"]["peak_bytes"] == training.totals.peak_bytes and isinstance(told["totals"]["flops"], int)
    assert told["memory"]["peak"]["terms"] == dict(training.memory.peak.terms) if training.memory and training.memory.peak else False
    assert [size["name"] for size in told["what_if"]["sizes"]] == ["batch", "side"]
    assert told["what_if"]["peak_bytes"]["SGD"] == (training.what_if.peak_bytes("SGD") if training.what_if else None)
    plain = json.loads(shapes.capture(lambda x: torch.fft.fft(x), torch.ones(4)).to_json())
    assert (plain["totals"]["flops"], plain["totals"]["flops_complete"], plain["what_if"]) == (None, False, None)


def test_json_tells_what_is_wrong() -> None:
    """Findings with their numbers, places and fixes."""
    (finding,) = json.loads(shapes.capture(nn.Sequential(nn.Linear(4, 8), nn.Linear(9, 2)), torch.ones(3, 4)).to_json())["findings"]
    assert (finding["kind"], finding["got"], finding["want"]) == ("linear_in_features", {"in_features": 8}, {"in_features": 9})
    assert finding["fixes"][0]["verified"] and finding["places"][0]["module"] == "1"


def test_markdown_has_the_table_the_totals_and_the_four_lines() -> None:
    """As an issue shows them: every row of the table has as many cells as the head."""
    text = shapes.capture(nn.Sequential(nn.Linear(4, 8), nn.Linear(9, 2)), torch.ones(3, 4), name="a|b").to_markdown()
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.replace("\\|", "").count("|") for line in table} == {8}
    assert text.startswith("### a\\|b\n") and "- FLOPs: ≥ 192\n" in text and "- Peak: unknown\n" in text
    assert "```text\nWHERE  1 (Linear" in text


@pytest.mark.parametrize("name", ["=cmd()", "+1", "-1", "@x", "\ttab"])
def test_a_spreadsheet_runs_nothing(name: str) -> None:
    """A name that it would take for a formula is a text, and the same text behind the sign."""
    record = shapes.capture(nn.Linear(2, 2), torch.ones(1, 2)).record
    strings = tuple(name if text == "Linear" else text for text in record.strings)
    rows = list(csv.DictReader(io.StringIO(csv_text(_with(record, strings=strings), "modules"))))
    assert rows[0]["type"] == f"'{name}"


def _with(record: Any, **changes: Any) -> Any:
    from dataclasses import replace

    return replace(record, **changes)


@given(records())
def test_any_record_has_tables_of_whole_rows(record: Any) -> None:
    """Whatever its names hold: each row is read back with the cells that it was written with; Markdown rows stay rows."""
    for table in ("modules", "ops", "tensors"):
        rows = list(csv.reader(io.StringIO(csv_text(record, table), newline="")))
        assert {len(row) for row in rows} in ({len(rows[0])}, set()) if rows else True
    lines = [line for line in markdown_text(record).splitlines() if line.startswith("| ")]
    assert all(line.endswith(" |") for line in lines)


@given(st.text(max_size=30))
def test_no_name_breaks_out_of_markdown(name: str) -> None:
    """The heading is one line, and the table begins after it."""
    record = shapes.capture(nn.Linear(2, 2), torch.ones(1, 2)).record
    text = markdown_text(_with(record, name=name))
    assert text.splitlines()[0].startswith("### ") and "<" not in text.splitlines()[0].replace("\\<", "")


def test_a_wrong_table_and_a_wrong_path_say_what_to_do(training: shapes.Capture, tmp_path: Path) -> None:
    """Never an OSError of the system's."""
    with pytest.raises(ShapesError, match=r"there is no table 'layers'\. The tables are modules, ops, tensors, memory, allocations"):
        training.to_csv(tmp_path / "a.csv", "layers")
    with pytest.raises(ShapesError, match="can't be written: No such file or directory"):
        training.to_csv(tmp_path / "nowhere" / "a.csv")
    assert not list(tmp_path.iterdir())


def test_an_open_file_is_written_into(training: shapes.Capture) -> None:
    """Such as standard output."""
    file = io.StringIO()
    training.to_csv(file)
    assert file.getvalue().startswith("path,type,call,")


def test_the_table_takes_the_columns_that_are_asked_for(training: shapes.Capture) -> None:
    """In their order; all of them exist."""
    lines = training.table(columns=["path", "flops", "backward_flops", "saved_bytes"]).splitlines()
    assert lines[0].split() == ["Layer", "FLOPs", "FLOPs", "back", "Saved", "bytes"]
    assert lines[2].split() == ["net", "31.2", "K", "31.4", "K", "3.84", "KiB"]
