"""Short ways to trace an entry of the zoo."""

from typing import Any

import pytest

from tb_shapeplugin.record.trace import Trace
from tb_shapeplugin.tracing.execution import ExecutionOption, Options, examine
from tb_shapeplugin.tracing.subject import Subject
from tests.zoo.entry import Built
from tests.zoo.models import ZOO

EXECUTIONS: tuple[ExecutionOption, ...] = ("auto", "real", "fake")


def built(name: str) -> Built:
    """An entry's model and arguments; the test is skipped where the package that it needs is missing."""
    entry = ZOO[name]
    if entry.needs:
        pytest.importorskip(entry.needs)
    return entry()


def traced(name: str, execution: ExecutionOption = "auto", **options: Any) -> Trace:
    """The trace of an entry of the zoo."""
    return run(*built(name), execution=execution, **options)


def run(model: Any, args: Any = (), kwargs: Any = None, *, execution: ExecutionOption = "auto", **options: Any) -> Trace:
    """The trace of any model."""
    return examine(Subject("model", model, args, dict(kwargs or {})), Options(execution, **options)).trace
