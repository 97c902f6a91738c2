"""Large models: 70 billion parameters on no memory worth naming, and work that grows with the ops, not faster."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import tb_shapeplugin as shapes
from tb_shapeplugin.wire.decode import decode
from tb_shapeplugin.wire.encode import encode

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("context", ["meta", "fake"])
def test_a_llama_of_70_billion_parameters_takes_less_than_100_mb(context: str) -> None:
    """Its parameters would take 276 GB; measured by the bench, in a process of its own."""
    pytest.importorskip("transformers")
    bench = [sys.executable, str(ROOT / "bench" / "scale.py"), "--row", f"llama-70b/{context}"]
    row = json.loads(subprocess.run(bench, capture_output=True, text=True, check=True).stdout.splitlines()[-1])
    assert row["completed"]
    assert row["params"] == 68_976_648_192
    assert row["mb_of_the_capture"] < 100


class Chain(nn.Module):
    """One layer called over and over; every so often a value is read."""

    def __init__(self, calls: int) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.calls = calls

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for call in range(self.calls):
            x = self.layer(x).relu()
            if call % 10 == 0 and x.sum() < 0:
                return x
        return x


def function_calls(run: Callable[[], Any]) -> int:
    """How many functions, of Python and C, are called meanwhile: the work, whatever else the machine does."""
    count = 0

    def counted(frame: Any, event: str, arg: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("execution", ["auto", "real"])
def test_twice_the_ops_are_twice_the_work(execution: Any) -> None:
    """To capture, encode, decode and print; nothing is gone through again for each op or each value."""

    def whole(calls: int) -> Callable[[], Any]:
        def run() -> None:
            captured = shapes.capture(Chain(calls), torch.ones(1, 4), execution=execution)
            assert len(captured.ops) >= 2 * calls
            decode(encode(captured.record))
            str(captured)

        return run

    whole(20)()  # what is found out once and for all
    small, large = function_calls(whole(300)), function_calls(whole(600))
    assert large < 2.2 * small
