"""What large models cost: memory and seconds of a 70-billion-parameter configuration, and time an op as the ops grow to 100,000."""

import argparse
import contextlib
import json
import os
import tempfile
import time
import warnings
from collections.abc import Callable
from typing import Any

import torch
from models import LLAMA_70B, conditions
from own_process import peak_mb, row_of_own_process
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

import tb_shapeplugin as shapes
from tb_shapeplugin.wire.decode import decode
from tb_shapeplugin.wire.encode import encode

OPS = (25_000, 50_000, 100_000)


# Under which context a model's parameters come to be without memory.
WITHOUT_MEMORY: dict[str, Callable[[], contextlib.AbstractContextManager[Any]]] = {
    "meta": lambda: torch.device("meta"),
    "fake": lambda: FakeTensorMode(),
}


def llama_70b(context: str) -> dict[str, Any]:
    """One capture in this process, which has done nothing else."""
    from transformers import LlamaConfig, LlamaForCausalLM  # noqa: PLC0415  what it takes is no part of what is measured

    before = peak_mb()
    with WITHOUT_MEMORY[context]():
        model = LlamaForCausalLM(LlamaConfig(**LLAMA_70B))
    built = peak_mb()
    start = time.process_time()
    captured = shapes.capture(model, (), {"input_ids": shapes.spec((1, 128), torch.long), "use_cache": False})
    return {
        "completed": captured.completed,
        "params": captured.totals.params,
        "ops": len(captured.ops),
        "seconds": round(time.process_time() - start, 2),
        "mb_of_building": round(built - before, 1),
        "mb_of_the_capture": round(peak_mb() - built, 1),
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


def main() -> None:
    """Prints one row a model, and all of it as JSON in the last line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the smallest number of ops only")
    parser.add_argument("--row", help="measure this row here: llama-70b/meta, or a number of ops")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
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
        row = rows[task] = row_of_own_process(__file__, task)
        print(f"{task:15} " + "  ".join(f"{name} {value}" for name, value in row.items()), flush=True)
    print()
    print(json.dumps({"bench": "scale", "conditions": told, "rows": rows}))


if __name__ == "__main__":
    main()
