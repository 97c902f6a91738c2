"""Sharded parameters: what the model has, and what of it lies on this rank. A fake group of four ranks stands for a cluster."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import json, sys
import torch, torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.testing._internal.distributed.fake_pg import FakeStore
import tb_shapeplugin as shapes

dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=4)
net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 8))
if sys.argv[1] == "tensor parallel":
    parallelize_module(net, init_device_mesh("cpu", (4,)), {"0": ColwiseParallel(), "2": RowwiseParallel()})
elif sys.argv[1] == "fsdp":
    fully_shard(net)
captured = shapes.capture(net, torch.randn(3, 16))
captured.save(sys.argv[2])
loaded = shapes.load(sys.argv[2])[0]
assert loaded.totals == captured.totals
modules = {row.path: [row.params, row.param_bytes, row.local_params, row.local_param_bytes] for row in loaded.modules}
totals = loaded.totals
estimated = captured.memory.estimated if captured.memory is not None else {}
told = [totals.params, totals.param_bytes, totals.local_params, totals.local_param_bytes]
print(json.dumps({"totals": told, "modules": modules, "estimated": estimated.get("peak_bytes"), "text": str(captured)}))
"""

WHOLE = [808, 3232]
# How the model is sharded: elements on this rank of the first layer, of the last, and whether the peak is an estimate.
KINDS = {
    "tensor parallel": (128 + 8, 64 + 8, "sharded tensors are counted whole, as if one rank held them"),
    "fsdp": (128 + 8, 64 + 2, None),
    "not at all": (None, None, None),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_sharded_model_tells_the_whole_and_this_ranks_part(kind: str, tmp_path: Path) -> None:
    """Per module and in total, in a process of its own: a group can't be left again."""

    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, kind, str(tmp_path / "net.shapes")], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(done.stdout.strip().splitlines()[-1])
    first, last, estimated = KINDS[kind]
    parts = [first, last] if first is not None and last is not None else []
    local = [sum(parts), 4 * sum(parts)] if parts else [None, None]
    assert told["totals"] == [*WHOLE, *local] == told["modules"][""]
    for path, count, here in (("0", 16 * 32 + 32, first), ("2", 32 * 8 + 8, last)):
        assert told["modules"][path] == [count, 4 * count, here, None if here is None else 4 * here]
    assert told["estimated"] == estimated
    assert ("On this rank" in told["text"]) == ("Params on this rank" in told["text"]) == bool(parts)
