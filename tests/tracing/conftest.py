"""One thread, and a process that no test hands on changed."""

import random
import warnings
from collections.abc import Iterator

import numpy as np
import pytest
import torch


@pytest.fixture(autouse=True)
def process_for_one_test() -> Iterator[None]:
    """Global modes are put back behind each test, so that one failing test doesn't make others fail."""
    torch.set_num_threads(1)
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002  the global generator is what models draw from
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    torch.set_grad_enabled(True)
    torch.set_default_dtype(torch.float32)
    torch.set_autocast_enabled("cpu", False)
