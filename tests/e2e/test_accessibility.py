"""axe-core finds nothing in any state of the tab, in both themes, and each window size keeps every part within reach."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import DemoLink, OpenTab
from tests.e2e.runs import ROOT
from tests.e2e.tab import Tab
from tests.tensorboard_process import TensorBoard, tensorboard

pytestmark = pytest.mark.e2e

AXE = ROOT / "node_modules/axe-core/axe.min.js"

both_themes = pytest.mark.parametrize("theme", ["light", "dark"])


def violations(tab: Tab) -> list[str]:
    """What axe complains of in the tab's document, a line an element."""
    if not tab.frame.evaluate("'axe' in window"):
        assert AXE.is_file(), "axe-core isn't installed. Install it first: npm ci."
        tab.frame.evaluate(AXE.read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = tab.frame.evaluate("axe.run(document).then(({ violations }) => violations)")
    return [f"{rule['id']}: {node['html'][:200]} {node['failureSummary']}" for rule in found for node in rule["nodes"]]


@both_themes
def test_axe_finds_nothing_where_a_model_is_shown(open_tab: OpenTab, fast: TensorBoard, demo_link: DemoLink, theme: str) -> None:
    """A broken model with its card, the list of models, the sheet of keys, a healthy model, a selected op, a damaged record."""
    tab = open_tab(fast, demo_link("GuessedNet"), theme=theme, allowed="status of 422")
    expect(tab.frame.locator("html")).to_have_attribute("data-theme", theme)
    tab.things("fc1")
    found = {"broken": violations(tab)}
    tab.picker("Model and run").click()
    expect(tab.frame.get_by_role("listbox")).to_be_visible()
    found["list"] = violations(tab)
    tab.page.keyboard.press("Escape")
    tab.page.keyboard.press("?")
    expect(tab.frame.get_by_role("dialog", name="Keys")).to_be_visible()
    found["keys"] = violations(tab)
    tab.page.keyboard.press("Escape")
    tab.choose("Model and run", "BERT")
    tab.expect_model("BERT")
    layer = tab.expect_thing("layer.0", kind="group")
    found["healthy"] = violations(tab)
    tab.click(layer.middle)
    expect(tab.inspected).to_have_text("layer.0")
    found["selected"] = violations(tab)
    tab.choose("Model and run", "Truncated")
    expect(tab.frame.locator("main").get_by_role("alert")).to_be_visible()
    found["damaged"] = violations(tab)
    assert found == {state: [] for state in found}


@both_themes
def test_axe_finds_nothing_whatever_the_problem_is(open_tab: OpenTab, fast: TensorBoard, demo_link: DemoLink, theme: str) -> None:
    """Many places, related ones, none in the model, warnings alone: all that is folded opened, the list of problems shown."""
    found = {}
    for name in ("Twelve", "Related", "Outside", "Warned"):
        tab = open_tab(fast, demo_link(name), theme=theme)
        tab.things()
        if name == "Warned":
            tab.canvas.press("n")
        expect(tab.card).to_be_visible()
        for folded in tab.card.locator("summary").all():
            folded.click()
        found[name] = violations(tab)
        if name == "Warned":
            tab.card.get_by_role("button", name=re.compile("^Problem: ")).click()
            expect(tab.frame.get_by_role("listbox")).to_be_visible()
            found["list"] = violations(tab)
    assert found == {state: [] for state in found}


def test_a_problem_of_many_words_keeps_within_any_window(open_tab: OpenTab, fast: TensorBoard, demo_link: DemoLink) -> None:
    """Sentence, path and card wrap or are cut at their start: nothing is wider than the window, and the sentence leaves room."""
    tab = open_tab(fast, demo_link("Outside"))
    for width_px, fits in ((1440, "all"), (1000, "tabs"), (760, "drawer"), (480, "one")):
        tab.page.set_viewport_size({"width": width_px, "height": 900})
        # The card moves to another place in the page: until then its buttons are about to go.
        expect(tab.frame.locator(".frame")).to_contain_class(f"fits-{fits}")
        expect(tab.card).to_be_visible()
        for part in (tab.banner, tab.card, *tab.banner.get_by_role("button").all(), *tab.card.get_by_role("button").all()):
            box = part.bounding_box()
            assert box is not None
            assert box["x"] >= 0 and box["x"] + box["width"] <= width_px
        box = tab.banner.bounding_box()
        assert box is not None and box["height"] < 200


def test_axe_finds_nothing_where_nothing_was_logged(built: None, open_tab: OpenTab, tmp_path: Path) -> None:
    """The empty state, in both themes."""
    with tensorboard(tmp_path, fast=True) as running:
        tab = open_tab(running)
        expect(tab.frame.get_by_text("no runs at all")).to_be_visible()
        for entry in ("Light", "Dark"):
            tab.choose_theme(entry)
            expect(tab.frame.locator("html")).to_have_attribute("data-theme", entry.lower())
            assert violations(tab) == []


def test_a_narrow_window_keeps_every_part_within_reach(open_tab: OpenTab, fast: TensorBoard, demo_link: DemoLink) -> None:
    """Parts become tabs or a drawer; graph, outline, table, inspector and the four lines can be opened, and axe agrees."""
    tab = open_tab(fast, demo_link("GuessedNet"))
    for width_px, fits in ((1000, "tabs"), (760, "drawer"), (480, "one")):
        tab.page.set_viewport_size({"width": width_px, "height": 900})
        expect(tab.frame.locator(".frame")).to_contain_class(f"fits-{fits}")
        expect(tab.banner).to_be_visible()
        expect(tab.card).to_be_visible()
        for name, part in (("Graph", tab.canvas), ("Outline", tab.outline), ("Layers", tab.layers), ("Inspector", tab.inspected)):
            if not part.is_visible():
                drawer = tab.frame.get_by_role("button", name="outline", exact=True)
                (drawer if name == "Outline" and fits == "drawer" else tab.frame.get_by_role("tab", name=name)).click()
            expect(part).to_be_visible()
        assert violations(tab) == []
