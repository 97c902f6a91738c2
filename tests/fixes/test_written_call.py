"""A call's numbers, where they stand in the code, and the same call with others."""

from typing import Any

import pytest
import torch

from tb_shapeplugin.analyse.findings import findings
from tb_shapeplugin.analyse.mismatches.registered import clash_of
from tb_shapeplugin.fixes.situation import Situation
from tb_shapeplugin.fixes.written_call import WrittenCall, as_written
from tb_shapeplugin.fixes.written_code import calls_of
from tb_shapeplugin.tracing.execution import Options, examine
from tb_shapeplugin.tracing.subject import Subject


def named(x: torch.Tensor) -> Any:
    """Arguments by name."""
    return x.flatten(start_dim=1, end_dim=2).softmax(dim=-1) @ torch.ones(5, 2)


def spread(x: torch.Tensor) -> Any:
    """Sizes and axes one by one, some of them computed."""
    return x.permute(0, 2, 1).reshape(x.shape[0], 2, -1) @ torch.ones(5, 2)


def listed(x: torch.Tensor) -> Any:
    """Axes in lists."""
    return torch.permute(x, (0, 2, 1)).sum([1, 2], keepdim=True) @ torch.ones(5, 2)


def made(function: Any, call: str) -> tuple[Situation, WrittenCall]:
    """The situation of a product that fails behind a call, and that call as it is written."""
    trace = examine(Subject("model", function, (torch.randn(3, 4, 6),), {}), Options()).trace
    situation = Situation(trace, trace.failures[0], findings(trace)[0], clash_of(trace.failures[0], trace))
    written = as_written(situation, next(op for op in trace.ops if op.name.rpartition(".")[2] == call))
    assert written is not None
    return situation, written


@pytest.mark.parametrize(
    ("function", "call", "numbers"),
    [
        (named, "flatten", [("start_dim", -1, 1, True), ("end_dim", -1, 2, True)]),
        (named, "softmax", [("dim", -1, -1, True)]),
        (spread, "permute", [(1, -1, 0, True), (2, -1, 2, True), (3, -1, 1, True)]),
        (spread, "reshape", [(1, -1, 3, False), (2, -1, 2, False), (3, -1, -1, False)]),
        (listed, "permute", [(1, 0, 0, True), (1, 1, 2, True), (1, 2, 1, True)]),
        (listed, "sum", [(1, 0, 1, True), (1, 1, 2, True)]),
    ],
)
def test_numbers_are_found_where_the_user_put_them(function: Any, call: str, numbers: list[tuple[Any, ...]]) -> None:
    """By position or by name, one by one or in a list; each knows whether it is an axis or a size."""
    _, written = made(function, call)
    assert [(number.key, number.place, number.value, number.is_axis) for number in written.numbers()] == numbers


def test_a_call_is_told_and_changed_with_one_number_replaced() -> None:
    """The other arguments stay as they stand in the code; a list is given whole."""
    situation, written = made(spread, "reshape")
    values = {written.numbers()[1]: 4}
    assert written.text(values) == "reshape(x.shape[0], 4, -1)"
    assert written.changes(situation, values) == ({"call": "reshape", "module": "", "index": 0, "argument": 2, "value": 4},)
    situation, written = made(listed, "sum")
    values = {written.numbers()[1]: 0}
    assert written.text(values) == "sum([1, 0], keepdim=True)"
    assert written.changes(situation, values)[0]["value"] == [1, 0]


def test_what_is_spelled_out_is_told_from_what_is_computed() -> None:
    """x.shape[0] is 3 today."""
    _, written = made(spread, "reshape")
    assert [written.is_literal(number) for number in written.numbers()] == [False, True, True]


def test_calls_are_found_in_statements_and_in_their_heads() -> None:
    """A statement that can't be read has none."""
    assert len(calls_of("y = x.view(2, 3).view(6)", "view")) == 2
    assert len(calls_of("while x.view(2).any():", "view")) == 1
    assert calls_of("y = x.view(", "view") == []
