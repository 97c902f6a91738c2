"""One thread for torch, as the tests' models are tiny."""

import pytest
import torch


@pytest.fixture(autouse=True)
def one_thread() -> None:
    """More threads only wait for one another."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
