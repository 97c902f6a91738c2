"""Failures that shapes don't show (values, dtypes, devices, masks, lengths, calls, checkpoints, slips), judged from outside."""

import copy
import functools
import warnings

import pytest

import tb_shapeplugin as shapes
from tb_shapeplugin.api.captures import Capture
from tb_shapeplugin.record.finding import Finding
from tb_shapeplugin.report.four_lines import four_lines
from tests.analyse.unseen import calls, checkpoints, dtypes, indices, lengths, slips
from tests.analyse.unseen.row import Given, Row

ROWS: dict[str, Row] = {**dtypes.ROWS, **indices.ROWS, **lengths.ROWS, **calls.ROWS, **checkpoints.ROWS, **slips.ROWS}


def captured(given: Given) -> Capture:
    """One capture, without fixes."""
    model, args = given
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return shapes.capture(model, args, verify_fixes=False)


def independent(capture: Capture) -> list[Finding]:
    """The errors that follow from no other one."""
    return [finding for finding in capture.findings if finding.severity == "error" and finding.caused_by is None]


def eagers_error(given: Given) -> Exception | None:
    """What a plain call raises."""
    model, args = copy.deepcopy(given)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model(*args)
    except Exception as error:
        return error
    return None


@functools.cache
def faulty(name: str) -> Capture:
    """The capture of a row's model."""
    return captured(ROWS[name].model())


@pytest.mark.parametrize("name", ROWS)
def test_each_fault_is_told_once_with_its_numbers(name: str) -> None:
    """Kind, module, op, line and numbers are right, and nothing else is said."""
    row = ROWS[name]
    capture = faulty(name)
    assert not capture.completed
    found = independent(capture)
    assert [finding.kind for finding in found] == [row.kind], [finding.message for finding in found]
    finding = found[0]
    assert (finding.module, finding.op) == (row.module, row.op), finding.message
    assert (dict(finding.got), dict(finding.want)) == (dict(row.got), dict(row.want)), finding.message
    assert row.code in finding.code
    assert row.says in finding.message
    if row.kind != "dtype":
        assert all(str(number) in finding.message for number in (*row.got.values(), *row.want.values()) if number > 1), finding.message


@pytest.mark.parametrize("name", ROWS)
def test_torchs_own_words_are_those_of_a_plain_call(name: str) -> None:
    """The model really fails, and with that text."""
    row = ROWS[name]
    error = eagers_error(row.model())
    assert error is not None
    if not row.own_words:
        assert independent(faulty(name))[0].torch_message.strip() == str(error).strip()


@pytest.mark.parametrize("name", ROWS)
def test_a_near_twin_runs_or_fails_in_another_way(name: str) -> None:
    """What only looks alike is let alone."""
    row = ROWS[name]
    assert (eagers_error(row.twin()) is None) == (not row.twin_kind)
    capture = captured(row.twin())
    assert [finding.kind for finding in independent(capture)] == ([row.twin_kind] if row.twin_kind else [])
    assert capture.completed == (not row.twin_kind)


@pytest.mark.parametrize("name", ROWS)
def test_each_is_told_in_lines_that_say_where_and_what(name: str) -> None:
    """The lines begin with WHERE and WHAT, and the place is the row's."""
    row = ROWS[name]
    lines = four_lines(independent(faulty(name))[0]).splitlines()
    assert [line[:5] for line in lines[:2]] == ["WHERE", "WHAT "]
    assert row.module in lines[0]
    assert row.says in lines[1]
