"""What large models cost: memory and seconds of a 70-billion-parameter configuration, and time an op as the ops grow to 100,000."""

import argparse
import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"  # read when the package is imported
warnings.simplefilter("ignore")

import torch  # noqa: E402  the lines above must come before it

AFTER_TORCH = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

import transformers  # noqa: E402  what torch alone takes is measured before
from models import LLAMA_70B, conditions  # noqa: E402  what torch alone takes is measured before
from torch import nn  # noqa: E402  what torch alone takes is measured before
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402  what torch alone takes is measured before

import tb_shapeplugin as shapes  # noqa: E402  what torch alone takes is measured before
from tb_shapeplugin.wire.decode import decode  # noqa: E402  what torch alone takes is measured before
from tb_shapeplugin.wire.encode import encode  # noqa: E402  what torch alone takes is measured before

OPS = (25_000, 50_000, 100_000)


def _grown(since: int) -> float:
    """MB by which this process's peak has grown."""
    return round((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - since) / 1024, 1)


# Under which context a model's parameters come to be without memory.
WITHOUT_MEMORY: dict[str, Callable[[], contextlib.AbstractContextManager[Any]]] = {
    "meta": lambda: torch.device("meta"),
    "fake": lambda: FakeTensorMode(),
}


def llama_70b(context: str) -> dict[str, Any]:
    """One capture in this process, which has done nothing else."""
    imported = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with WITHOUT_MEMORY[context]():
        model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**LLAMA_70B))
    built = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    captured = shapes.capture(model, (), {"input_ids": shapes.spec((1, 128), torch.long), "use_cache": False})
    return {
        "completed": captured.completed,
        "params": captured.totals.params,
        "ops": len(captured.ops),
        "seconds": round(time.process_time() - start, 2),
        "mb_of_the_capture": _grown(built),
        "mb_of_building_and_capture": _grown(imported),
        "mb_more_than_torch_transformers_included": _grown(AFTER_TORCH),
    }


class Tower(nn.Module):
    """One small layer that is called again and again: 2 ops a step, 8 widths."""

    def __init__(self, ops: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for width in range(8, 16))
        self.steps = ops // 2 // len(self.layers)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            y = x[:, : layer.in_features]
            for _ in range(self.steps):
                y = layer(y).relu()
        return y


def many_ops(ops: int) -> dict[str, Any]:
    """CPU seconds of each station on the way, and of all of them per thousand ops."""
    taken: dict[str, float] = {}

    def timed(name: str, run: Callable[[], Any]) -> Any:
        start = time.process_time()
        done = run()
        taken[name] = round(time.process_time() - start, 2)
        return done

    captured = timed("capture", lambda: shapes.capture(Tower(ops), torch.zeros(1, 16), execution="fake"))
    data = timed("encode", lambda: encode(captured.record))
    timed("decode", lambda: decode(data))
    with tempfile.TemporaryDirectory() as folder:
        timed("save", lambda: captured.save(os.path.join(folder, "tower.shapes")))
    timed("console", lambda: str(captured))
    count = len(captured.ops)
    return {"ops": count, "bytes_per_op": round(len(data) / count, 2), **taken, "ms_per_op": round(sum(taken.values()) / count * 1e3, 3)}


def in_a_process_of_its_own(task: str) -> dict[str, Any]:
    """One row, measured where nothing else has run."""
    done = subprocess.run([sys.executable, __file__, "--row", task], capture_output=True, text=True, check=True)
    row: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return row


def main() -> None:
    """Prints one row a model, and all of it as JSON in the last line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the smallest number of ops only")
    parser.add_argument("--row", help="measure this row here: llama-70b/meta, or a number of ops")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.row:
        kind, _, context = options.row.partition("/")
        print(json.dumps(llama_70b(context) if context else many_ops(int(kind))))
        return
    told = conditions()
    for name, value in told.items():
        print(f"{name}: {value}")
    print()
    rows = {}
    for task in (*(f"llama-70b/{context}" for context in WITHOUT_MEMORY), *map(str, OPS[:1] if options.quick else OPS)):
        row = rows[task] = in_a_process_of_its_own(task)
        print(f"{task:15} " + "  ".join(f"{name} {value}" for name, value in row.items()), flush=True)
    print()
    print(json.dumps({"bench": "scale", "conditions": told, "rows": rows}))


if __name__ == "__main__":
    main()
