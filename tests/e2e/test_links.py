"""Selection and place live in the address: a link gives back what was seen, whoever opens it."""

import re
from urllib.parse import parse_qsl

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import DemoLink, OpenTab
from tests.tensorboard_process import TensorBoard

pytestmark = pytest.mark.e2e


def test_a_copied_link_gives_back_selection_and_place(open_tab: OpenTab, fast: TensorBoard) -> None:
    """Model, opened groups, selection and camera, in a browser that has never seen this TensorBoard."""
    tab = open_tab(fast)
    tab.choose("Model and run", "BERT")
    tab.expect_model("BERT")
    tab.click(tab.expect_thing("layer.2", kind="group").chevron)
    tab.click(tab.expect_thing("layer.3", kind="group").middle)
    expect(tab.inspected).to_have_text(re.compile(r"layer\.3"))
    tab.drag(-40, -70)
    seen = tab.things("layer.2", kind="open")
    tab.frame.get_by_role("button", name="Copy a link to this view (y)").click()
    expect(tab.frame.locator(".notice")).to_have_text("link copied")
    link = tab.frame.evaluate("navigator.clipboard.readText()")
    assert link == tab.page.url
    words = dict(parse_qsl(link.partition("#shapes")[2]))
    assert (words["p.shapes.run"], words["p.shapes.step"]) == ("transformer", "0")
    assert words["p.shapes.tag"].startswith("__shapes__/graph/BERT@") and words["p.shapes.sel"].startswith("call-")

    other = open_tab(fast, link.removeprefix(fast.url))
    other.expect_model("BERT")
    assert other.things("layer.2", kind="open") == seen
    expect(other.inspected).to_have_text(tab.inspected.inner_text())
    expect(other.active).to_have_attribute("aria-label", re.compile(r"^layer\.3, "))


def test_a_link_to_a_node_brings_it_into_sight(open_tab: OpenTab, fast: TensorBoard, demo_link: DemoLink) -> None:
    """A link that names an op deep inside closed groups opens them and goes there."""
    tab = open_tab(fast, demo_link("BERT", sel="op-200"))
    tab.expect_model("BERT")
    expect(tab.active).to_have_attribute("aria-label", re.compile("."))
    name = (tab.active.get_attribute("aria-label") or "").partition(",")[0]
    expect(tab.inspected).to_contain_text(name)
    assert [thing for thing in tab.things(name) if thing.name == name]


def test_the_address_is_heard_while_the_tab_is_open(open_tab: OpenTab, fast: TensorBoard, demo_link: DemoLink) -> None:
    """A link pasted over the address of an open tab goes to another model, and the browser's back comes back."""
    tab = open_tab(fast, demo_link("DigitNet"))
    tab.expect_model("DigitNet")
    tab.address()
    tab.page.evaluate("hash => { window.location.hash = hash; }", demo_link("street", sel="call-1"))
    tab.expect_model("street")
    expect(tab.inspected).to_have_text("stem")
    tab.page.go_back()
    tab.expect_model("DigitNet")


def test_nonsense_in_a_link_is_left_out(open_tab: OpenTab, fast: TensorBoard, demo_link: DemoLink) -> None:
    """The model opens all the same, and nothing is selected."""
    tab = open_tab(fast, demo_link("DigitNet", sel="op-999999", open="7.x.99999...", view="NaN_1_1e999", problem="77"))
    tab.expect_model("DigitNet")
    expect(tab.inspected).to_have_text("DigitNet")
    assert tab.things("conv1")


def test_a_link_to_a_model_that_is_gone_says_so(open_tab: OpenTab, served: TensorBoard) -> None:
    """Which model of which run, and the others can still be chosen."""
    tab = open_tab(served, "#shapes&p.shapes.run=gone&p.shapes.tag=__shapes__%2Fgraph%2FGone%40x&p.shapes.step=3", allowed="status of 404")
    alert = tab.frame.locator("main").get_by_role("alert")
    expect(alert).to_contain_text("There is no record")
    expect(alert).to_contain_text("gone")
    tab.choose("Model and run", "DigitNet")
    tab.expect_model("DigitNet")
