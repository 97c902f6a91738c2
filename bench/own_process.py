"""Rows of a bench, each measured in a process where nothing else has run."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any


def row_of_own_process(bench: str, task: str, *options: str) -> dict[str, Any]:
    """The row that ``bench --row task`` prints as JSON in its last line."""
    done = subprocess.run(
        [sys.executable, bench, "--row", task, *options],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},  # nothing is downloaded
    )
    row: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return row


def peak_mb() -> float:
    """The most memory that this process has held so far; since it began, not since its parent did, where the system says so."""
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024)
