"""Broken models of every look that the problem screen has: many places, an origin that was there before, no place at all."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import torch
from torch import nn

import tb_shapeplugin as shapes
from tb_shapeplugin.api.captures import Capture
from tb_shapeplugin.record.finding import Finding, Fix
from tb_shapeplugin.write.sink import write_record
from tb_shapeplugin.write.standalone import open_sink

BLOCKS = 12
BROKEN_MODELS = ("Twelve", "ChannelsLast", "Stops", "Outside", "Related", "Warned")


class Block(nn.Module):
    """x + down(relu(up(x))): up gives 64, down wants 63."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(32, 64)
        self.down = nn.Linear(63, 32)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        outcome: torch.Tensor = x + self.down(torch.relu(self.up(x)))
        return outcome


class Twelve(nn.Module):
    """Twelve equal blocks, each with the same fault, and a head."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.Sequential(*(Block() for _ in range(BLOCKS)))
        self.head = nn.Linear(32, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        outcome: torch.Tensor = self.head(self.blocks(x))
        return outcome


class ChannelsLast(nn.Module):
    """A picture whose channels come last: it is the input that brings the wrong number along."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 10, 3)

    def forward(self, picture: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.first(picture))


class Stops(nn.Module):
    """A layer, then an error of the user's own."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(8, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.layer(x)
        raise KeyError("scale")


def outside_finding() -> Finding:
    """What a crash before the model leaves: no op and no module, a path and a sentence of some length."""
    return Finding(
        kind="stack_ragged",
        severity="error",
        message="the pictures of one batch have different sizes: 3×480×640 (items 0, 2, 3) and 3×640×480 (item 1)",
        module="",
        module_type="",
        call=0,
        op="torch.stack",
        file="site-packages/torch/utils/data/_utils/collate.py",
        line=272,
        code="return torch.stack(batch, 0, out=out)",
        torch_message="stack expects each tensor to be equal size",
        fixes=(Fix("DataLoader(…, collate_fn=…) that pads the items"), Fix("transforms.Resize((480, 640)) in the Dataset")),
    )


def related_findings() -> tuple[Finding, ...]:
    """One with another reading, a fix and a suggestion; one that follows from it; a note."""
    first = replace(
        outside_finding(),
        message="up: 8 against 9",
        module="up",
        module_type="Linear",
        call=1,
        readings=("up and down are both 9 wide where the input gives 8",),
        fixes=(Fix("nn.Linear(8, 4)", (), verified=True, cost="loses up's pretrained weights"), Fix("as many rows as columns")),
        op_index=0,
    )
    second = replace(first, message="down: 4 against 5", module="down", readings=(), fixes=(), caused_by=first, op_index=1)
    return first, second, replace(second, message="down: its bias is never trained", severity="note", caused_by=None)


def write_broken(run: Path) -> None:
    """All of them, into one run."""
    with shapes.ShapeWriter(run) as writer:
        twelve = writer.add_shapes(Twelve(), torch.zeros(2, 5, 32), name="Twelve")
        assert [len(finding.places) for finding in twelve.findings] == [BLOCKS]
        writer.add_shapes(ChannelsLast(), torch.zeros(1, 36, 42, 3), name="ChannelsLast")
        writer.add_shapes(Stops(), torch.zeros(3, 8), name="Stops")
    sound = nn.Sequential()
    sound.add_module("up", nn.Linear(8, 4))
    sound.add_module("down", nn.Linear(4, 2))
    _write(run, "Outside", sound, (outside_finding(),), completed=False)
    _write(run, "Related", sound, related_findings(), completed=False)
    warned = (replace(finding, severity="warning") for finding in related_findings()[:1] + related_findings()[2:])
    _write(run, "Warned", sound, (replace(finding, caused_by=None) for finding in warned), completed=True)


def _write(run: Path, name: str, model: nn.Module, findings: Iterable[Finding], *, completed: bool) -> None:
    captured = shapes.capture(model, torch.zeros(3, 8), name=name)
    error = "" if completed else "RuntimeError: it stopped"
    sink = open_sink(run)
    write_record(sink, *Capture(replace(captured.record, findings=tuple(findings), completed=completed, error=error)).stored, 0)
    sink.close()
