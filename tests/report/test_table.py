"""Cells to lines: alignment, width, what is cut and what is dropped."""

from hypothesis import given
from hypothesis import strategies as st

from tb_shapeplugin.report.table import TableColumn, cut, cut_tail, table, text_width

NAMES = TableColumn("Layer", ("Net", "├─ features.conv", "└─ 分类器"), worth=10, tail=True)
TYPES = TableColumn("Type", ("Net", "Conv2dNormActivation", "Linear"), worth=5)
NUMBERS = TableColumn("Params", ("1,234,567", "0", "850"), worth=8, right=True)


def test_names_stand_left_and_numbers_right_under_their_heads() -> None:
    """A Chinese character takes two columns of a terminal."""
    assert table([NAMES, TYPES, NUMBERS], 80) == [
        "Layer             Type                     Params",
        "─────────────────────────────────────────────────",
        "Net               Net                   1,234,567",
        "├─ features.conv  Conv2dNormActivation          0",
        "└─ 分类器         Linear                      850",
    ]


def test_the_widest_text_is_cut_first_and_no_number() -> None:
    """Three characters too wide: the type's name gives them, the tree's names stay."""
    lines = table([NAMES, TYPES, NUMBERS], 46)
    assert lines[3] == "├─ features.conv  Conv2dNormActiva…          0"
    assert lines[2].endswith("1,234,567")


def test_where_cutting_is_not_enough_the_least_worthy_column_goes() -> None:
    """The first column always stays."""
    lines = table([NAMES, TYPES, NUMBERS], 28)
    assert lines[0].split() == ["Layer", "Params"]
    assert table([NAMES, TYPES, NUMBERS], 14)[0].split() == ["Layer"]


@given(st.integers(1, 120), st.lists(st.tuples(st.text("abc.层├─ ", max_size=40), st.text("abcXYZ", max_size=30), st.integers(0, 10**12))))
def test_no_line_is_wider_than_asked_and_none_is_lost(width: int, rows: list[tuple[str, str, int]]) -> None:
    """Whatever the cells."""
    columns = [
        TableColumn("Layer", tuple(row[0] for row in rows), 10, tail=True),
        TableColumn("Type", tuple(row[1] for row in rows), 5),
        TableColumn("Params", tuple(f"{row[2]:,}" for row in rows), 8, right=True),
    ]
    lines = table(columns, width)
    assert len(lines) == len(rows) + 2
    assert all(text_width(line) <= width for line in lines)


@given(st.text("ab层é├ ", max_size=30), st.integers(1, 30))
def test_a_cut_text_fits_and_one_that_fits_is_left(text: str, width: int) -> None:
    """Either end."""
    for shorten in (cut, cut_tail):
        short = shorten(text, width)
        assert text_width(short) <= width
        assert (short == text) == (text_width(text) <= width)


def test_a_cut_name_keeps_its_lines_of_the_tree_and_its_end() -> None:
    """The end of a dotted name tells more than its beginning."""
    assert cut_tail("│  └─ features.denseblock4", 18) == "│  └─ …denseblock4"
    assert cut("Conv2dNormActivation", 8) == "Conv2dN…"
