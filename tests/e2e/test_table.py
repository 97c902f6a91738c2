"""The table of layers: in execution order, sorted by a press on a head, open and shut, in step with the rest."""

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.conftest import DemoLink, OpenTab
from tests.e2e.tab import Tab
from tests.tensorboard_process import TensorBoard

pytestmark = pytest.mark.e2e

EXECUTION = ["DigitNet", "conv1", "norm1", "pool", "conv2", "norm2", "pool", "fc1", "drop", "fc2"]
PARAMETERS = {"conv1": 160, "norm1": 32, "conv2": 4640, "norm2": 64, "fc1": 8256, "fc2": 650}


@pytest.fixture
def digits(open_tab: OpenTab, fast: TensorBoard, demo_link: DemoLink) -> Tab:
    """DigitNet."""
    tab = open_tab(fast, demo_link("DigitNet"))
    tab.expect_model("DigitNet")
    return tab


def names(table: Locator) -> list[str]:
    """Of the rows in their order, the head left out."""
    return table.locator(".table-row .layer-name b").all_inner_texts()


def head(table: Locator, title: str) -> Locator:
    """A column's head."""
    return table.get_by_role("columnheader", name=title, exact=True)


def test_the_table_sorts(open_tab: OpenTab, served: TensorBoard, demo_link: DemoLink) -> None:
    """By parameters downwards, then upwards, then as it ran; by name; the whole model stays on top."""
    table = open_tab(served, demo_link("DigitNet")).layers
    expect(table.locator(".table-row")).to_have_count(len(EXECUTION))
    assert names(table) == EXECUTION
    number = head(table, "Parameters").get_by_role("button")
    number.click()
    expect(head(table, "Parameters")).to_have_attribute("aria-sort", "descending")
    falling = names(table)
    assert falling[0] == "DigitNet"
    assert [name for name in falling if name in PARAMETERS] == sorted(PARAMETERS, key=PARAMETERS.__getitem__, reverse=True)
    number.click()
    expect(head(table, "Parameters")).to_have_attribute("aria-sort", "ascending")
    assert [name for name in names(table) if name in PARAMETERS] == sorted(PARAMETERS, key=PARAMETERS.__getitem__)
    number.click()
    expect(head(table, "Parameters")).to_have_attribute("aria-sort", "none")
    assert names(table) == EXECUTION
    head(table, "Layer").get_by_role("button").click()
    expect(head(table, "Layer")).to_have_attribute("aria-sort", "ascending")
    assert names(table) == ["DigitNet", *sorted(EXECUTION[1:])]


def test_the_table_tells_the_shapes_and_totals(digits: Tab) -> None:
    """Parameters of the whole are the sum of the layers', each counted once."""
    rows = digits.layers.locator(".table-row")
    cells = {row.locator("b").inner_text(): row.get_by_role("gridcell").all_inner_texts() for row in rows.all()}
    counted = {name: int(cells[name][4].replace(",", "")) for name in ("DigitNet", *PARAMETERS)}
    assert counted == {"DigitNet": sum(PARAMETERS.values()), **PARAMETERS}
    assert cells["conv1"][2:4] == ["32×1×8×8", "32×16×8×8"]
    assert cells["fc2"][2:4] == ["32×64", "32×10"]


def test_a_row_selects_everywhere(digits: Tab) -> None:
    """A press on a row brings its node into sight, also from far away."""
    digits.things("fc2")
    digits.drag(0, 400)
    digits.drag(0, 400)
    digits.drag(0, 400)
    digits.layers.get_by_role("row").filter(has_text="fc2").click()
    expect(digits.inspected).to_have_text("fc2")
    digits.expect_thing("fc2")
    expect(digits.outline.locator('[aria-selected="true"]')).to_contain_text("fc2")
