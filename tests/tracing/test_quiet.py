"""What a capture tries on its own says nothing on the user's screen."""

import logging
from collections.abc import Iterator

import pytest
import torch
from torch import nn

from tb_shapeplugin.tracing.execution import Options, examine
from tb_shapeplugin.tracing.subject import Subject


@pytest.fixture
def logged() -> Iterator[list[logging.LogRecord]]:
    """What torch writes into its log of shape-level kernels."""
    records: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = records.append  # type: ignore[method-assign]  # a handler in one line
    log = logging.getLogger("torch._subclasses.fake_tensor")
    log.addHandler(handler)
    yield records
    log.removeHandler(handler)


def test_a_change_that_can_not_be_applied_is_silent(logged: list[logging.LogRecord]) -> None:
    """A shape-level kernel that refuses a changed input writes no traceback into torch's log."""
    examination = examine(Subject("model", nn.Linear(3, 4), (torch.zeros(2, 5),), {}), Options())
    assert examination.retry is not None
    assert examination.retry([{"input": 0, "op": "transpose", "dims": [0, 7]}]) is None
    assert not logged
