"""The graph under the mouse: groups open and close, nodes and edges are selected, one pans, zooms and fits."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import DemoLink, OpenTab
from tests.e2e.tab import Tab
from tests.e2e.test_opening import expect_painted
from tests.tensorboard_process import TensorBoard

pytestmark = pytest.mark.e2e


@pytest.fixture
def bert(open_tab: OpenTab, fast: TensorBoard, demo_link: DemoLink) -> Tab:
    """BERT with embeddings and encoder open and its layers closed."""
    tab = open_tab(fast, demo_link("BERT"))
    tab.expect_model("BERT")
    return tab


@pytest.fixture
def digits(open_tab: OpenTab, fast: TensorBoard, demo_link: DemoLink) -> Tab:
    """DigitNet, a chain."""
    tab = open_tab(fast, demo_link("DigitNet"))
    tab.expect_model("DigitNet")
    return tab


def test_a_group_opens_and_closes(bert: Tab) -> None:
    """By its chevron and by a double click; what is in it appears below its head, what stands after it moves down."""
    before = bert.things("layer.0", kind="group")
    layer = next(thing for thing in before if thing.name == "layer.0")
    bert.click(layer.chevron)
    after = bert.things("layer.0", kind="open")
    opened = next(thing for thing in after if thing.name == "layer.0")
    assert opened.height > 3 * layer.height
    assert abs(opened.y - layer.y) <= 2, "what was opened stays where the pointer is"
    inside = [thing for thing in after if thing.name in ("attention", "intermediate")]
    assert inside and all(opened.y < thing.y < opened.y + opened.height for thing in inside)
    expect_painted(bert, after)
    bert.click(opened.chevron)
    assert bert.things("layer.0", kind="group") == before
    bert.canvas.dblclick(position={"x": layer.middle[0], "y": layer.middle[1]})
    bert.expect_thing("layer.0", kind="open")


def test_a_node_is_selected_by_a_click(digits: Tab) -> None:
    """Inspector, outline, table, the graph's own words and the address tell the same; a click on the ground selects nothing."""
    conv2 = digits.expect_thing("conv2")
    plain = digits.picture()
    digits.click(conv2.middle)
    expect(digits.inspected).to_have_text("conv2")
    inspector = digits.frame.get_by_role("region", name="Inspector")
    for words in ("Conv2d", "f32[32,16,4,4]", "f32[32,16,3,3]", "f32[32,32,4,4]", "demo/digits.py", "4,640"):
        expect(inspector).to_contain_text(words)
    expect(digits.active).to_have_attribute("aria-label", re.compile("^conv2, Conv2d 16→32"))
    expect(digits.outline.locator('[aria-selected="true"]')).to_contain_text("conv2")
    expect(digits.layers.locator('[aria-selected="true"]')).to_contain_text("conv2")
    digits.page.wait_for_url(re.compile(r"p\.shapes\.sel=call-\d+"))
    marked = digits.picture()
    ring = (conv2.x - 4, conv2.y - 4, conv2.width + 8, conv2.height + 8)
    assert (marked.part(*ring).pixels != plain.part(*ring).pixels).any(), "the selection is painted"
    digits.click((20, 20))
    expect(digits.inspected).to_have_text("DigitNet")
    expect(digits.outline.locator('[aria-selected="true"]')).to_have_count(0)


def test_an_edge_is_selected_by_a_click(digits: Tab) -> None:
    """The inspector tells the tensor that flows along it, who made it and who uses it."""
    things = digits.things("conv1")
    conv1, norm1 = (next(thing for thing in things if thing.name == name) for name in ("conv1", "norm1"))
    digits.click((conv1.middle[0], (conv1.y + conv1.height + norm1.y) / 2))
    inspector = digits.frame.get_by_role("region", name="Inspector")
    expect(inspector).to_contain_text("f32[32,16,8,8]")
    for section, name in (("Made by", "conv2d"), ("Used by", "batch_norm")):
        expect(inspector.locator("section").filter(has_text=section)).to_contain_text(name)


def test_panning_zooming_and_fitting(digits: Tab) -> None:
    """A drag moves everything by as much, the wheel zooms about the pointer, fit gives the first view back."""
    first = digits.things("conv1")
    digits.drag(120, 60)
    digits.page.wait_for_url(re.compile(r"p\.shapes\.view="))
    panned = digits.expect_thing("conv1")
    start = next(thing for thing in first if thing.name == "conv1")
    assert (round(panned.x - start.x), round(panned.y - start.y)) == (120, 60)
    box = digits.canvas.bounding_box()
    assert box is not None
    digits.page.mouse.move(box["x"] + panned.middle[0], box["y"] + panned.middle[1])
    percent = digits.frame.locator(".graph-percent")
    before = percent.inner_text()
    digits.page.mouse.wheel(0, -300)
    expect(percent).not_to_have_text(before)
    zoomed = digits.expect_thing("conv1")
    assert zoomed.width > 1.3 * panned.width
    assert zoomed.middle == pytest.approx(panned.middle, abs=2)
    digits.frame.get_by_role("button", name="fit f").click()
    expect(percent).to_have_text(before)
    assert digits.things("conv1") == first
    for name, text in (("Zoom in (+)", r"^11\d %$|^10\d %$|^[1-9]\d\d %$"), ("Zoom out (−)", f"^{re.escape(before)}$")):
        digits.frame.get_by_role("button", name=name).click()
        expect(percent).to_have_text(re.compile(text))
    percent.click()
    expect(percent).to_have_text("100 %")


def test_labels_can_be_shown_on_all_edges(digits: Tab) -> None:
    """relu keeps the shape, so the edge after it bears a label only when all do."""
    button = digits.frame.get_by_role("button", name="labels l")
    expect(button).to_have_attribute("aria-pressed", "false")

    def right_of_the_line() -> float:
        things = digits.things("norm1")
        norm1, relu = things[[thing.name for thing in things].index("norm1") :][:2]
        assert relu.name == "relu"
        picture = digits.picture()
        below = norm1.y + norm1.height + 2
        return picture.part(norm1.middle[0] + 6, below, 90, relu.y - below - 2).drawn(picture.ground())

    assert right_of_the_line() == 0
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    assert right_of_the_line() > 0.02
