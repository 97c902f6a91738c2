"""The JSON beside a record: what it says, and what is refused."""

import json
from dataclasses import asdict, replace

import pytest

from tb_shapeplugin.base.errors import RecordError
from tb_shapeplugin.base.names import RECORD_DRAFT
from tb_shapeplugin.wire.header import Header, header_of
from tests.wire.records import small_record

HEADER = header_of(small_record(completed=False))


def test_it_counts_what_the_record_holds() -> None:
    """Errors and warnings by the findings' severity, the rest by the rows of the tables."""
    finding = small_record(completed=False).findings[0]
    warning = replace(finding, severity="warning")
    record = replace(small_record(), findings=(finding, warning, warning, replace(finding, severity="note")))
    assert header_of(record) == Header(RECORD_DRAFT, "Net", True, errors=1, warnings=2, modules=2, ops=1, params=18)


def test_it_comes_back_equal() -> None:
    """JSON holds all of it, an unknown count of parameters and a name that UTF-8 can't hold included."""
    unknown = header_of(replace(small_record("caf\udce9 </script>"), totals=replace(small_record().totals, params=None)))
    assert Header.from_json(unknown.to_json()) == unknown
    assert unknown.params is None
    assert "\udce9" not in unknown.name


def with_field(**changes: object) -> bytes:
    """The header's JSON with other values."""
    return json.dumps(asdict(HEADER) | changes).encode()


REFUSED = {
    b"": "no JSON object",
    b"\xff\xfe": "no JSON object",
    b"[" * 100_000: "no JSON object",
    b'"Net"': "no JSON object",
    b"{}": "draft = None",
    with_field(draft=RECORD_DRAFT + 1): f"a newer version (draft {RECORD_DRAFT + 1}",
    with_field(draft=RECORD_DRAFT - 1): "an older version",
    with_field(draft="1"): "draft = '1'",
    with_field(name=7): "name = 7",
    with_field(completed=1): "completed = 1",
    with_field(errors=True): "errors = True",
    with_field(ops=None): "ops = None",
    with_field(params=1.5): "params = 1.5",
    with_field(name=["x" * 1000]): "name = ['xxx",
}


@pytest.mark.parametrize("content", REFUSED, ids=[words[:30] for words in REFUSED.values()])
def test_garbage_is_named(content: bytes) -> None:
    """One sentence that says which field, short enough for a screen."""
    with pytest.raises(RecordError) as caught:
        Header.from_json(content)
    assert REFUSED[content] in str(caught.value)
    assert len(str(caught.value)) < 200


def test_fields_of_later_versions_are_passed_over() -> None:
    """Within one draft a header may say more."""
    assert Header.from_json(with_field(later=1)) == HEADER
