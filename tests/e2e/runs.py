"""The runs that the tests look at: what the demos write, and what no demo has."""

import os
import subprocess
import sys
from pathlib import Path

import torch
from tensorboard.compat.proto import event_pb2
from torch import nn

import tb_shapeplugin as shapes
from tb_shapeplugin.write.event import event_bytes
from tb_shapeplugin.write.standalone import open_sink
from tests.e2e.broken import write_broken
from tests.wire.records import small_record, stored

ROOT = Path(__file__).resolve().parents[2]
DEMOS = ("digits", "many_inputs", "memory_budget", "training_crash", "transformer", "two_paths", "wrong_width")
# The run and name of each model that the demos log, and a node that its graph must show at once.
DEMO_MODELS = {
    "DigitNet": ("digits", "pixels"),
    "microscope": ("many_inputs", "image"),
    "street": ("many_inputs", "image"),
    "ViT-B16": ("memory_budget", "pixel_values"),
    "Stamps": ("training_crash", "criterion"),
    "BERT": ("transformer", "input_ids"),
    "reader": ("two_paths", "text"),
    "GuessedNet": ("wrong_width", "fc1"),
}
TRUNCATED = "__shapes__/graph/Truncated@bad"
HEADLESS = "__shapes__/graph/Headless@bad"


class TwoFaults(nn.Module):
    """widen gives 6, first wants 7; first gives 5, second wants 4."""

    def __init__(self) -> None:
        super().__init__()
        self.widen = nn.Linear(8, 6)
        self.first = nn.Linear(7, 5)
        self.second = nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        outcome: torch.Tensor = self.second(torch.relu(self.first(torch.relu(self.widen(x)))))
        return outcome


class Long(nn.Module):
    """More ops in a row than are laid out outside the worker."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(800):
            x = torch.relu(x)
        return x


class TwoPaths(nn.Module):
    """image -> see, or tokens -> embed up to the longest text; both -> mix -> head. Nobody ever debugs."""

    def __init__(self) -> None:
        super().__init__()
        self.see = nn.Conv2d(3, 16, 4, 4)
        self.embed = nn.Embedding(100, 16)
        self.mix = nn.Linear(16, 16)
        self.head = nn.Linear(16, 5)
        self.debug = False

    def forward(self, image: torch.Tensor | None = None, tokens: torch.Tensor | None = None) -> torch.Tensor:
        if image is not None:
            x = torch.relu(self.see(image)).flatten(2).mean(2)
        else:
            assert tokens is not None
            longest = int((tokens > 0).sum(1).max().item())
            x = self.embed(tokens[:, :longest]).sum(1)
        x = torch.tanh(self.mix(x))
        if self.debug:
            print(x)
        outcome: torch.Tensor = self.head(x)
        return outcome


def small_model() -> nn.Module:
    """Two layers, no fault."""
    return nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 2))


def write_demos(logdir: Path) -> None:
    """Runs every demo as a user does, side by side."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    started = [
        subprocess.Popen(
            [sys.executable, str(ROOT / "demo" / f"{demo}.py"), "--logdir", str(logdir)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for demo in DEMOS
    ]
    for demo, process in zip(DEMOS, started, strict=True):
        complaints = process.communicate()[1]
        assert process.returncode == 0, f"demo/{demo}.py failed:\n{complaints[-3000:]}"


def write_two_faults(run: Path) -> None:
    """A model with two problems, neither of which follows from the other."""
    with shapes.ShapeWriter(run) as writer:
        captured = writer.add_shapes(TwoFaults(), torch.zeros(3, 8), name="TwoFaults")
    assert [finding.module for finding in captured.findings] == ["first", "second"]


def write_long(run: Path) -> None:
    """A model of 800 ops, all at the top."""
    with shapes.ShapeWriter(run) as writer:
        writer.add_shapes(Long(), torch.zeros(3, 8), name="Long")


def write_cases(run: Path) -> None:
    """A model with two ways in, each taken by one of two inputs."""
    cases = {"picture": {"image": torch.zeros(2, 3, 8, 8)}, "words": {"tokens": torch.ones(4, 7, dtype=torch.long)}}
    with shapes.ShapeWriter(run) as writer:
        writer.add_shapes(TwoPaths(), name="TwoPaths", cases=cases)


def write_steps(run: Path) -> None:
    """One model at two steps, with batches of two sizes."""
    model = small_model()
    with shapes.ShapeWriter(run) as writer:
        for step, batch in ((0, 3), (100, 16)):
            writer.add_shapes(model, torch.zeros(batch, 8), name="Stepped", step=step)


def write_small(run: Path, name: str) -> None:
    """One small model without a fault."""
    with shapes.ShapeWriter(run) as writer:
        writer.add_shapes(small_model(), torch.zeros(3, 8), name=name)


def write_damaged(run: Path) -> None:
    """A record cut short, one whose header is no JSON, and a good one beside them."""
    data, header = stored(small_record("Truncated"))
    headless = event_pb2.Event.FromString(event_bytes(HEADLESS, data, header, 0))
    headless.summary.value[0].metadata.plugin_data.content = b"\xff\x00 no JSON"
    sink = open_sink(run)
    sink.put(event_bytes(TRUNCATED, data[:-30], header, 0))
    sink.put(headless.SerializeToString())
    sink.close()
    write_small(run, "Sound")


def write_runs(logdir: Path) -> None:
    """All of them, a folder each."""
    write_demos(logdir)
    write_two_faults(logdir / "wrong_width_twice")
    write_steps(logdir / "steps")
    write_long(logdir / "long")
    write_cases(logdir / "cases")
    write_damaged(logdir / "damaged")
    write_broken(logdir / "wrong_zoo")
