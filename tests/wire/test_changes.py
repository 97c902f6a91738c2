"""Changes of a fix survive the way through JSON, brackets with slices included."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_shapeplugin.wire.changes import changes_from_json, changes_to_json

NUMBERS = st.integers(-99, 99) | st.none()
ENTRIES = NUMBERS | st.builds(slice, NUMBERS, NUMBERS, NUMBERS) | st.just(...)
VALUES = (
    NUMBERS | st.text(max_size=8) | st.booleans() | st.lists(st.integers(), max_size=4) | ENTRIES | st.lists(ENTRIES, max_size=4).map(tuple)
)


@given(st.lists(st.dictionaries(st.sampled_from(("call", "module", "argument", "value", "op")), VALUES, min_size=1), max_size=3))
def test_what_is_written_is_read(changes: list[dict[str, Any]]) -> None:
    """Value for value and type for type."""
    assert changes_from_json(changes_to_json(changes)) == tuple(changes)


def test_no_changes_are_no_text() -> None:
    """A suggestion has none."""
    assert (changes_to_json(()), changes_from_json("")) == ("", ())


@pytest.mark.parametrize("text", ['{"call": "view"}', "[1]", '"view"', '{"slice": [1, null, null]}'])
def test_what_is_no_list_of_changes_is_refused(text: str) -> None:
    """With what it is."""
    with pytest.raises(ValueError, match="the changes of a fix are"):
        changes_from_json(text)
