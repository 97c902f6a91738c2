"""guard in processes: one that is killed right after its note, and several that train together, of which one fails."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import tb_shapeplugin as shapes

ROOT = Path(__file__).parents[2]

KILLED = """
import os, signal, sys
import torch
from torch import nn
import tb_shapeplugin as shapes

writer = shapes.ShapeWriter(sys.argv[1])
model = nn.Sequential(nn.Linear(4, 4), nn.Linear(5, 2))
try:
    with shapes.guard(writer, model):
        model(torch.ones(3, 4))
except RuntimeError as error:
    print("noted" if "linear_in_features" in str(error.__notes__ if hasattr(error, "__notes__") else error) else "silent", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""

# Rank 1 gets a batch that doesn't fit; rank 0 waits in its collective until it is told to stop, as it would in a cluster.
TOGETHER = """
import os, sys
import torch
import torch.distributed as dist
from torch import nn
import tb_shapeplugin as shapes

folder, writers = sys.argv[1:]
dist.init_process_group("gloo")
rank = dist.get_rank()
called = []
for name in ("all_reduce", "broadcast", "barrier", "all_gather", "all_gather_object", "broadcast_object_list", "reduce"):
    def follow(*args, name=name, original=getattr(dist, name), **kwargs):
        called.append(name)
        return original(*args, **kwargs)
    setattr(dist, name, follow)
torch.manual_seed(0)
model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2)))
writer = shapes.ShapeWriter(os.path.join(folder, str(rank))) if writers == "own" or rank == 0 else None
called.clear()
try:
    with shapes.guard(writer, model, name="together"):
        batch = torch.ones(3, 7 if rank == 1 else 4)
        out = model(batch)
        loss = (out - torch.zeros(3, 2)).pow(2).mean()
except RuntimeError as error:
    print(f"rank {rank} failed:", error.__notes__[0] if hasattr(error, "__notes__") else "", "called", called, flush=True)
else:
    print(f"rank {rank} went on", "called", called, flush=True)
os._exit(0)
"""


def test_a_process_that_is_killed_has_lost_nothing(tmp_path: Path) -> None:
    """SIGKILL right after the note: the record is on the disk, and whole."""
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, cwd=ROOT)
    assert done.returncode == -signal.SIGKILL, done.stderr[-2000:]
    assert "noted" in done.stdout or sys.version_info < (3, 11)
    (captured,) = shapes.load(tmp_path)
    assert (captured.findings[0].kind, captured.findings[0].module) == ("linear_in_features", "1")


@pytest.mark.parametrize("writers", ["own", "first"])
def test_only_the_rank_that_fails_writes(writers: str, tmp_path: Path) -> None:
    """Not rank 0 alone; without a writer the note is all. No collective is called, in which the other ranks would have to join."""
    environment = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": "2", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", TOGETHER, str(tmp_path), writers]
    processes = [
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, env={**environment, "RANK": str(rank)}
        )
        for rank in range(2)
    ]
    outputs = [process.communicate(timeout=300) for process in processes]
    printed = [text for text, _ in outputs]
    assert "rank 1 failed" in printed[1], outputs[1][1][-2000:]
    assert "rank 0 went on" in printed[0], outputs[0][1][-2000:]
    assert "linear_in_features" in printed[1] or sys.version_info < (3, 11)
    assert all("called []" in text for text in printed)
    written = {rank: shapes.load(tmp_path / str(rank)) for rank in range(2) if (tmp_path / str(rank)).exists()}
    assert {rank: len(captures) for rank, captures in written.items()} == ({0: 0, 1: 1} if writers == "own" else {0: 0})
    for captured in written.get(1, []):
        assert (captured.name, captured.findings[0].kind, captured.findings[0].module) == ("together", "linear_in_features", "0")


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
