"""The table that says how numbers are written, shared with frontend/tests/base/format.test.ts."""

import json
from pathlib import Path

from tb_shapeplugin.base.units import bytes_text, compact_dtype, compact_type, count_text, item_bytes, shape_text, short_count

TABLE = json.loads((Path(__file__).parents[1] / "golden" / "units.json").read_text(encoding="utf-8"))


def test_numbers_are_written_as_the_shared_table_says() -> None:
    """The console and the tab write a number alike, because both are held to one table."""
    assert [[size, bytes_text(size)] for size, _ in TABLE["bytes"]] == TABLE["bytes"]
    assert [[count, count_text(count)] for count, _ in TABLE["counts"]] == TABLE["counts"]
    assert [[count, short_count(count)] for count, _ in TABLE["short_counts"]] == TABLE["short_counts"]
    assert [[shape, shape_text(shape)] for shape, _ in TABLE["shapes"]] == TABLE["shapes"]
    assert [[*given, compact_type(*given)] for *given, _ in TABLE["types"]] == TABLE["types"]
    assert [[dtype, compact_dtype(dtype), item_bytes(dtype)] for dtype, _, _ in TABLE["dtypes"]] == TABLE["dtypes"]
