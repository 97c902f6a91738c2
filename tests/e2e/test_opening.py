"""The tab opens inside TensorBoard, by both loaders, in both themes, and every demo is drawn."""

import re

import pytest
from playwright.sync_api import Request, expect

from tests.e2e.conftest import DemoLink, OpenTab
from tests.e2e.runs import DEMO_MODELS
from tests.e2e.tab import Tab, Thing
from tests.tensorboard_process import TensorBoard

pytestmark = pytest.mark.e2e

both_themes = pytest.mark.parametrize("theme", ["light", "dark"])


def brightness(tab: Tab) -> float:
    """Of the ground that the graph is painted on, 0 to 255."""
    return sum(tab.picture().ground()) / 3


def expect_painted(tab: Tab, things: list[Thing]) -> None:
    """Where the graph says that something stands, something is painted, and nodes stand apart from one another."""
    picture = tab.picture()
    ground = picture.ground()
    seen = [thing for thing in things if picture.holds(*thing.middle)]  # of one at the edge its margin alone may be in sight
    blank = [thing for thing in seen if picture.part(thing.x, thing.y, thing.width, thing.height).drawn(ground) == 0]
    assert seen and not blank
    nodes = [thing for thing in things if thing.kind != "open"]
    assert not [(a.name, b.name) for i, a in enumerate(nodes) for b in nodes[:i] if a.overlaps(b)]


@both_themes
def test_the_tab_opens_from_tensorboards_own_page(open_tab: OpenTab, served: TensorBoard, theme: str) -> None:
    """A click on SHAPES shows the first broken model, drawn in TensorBoard's theme; so is another one that is picked."""
    tab = open_tab(served, "", theme=theme)
    tab.page.get_by_role("tab", name="Shapes").click()
    tab.wait_until_open()
    tab.expect_model("Stamps")
    tab.expect_thing("criterion", state="failed")
    expect(tab.frame.locator("html")).to_have_attribute("data-theme", theme)
    tab.choose("Model and run", "GuessedNet")
    tab.expect_model("GuessedNet")
    things = tab.things("fc1", state="failed")
    assert [thing.name for thing in things if thing.kind == "op"] == [
        *("conv1", "relu", "pool", "conv2", "relu", "pool, call 2", "flatten", "fc1", "relu", "fc2", "relu", "fc3")
    ]
    expect_painted(tab, things)
    assert (brightness(tab) > 200) == (theme == "light")


def expect_drawn(tab: Tab, model: str) -> None:
    """A demo's nodes are painted, and lines between them."""
    tab.expect_model(model)
    _, first = DEMO_MODELS[model]
    things = tab.things(first)
    expect_painted(tab, things)
    # A line leaves the lower edge of the first node or enters its upper one.
    node = next(thing for thing in things if thing.name == first)
    picture = tab.picture()
    around = [picture.part(node.middle[0] - 3, y, 6, 3) for y in (node.y - 4, node.y + node.height + 2)]
    assert any(part.drawn(picture.ground()) > 0 for part in around)


@pytest.mark.parametrize("model", DEMO_MODELS)
def test_every_demo_is_drawn(open_tab: OpenTab, fast: TensorBoard, demo_link: DemoLink, model: str) -> None:
    """Opened by a link, its graph is there from its first node on."""
    tab = open_tab(fast, demo_link(model))
    expect_drawn(tab, model)


def test_every_demo_is_drawn_after_the_other(open_tab: OpenTab, python: TensorBoard) -> None:
    """Opened by the picker, all in one tab, by the other loader."""
    tab = open_tab(python)
    for model in DEMO_MODELS:
        tab.choose("Model and run", model)
        expect_drawn(tab, model)


def test_the_whole_of_many_inputs_fits_legibly(open_tab: OpenTab, fast: TensorBoard, demo_link: DemoLink) -> None:
    """Three inputs, a skip, two outputs and a head that was never called stand near one another, not a screen apart."""
    tab = open_tab(fast, demo_link("microscope"))
    tab.expect_model("microscope")
    tab.frame.get_by_role("button", name="fit f").click()
    things = tab.things("heads.1", kind="ghost")
    assert {"image", "mask", "kind", "stem", "down", "up", "cat", "merge", "pixels", "heads.0"} <= {thing.name for thing in things}
    zoom = int(tab.frame.locator(".graph-percent").inner_text().split()[0])
    assert zoom >= 50, f"fitted at {zoom} %: {[(thing.name, thing.x, thing.y) for thing in things]}"


def test_the_theme_follows_tensorboards_menu(open_tab: OpenTab, fast: TensorBoard, demo_link: DemoLink) -> None:
    """Switched in TensorBoard's header, the tab changes with it, canvas included, and back."""
    tab = open_tab(fast, demo_link("GuessedNet"))
    tab.things("fc1")
    light = brightness(tab)
    for entry, theme in (("Dark", "dark"), ("Light", "light")):
        tab.choose_theme(entry)
        expect(tab.frame.locator("html")).to_have_attribute("data-theme", theme)
        tab.things("fc1")
        assert brightness(tab) == light if theme == "light" else brightness(tab) < light / 2


def test_scalars_of_the_same_writer_stay_where_they_are(open_tab: OpenTab, fast: TensorBoard, demo_link: DemoLink) -> None:
    """The digits demo's loss is in Scalars, beside the model in Shapes, and coming back finds the graph as it was left."""
    tab = open_tab(fast, demo_link("DigitNet"))
    before = tab.things("conv1")
    tab.page.get_by_role("tab", name="Scalars").click()
    expect(tab.page.locator("tf-scalar-dashboard")).to_contain_text(re.compile("loss"))
    tab.page.get_by_role("tab", name="Shapes").click()
    expect(tab.canvas).to_be_visible()
    assert tab.things("conv1") == before
    expect_painted(tab, before)


def test_behind_a_prefix_everything_is_asked_for_below_it(open_tab: OpenTab, prefixed: TensorBoard) -> None:
    """Bundle, style sheet, layout worker, list and record, all relative to where TensorBoard stands."""
    tab = open_tab(prefixed, "")
    asked: list[str] = []

    def hear(request: Request) -> None:
        if not request.is_navigation_request() and request.frame != tab.page.main_frame:
            asked.append(request.url)

    tab.page.on("request", hear)
    tab.page.get_by_role("tab", name="Shapes").click()
    tab.wait_until_open()
    expect_painted(tab, tab.things("criterion"))
    assert [url for url in asked if not url.startswith(f"{prefixed.url}data/plugin/shapes/")] == []
    tab.choose("Model and run", "Long")
    tab.expect_model("Long")
    expect_painted(tab, tab.things("relu"))
    workers = [worker.url for worker in tab.page.workers if "layout_worker" in worker.url]
    assert workers == [f"{prefixed.url}data/plugin/shapes/static/layout_worker.js"]
    parts = {url.partition("?")[0].rpartition("data/plugin/shapes/")[2] for url in asked}
    assert parts == {"index.js", "static/style.css", "static/layout_worker.js", "models", "record"}
