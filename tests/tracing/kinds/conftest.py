"""A process group of one process, for wrappers that need one."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch


@pytest.fixture
def process_group(tmp_path: Path) -> Iterator[None]:
    """gloo, alone, met through a file; gone behind the test."""
    distributed = torch.distributed
    if not distributed.is_available():
        pytest.skip("this torch has no torch.distributed")
    distributed.init_process_group("gloo", init_method=f"file://{tmp_path / 'store'}", rank=0, world_size=1)
    yield
    distributed.destroy_process_group()
