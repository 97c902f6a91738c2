"""The banner leads to what failed, the card tells why, and several problems are walked through."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import DemoLink, OpenTab
from tests.tensorboard_process import TensorBoard

pytestmark = pytest.mark.e2e


def test_the_banner_leads_to_the_failing_node(open_tab: OpenTab, served: TensorBoard) -> None:
    """From anywhere else: another model part selected, the graph moved away."""
    tab = open_tab(served)
    sentence = tab.banner.get_by_role("button", name="fc1: the last dim of its input is 400, in_features is 576")
    expect(sentence).to_be_visible()
    tab.click(tab.expect_thing("conv1").middle)
    expect(tab.inspected).to_have_text("conv1")
    box = tab.canvas.bounding_box()
    assert box is not None
    down = box["height"] - tab.expect_thing("fc1").y + 40
    tab.drag(0, down / 2)
    tab.drag(0, down / 2)
    assert all(thing.y > box["height"] for thing in tab.things("conv1") if thing.name == "fc1")
    sentence.click()
    failed = tab.expect_thing("fc1", state="failed")
    assert failed.x >= 0 and failed.y >= 0 and failed.y + failed.height <= box["height"]
    expect(tab.inspected).to_have_text("fc1")
    expect(tab.active).to_have_attribute("aria-label", re.compile("^fc1, .*failed"))
    for panel in (tab.outline, tab.layers):
        expect(panel.locator('[aria-selected="true"]')).to_contain_text("fc1")
    error = tab.frame.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--error')")
    red = tuple(int(error.strip()[at : at + 2], 16) for at in (1, 3, 5))
    assert tab.picture().part(failed.x - 4, failed.y - 4, failed.width + 8, failed.height + 8).has((red[0], red[1], red[2]))


def test_the_card_tells_the_four_lines(open_tab: OpenTab, fast: TensorBoard) -> None:
    """Where, what, from and what PyTorch says; FROM leads to the op that made the number; the banner's button copies them."""
    tab = open_tab(fast)
    for words in ("WHERE", "fc1 (Linear, demo/wrong_width.py:29, call 1)", "f32[4,400] · f32[576,120]", "400 = 16·5·5", "TRY"):
        expect(tab.card).to_contain_text(words)
    tab.card.get_by_text("PyTorch says").click()
    expect(tab.card.get_by_text("mat1 and mat2 shapes cannot be multiplied (4x400 and 576x120)")).to_be_visible()
    tab.banner.get_by_role("button", name="Copy problem").click()
    expect(tab.banner.locator(".icon-ok")).to_be_visible()
    copied = tab.frame.evaluate("navigator.clipboard.readText()")
    assert "in_features is 576" in copied and "400 = 16·5·5" in copied and "demo/wrong_width.py:29" in copied
    tab.card.get_by_role("button", name="flatten").click()
    expect(tab.active).to_have_attribute("aria-label", re.compile("^flatten"))
    tab.expect_thing("flatten", state="origin")


def test_two_problems_are_walked_through(open_tab: OpenTab, fast: TensorBoard, demo_link: DemoLink) -> None:
    """By the banner's buttons and by n and p, round past the ends; each time its node is selected."""
    tab = open_tab(fast, demo_link("TwoFaults"))
    expect(tab.banner).to_contain_text("problem 1 of 2")
    expect(tab.inspected).to_have_text("first")
    steps: tuple[tuple[Callable[[], None], int, str], ...] = (
        (lambda: tab.banner.get_by_role("button", name="Next problem (n)").click(), 2, "second"),
        (lambda: tab.page.keyboard.press("n"), 1, "first"),
        (lambda: tab.page.keyboard.press("p"), 2, "second"),
        (lambda: tab.banner.get_by_role("button", name="Previous problem (p)").click(), 1, "first"),
    )
    for go, index, name in steps:
        go()
        expect(tab.banner).to_contain_text(f"problem {index} of 2")
        expect(tab.banner.get_by_role("heading")).to_contain_text(re.compile(f"^{name}: "))
        expect(tab.inspected).to_have_text(name)
        tab.expect_thing(name, state="failed")
