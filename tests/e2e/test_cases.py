"""A model with several inputs: what each of them ran is told by the picker, the graph, the table and the inspector."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import DemoLink, OpenTab
from tests.e2e.tab import Tab, Thing
from tests.e2e.test_accessibility import both_themes, violations
from tests.tensorboard_process import TensorBoard

pytestmark = pytest.mark.e2e

PICTURE, WORDS, BOTH = {"see", "relu"}, {"gt", "max", "embed"}, {"mix", "tanh", "head"}


@pytest.fixture
def paths(open_tab: OpenTab, fast: TensorBoard, demo_link: DemoLink) -> Tab:
    """The tab with the model of two ways in."""
    tab = open_tab(fast, demo_link("TwoPaths"))
    tab.expect_model("TwoPaths")
    return tab


def marks(tab: Tab) -> dict[str, str]:
    """The letters of the cases that each node bears."""
    tab.things("mix")
    things = tab.frame.locator(".graph-things li").evaluate_all("all => all.map(one => [one.textContent, one.dataset.cases])")
    return dict(things)


def not_run(tab: Tab) -> set[str]:
    """The nodes that didn't run in the case that is picked."""
    return {thing.name for thing in tab.things("mix") if thing.state == "not run"}


def ink(tab: Tab, thing: Thing) -> float:
    """How far a node's darkest pixel is from its ground."""
    pixels = tab.picture().part(thing.x + 8, thing.y + 3, thing.width / 2, thing.height - 6).pixels.astype(int).sum(axis=-1)
    return float(pixels.max() - pixels.min())


def row(tab: Tab, name: str) -> str:
    """A row of the table as it is read."""
    found = tab.layers.get_by_role("row").filter(has=tab.frame.get_by_text(name, exact=True))
    return re.sub(r"\s+", " ", found.inner_text())


def test_all_cases_together_tell_whose_each_node_is(paths: Tab) -> None:
    """Nodes that one case ran alone bear its letter, in the outline and the table, too; what both ran bears none."""
    expect(paths.picker("Case")).to_contain_text("All cases")
    letters = marks(paths)
    assert {letters[name] for name in PICTURE | {"image"}} == {"A"}
    assert {letters[name] for name in WORDS | {"tokens"}} == {"B"}
    assert {letters[name] for name in BOTH} == {""}
    assert not_run(paths) == set()
    legend = paths.frame.locator(".graph-legend")
    expect(legend).to_contain_text("only in picture")
    expect(legend).to_contain_text("value read")
    expect(paths.outline.get_by_role("treeitem").filter(has_text="see")).to_contain_text("only in picture")
    assert "2…4×16" in row(paths, "head") and "2…4×5" in row(paths, "head")


def test_one_case_is_picked_from_the_list(paths: Tab) -> None:
    """What it didn't run is painted paler and says so; shapes become its own; the address holds it; all come back."""
    see = paths.expect_thing("see")
    whole = ink(paths, see)
    paths.picker("Case").click()
    options = paths.frame.get_by_role("option")
    expect(options).to_have_text([re.compile("^All cases"), re.compile(r"picture\s*\d+ ops"), re.compile(r"words\s*\d+ ops")])
    paths.page.keyboard.press("End")
    paths.page.keyboard.press("Enter")
    expect(paths.picker("Case")).to_contain_text("words")
    expect(paths.picker("Case")).to_be_focused()
    assert PICTURE | {"image"} <= not_run(paths)
    assert not_run(paths).isdisjoint(WORDS | BOTH)
    assert ink(paths, paths.expect_thing("see")) < 0.7 * whole
    assert row(paths, "see").count("not run in words") == 2
    assert "4×16" in row(paths, "head") and "…" not in row(paths, "head")
    expect(paths.outline.get_by_role("treeitem").filter(has_text="see")).to_contain_text("not run in words")
    expect(paths.frame.get_by_text("no problems in words")).to_be_visible()
    paths.page.wait_for_url(re.compile(r"p\.shapes\.case=words"))
    paths.page.keyboard.press("c")
    expect(paths.picker("Case")).to_contain_text("All cases")
    assert not_run(paths) == set()


def test_a_key_goes_through_the_cases_and_a_link_keeps_one(paths: Tab, open_tab: OpenTab, fast: TensorBoard, demo_link: DemoLink) -> None:
    """c is the next one, said in words; a link opens where it was copied."""
    paths.canvas.press("c")
    expect(paths.frame.locator(".notice")).to_have_text("case picture")
    expect(paths.picker("Case")).to_contain_text("picture")
    assert not_run(paths) >= WORDS
    linked = open_tab(fast, demo_link("TwoPaths", case="picture"))
    linked.expect_model("TwoPaths")
    expect(linked.picker("Case")).to_contain_text("picture")
    assert not_run(linked) == not_run(paths)


def test_the_inspector_tells_what_never_ran_and_what_was_read(paths: Tab) -> None:
    """The branch that no case took with its lines, the statement that read a number, from the model to the op."""
    inspector = paths.frame.get_by_role("region", name="Inspector")
    never = inspector.locator("section").filter(has_text="Never ran: 1 branch")
    expect(never).to_contain_text("if self.debug:")
    expect(never).to_contain_text(re.compile(r"tests/e2e/runs\.py:\d+–\d+"))
    read = inspector.locator("section").filter(has_text="Value read")
    expect(read).to_contain_text("longest = int((tokens > 0).sum(1).max().item())")
    expect(read).to_contain_text("read 7 here")
    read.get_by_role("button", name="max", exact=True).click()
    expect(paths.inspected).to_have_text("max")
    expect(inspector).to_contain_text("only in")
    expect(inspector).to_contain_text("read 7 here")
    expect(paths.active).to_have_attribute("aria-label", re.compile("only in words, value read$"))


@both_themes
def test_axe_finds_nothing_in_cases(open_tab: OpenTab, fast: TensorBoard, demo_link: DemoLink, theme: str) -> None:
    """All cases, the list of them, and one alone."""
    tab = open_tab(fast, demo_link("TwoPaths"), theme=theme)
    tab.things("mix")
    found = {"all": violations(tab)}
    tab.picker("Case").click()
    expect(tab.frame.get_by_role("listbox")).to_be_visible()
    found["list"] = violations(tab)
    tab.page.keyboard.press("End")
    tab.page.keyboard.press("Enter")
    assert not_run(tab)
    found["one"] = violations(tab)
    assert found == {state: [] for state in found}
