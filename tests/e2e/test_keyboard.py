"""Everything without a mouse: from TensorBoard's page by Tab into the outline, along it, and all the keys of the sheet."""

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.conftest import DemoLink, OpenTab
from tests.e2e.tab import Tab
from tests.tensorboard_process import TensorBoard

pytestmark = pytest.mark.e2e

MOST_TABS = 40


def tab_to(tab: Tab, target: Locator) -> None:
    """Presses Tab until the focus is there."""
    for _ in range(MOST_TABS):
        tab.page.keyboard.press("Tab")
        if target.evaluate("element => element === document.activeElement && document.hasFocus()"):
            return
    raise AssertionError(f"{MOST_TABS} times Tab never reached {target}.")


def press(tab: Tab, *keys: str) -> None:
    """One key after the other."""
    for key in keys:
        tab.page.keyboard.press(key)


def chosen(panel: Locator) -> Locator:
    """The row that is selected."""
    return panel.locator('[aria-selected="true"]')


def test_the_outline_is_walked_with_arrows(open_tab: OpenTab, fast: TensorBoard, demo_link: DemoLink) -> None:
    """Down, right to open, left to close and to go out, End and Home; graph and inspector follow, and readers are told which row."""
    tab = open_tab(fast, demo_link("BERT"))
    tab.expect_model("BERT")
    tab.things("input_ids")
    tab_to(tab, tab.outline)
    row = chosen(tab.outline)
    press(tab, "ArrowDown", "ArrowDown")
    expect(row).to_contain_text("bert BertModel")
    expect(row).to_have_attribute("aria-expanded", "false")
    press(tab, "ArrowRight")
    expect(row).to_have_attribute("aria-expanded", "true")
    press(tab, "ArrowRight")
    expect(row).to_contain_text("embeddings")
    expect(row).to_have_attribute("aria-level", "3")
    expect(tab.inspected).to_have_text("embeddings")
    expect(tab.active).to_have_attribute("aria-label", re.compile("^embeddings, "))
    expect(tab.outline).to_have_attribute("aria-activedescendant", row.get_attribute("id") or "none")
    press(tab, "ArrowLeft")
    expect(row).to_contain_text("bert BertModel")
    press(tab, "Enter")
    expect(row).to_have_attribute("aria-expanded", "false")
    press(tab, "End")
    expect(row).to_contain_text("classifier Linear")
    tab.expect_thing("classifier")
    press(tab, "Home")
    expect(row).to_have_attribute("aria-level", "1")
    expect(tab.outline).to_be_focused()


def test_the_graph_is_walked_along_the_data(open_tab: OpenTab, fast: TensorBoard, demo_link: DemoLink) -> None:
    """Arrows go from node to node, Enter opens and closes a group, + and − zoom."""
    tab = open_tab(fast, demo_link("BERT"))
    tab.expect_model("BERT")
    tab.things("input_ids")
    tab_to(tab, tab.canvas)
    labels = []
    for _ in range(4):
        before = tab.active.get_attribute("aria-label") or "" if tab.active.count() else ""  # nothing is selected at first
        press(tab, "ArrowDown")
        expect(tab.active).not_to_have_attribute("aria-label", before)
        labels.append(tab.active.get_attribute("aria-label"))
    assert len(set(labels)) == len(labels)
    tab.outline.get_by_role("treeitem").filter(has_text="pooler").click()
    expect(tab.active).to_have_attribute("aria-label", re.compile("^pooler, .*open group"))
    tab.canvas.focus()
    press(tab, "Enter")
    expect(tab.active).to_have_attribute("aria-label", re.compile("^pooler, .*closed group"))
    press(tab, "Enter")
    expect(tab.active).to_have_attribute("aria-label", re.compile("^pooler, .*open group"))
    percent = tab.frame.locator(".graph-percent")
    before = percent.inner_text()
    press(tab, "+")
    expect(percent).not_to_have_text(before)
    press(tab, "-")
    expect(percent).to_have_text(before)


def test_the_keys_of_the_sheet(open_tab: OpenTab, fast: TensorBoard, demo_link: DemoLink) -> None:
    """? shows them, Esc goes back one step at a time, n brings the problem, f fits, l labels, y copies."""
    tab = open_tab(fast, demo_link("GuessedNet"))
    fitted = tab.things("fc1")
    tab_to(tab, tab.outline)
    press(tab, "?")
    sheet = tab.frame.get_by_role("dialog", name="Keys")
    expect(sheet).to_be_focused()
    assert sheet.locator("kbd").all_inner_texts() == ["n", "p", "m", "f", "l", "c", "y", "?", "Esc", "← ↑ → ↓", "Enter"]
    press(tab, "Escape")
    expect(sheet).to_have_count(0)
    expect(tab.outline).to_be_focused()
    expect(tab.inspected).to_have_text("fc1")
    press(tab, "Escape")
    expect(tab.inspected).to_have_text("GuessedNet")
    expect(tab.card).to_be_visible()
    press(tab, "Escape")
    expect(tab.card).to_have_count(0)
    press(tab, "n")
    expect(tab.card).to_be_visible()
    expect(tab.inspected).to_have_text("fc1")
    labels = tab.frame.get_by_role("button", name="labels l")
    for pressed in ("true", "false"):
        press(tab, "l")
        expect(labels).to_have_attribute("aria-pressed", pressed)
    percent = tab.frame.locator(".graph-percent")
    whole = percent.inner_text()
    tab.canvas.focus()
    press(tab, "+", "+")
    expect(percent).not_to_have_text(whole)
    press(tab, "f")
    expect(percent).to_have_text(whole)
    assert tab.things("fc1") == fitted
    press(tab, "y")
    expect(tab.frame.locator(".notice")).to_have_text("link copied")


def test_the_table_is_walked_with_arrows(open_tab: OpenTab, fast: TensorBoard, demo_link: DemoLink) -> None:
    """The same keys as in the outline; a head sorts with Enter."""
    tab = open_tab(fast, demo_link("DigitNet"))
    tab.expect_model("DigitNet")
    tab_to(tab, tab.layers)
    press(tab, "ArrowDown", "ArrowDown", "ArrowDown")
    expect(chosen(tab.layers)).to_contain_text("norm1")
    expect(tab.inspected).to_have_text("norm1")
    tab_to(tab, tab.layers.get_by_role("button", name="Output bytes"))
    press(tab, "Enter")
    expect(tab.layers.get_by_role("columnheader", name="Output bytes")).to_have_attribute("aria-sort", "descending")
