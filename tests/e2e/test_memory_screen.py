"""The memory screen: peak, line, blocks and table agree with what Python tells; the cursor, the sliders and the selection lead."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from playwright.sync_api import Locator, expect
from torch import nn

import tb_shapeplugin as shapes
from tests.e2e.conftest import OpenTab
from tests.e2e.tab import Tab, link
from tests.e2e.test_accessibility import violations
from tests.tensorboard_process import TensorBoard, tensorboard

pytestmark = pytest.mark.e2e

BATCH, OTHER_BATCH = 32, 12
both_themes = pytest.mark.parametrize("theme", ["light", "dark"])


class Block(nn.Module):
    """x -> norm -> widen -> act -> narrow -> added to x."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.widen = nn.Linear(width, 4 * width)
        self.act = nn.GELU()
        self.narrow = nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        added: torch.Tensor = x + self.narrow(self.act(self.widen(self.norm(x))))
        return added


class Net(nn.Module):
    """stem -> four equal blocks -> head."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Linear(24, 64)
        self.blocks = nn.Sequential(*[Block(64) for _ in range(4)])
        self.head = nn.Linear(64, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        outcome: torch.Tensor = self.head(self.blocks(self.stem(x)).mean(1))
        return outcome


class Broken(nn.Module):
    """The second layer wants another width than the first gives."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(8, 6)
        self.second = nn.Linear(7, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        outcome: torch.Tensor = self.second(self.first(x))
        return outcome


def peak_bytes(batch: int) -> int:
    """The peak of a steady training step, as Python tells it."""
    net = Net()
    captured = shapes.capture(net, torch.zeros(batch, 16, 24), backward=True, optimizer=torch.optim.Adam(net.parameters()))
    peak = captured.record.totals.peak_bytes
    assert peak is not None
    return peak


def text_of(size: int) -> str:
    """Bytes as the screen writes those that decide."""
    return f"{size / 1024:.2f} KiB" if size < 999.5 * 1024 else f"{size / 1024**2:.2f} MiB"


@pytest.fixture(scope="module")
def trained(built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoard]:
    """A training step with what if, the same without, a forward alone, and a run that failed."""
    logdir = tmp_path_factory.mktemp("trained")
    images = torch.zeros(BATCH, 16, 24)
    net = Net()
    step: dict[str, Any] = {"backward": True, "optimizer": torch.optim.Adam(net.parameters())}
    with shapes.ShapeWriter(logdir) as writer:
        writer.add_shapes(net, images, name="Asked", what_if=True, **step)
        writer.add_shapes(net, images, name="Trained", **step)
        writer.add_shapes(net, images, name="Forward")
        writer.add_shapes(Broken(), torch.zeros(3, 8), name="Broken")
    with tensorboard(logdir, fast=True) as running:
        running.wait_for("/models", lambda found: len([model for run in found["runs"] for model in run["models"] if model["steps"]]) == 4)
        yield running


def link_to(trained: TensorBoard, name: str, **words: object) -> str:
    """The hash of a model's memory screen."""
    [tag] = [model["tag"] for run in trained.get("/models").json()["runs"] for model in run["models"] if model["name"] == name]
    return link(run=".", tag=tag, step=0, screen="memory", **words)


def open_memory(open_tab: OpenTab, trained: TensorBoard, name: str, *, theme: str = "light", **words: object) -> Tab:
    """The memory screen of a model."""
    tab = open_tab(trained, link_to(trained, name, **words), theme=theme)
    expect(tab.frame.locator(".memory")).to_be_visible()
    return tab


def cursor(tab: Tab) -> Locator:
    """The timeline's cursor."""
    return tab.frame.get_by_role("slider", name="Cursor")


def table(tab: Tab) -> Locator:
    """The rows of the table below its head."""
    return tab.frame.get_by_role("treegrid", name="Live at the cursor, by module").locator(".table-row")


def amounts(row: Locator) -> list[float]:
    """The numbers of a row, in the table's unit; a dash is 0, and what is given in bytes is next to nothing."""
    texts = row.get_by_role("gridcell").all_inner_texts()[1:]
    return [0.0 if text == "–" or text.endswith("B") else float(text.replace(",", "")) for text in (each.strip() for each in texts)]


def test_peak_parts_and_table_are_those_of_python(open_tab: OpenTab, trained: TensorBoard) -> None:
    """The number in the strip is Python's; its terms add up to it, and so do the columns and the rows of the table."""
    tab = open_memory(open_tab, trained, "Asked")
    peak = peak_bytes(BATCH)
    expect(tab.frame.locator(".peak-number")).to_have_text(f"{text_of(peak)} exact")
    expect(cursor(tab)).to_have_attribute("aria-valuetext", re.compile(rf", {re.escape(text_of(peak))} alive$"))
    *terms, together = [float(each.split()[0]) for each in tab.frame.locator(".part-figures dd").all_inner_texts()]
    assert round(sum(terms), 3) == together
    rows = table(tab)
    whole, *parts = amounts(rows.first)
    assert abs(whole * 1024 - peak) < 1024 and abs(sum(parts) - whole) < 0.5
    expect(rows.nth(1)).to_contain_text("blocks×4")
    expect(tab.frame.locator(".treemap-head").first).to_contain_text("blocks ×4")


def test_the_cursor_leads_treemap_and_table(open_tab: OpenTab, trained: TensorBoard) -> None:
    """Keys, a click and a drag move it; what is alive there follows, and a button leads back to the peak."""
    tab = open_memory(open_tab, trained, "Trained")
    at_peak = cursor(tab).get_attribute("aria-valuenow")
    cursor(tab).press("Home")
    expect(cursor(tab)).to_have_attribute("aria-valuenow", "0")
    expect(tab.frame.get_by_text("Live at the cursor, op 0", exact=True)).to_be_visible()
    whole, activations, *_ = amounts(table(tab).first)
    assert activations == 0 and re.search(rf"{whole / 1024:.2f} MiB alive|{whole:,.0f}", cursor(tab).get_attribute("aria-valuetext") or "")
    cursor(tab).press("ArrowRight")
    expect(cursor(tab)).to_have_attribute("aria-valuenow", "1")
    box = cursor(tab).bounding_box()
    assert box is not None
    tab.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tab.page.mouse.down()
    tab.page.mouse.move(box["x"] + box["width"] * 0.75, box["y"] + 20, steps=4)
    tab.page.mouse.up()
    last = int(cursor(tab).get_attribute("aria-valuemax") or 0)
    assert abs(int(cursor(tab).get_attribute("aria-valuenow") or 0) - 0.75 * last) < 0.02 * last + 2
    tab.frame.get_by_role("button", name="to the peak").click()
    expect(cursor(tab)).to_have_attribute("aria-valuenow", at_peak or "")


def test_another_batch_takes_what_python_says_it_takes(open_tab: OpenTab, trained: TensorBoard) -> None:
    """The peak at a batch that was never run is that of a capture with it; the link keeps it; "as logged" goes back."""
    tab = open_memory(open_tab, trained, "Asked")
    field = tab.frame.get_by_label("batch", exact=True)
    field.fill(str(OTHER_BATCH))
    field.press("Enter")
    outcome = tab.frame.locator(".what-if-outcome")
    expect(outcome.locator(".asked-number")).to_have_text(text_of(peak_bytes(OTHER_BATCH)))
    expect(outcome).to_contain_text(f"what if batch {OTHER_BATCH}")
    expect(tab.frame.get_by_role("slider", name="what if batch")).to_have_attribute("aria-valuetext", f"batch {OTHER_BATCH}")
    tab.page.wait_for_url(re.compile(rf"p\.shapes\.sizes={OTHER_BATCH}"))
    outcome.get_by_role("button", name="as logged").click()
    expect(outcome.locator(".asked-number")).to_have_text(text_of(peak_bytes(BATCH)))


def test_the_device_is_chosen_and_remembered(open_tab: OpenTab, trained: TensorBoard) -> None:
    """A device that is too small turns the peak red, with a mark and words; the next visit still knows it."""
    tab = open_memory(open_tab, trained, "Trained")
    own = tab.frame.get_by_label("Memory of the device, GiB")
    own.fill("0.002")
    own.press("Enter")
    over = tab.frame.locator(".peak-figure .verdict")
    expect(over).to_have_text(re.compile(r"MiB over|KiB over"))
    expect(tab.frame.locator(".peak-number")).to_contain_class("tone-error")
    tab.page.goto("about:blank")
    tab.page.goto(f"{trained.url}{link_to(trained, 'Trained')}")
    tab.wait_until_open()
    expect(tab.frame.locator(".device-choice input")).to_have_value("0.002")


def test_selection_is_one_on_graph_and_memory(open_tab: OpenTab, trained: TensorBoard) -> None:
    """What is chosen in the table or the treemap is selected and in sight on the graph; what is chosen there is marked here."""
    tab = open_memory(open_tab, trained, "Trained")
    table(tab).filter(has_text="stem").first.click()
    expect(tab.frame.locator(".selected-lives")).to_have_text(re.compile(r"^stem alive from op \d+ to \d+$"))
    tab.frame.get_by_role("radio", name="Graph").click()
    expect(tab.inspected).to_have_text("stem")
    expect(tab.active).to_have_attribute("aria-label", re.compile("^stem"))
    tab.click(tab.expect_thing("head").middle)
    expect(tab.inspected).to_have_text("head")
    tab.page.keyboard.press("m")
    expect(table(tab).and_(tab.frame.locator("[aria-selected=true]"))).to_contain_text("head")
    cell = tab.frame.locator(".treemap-cell").filter(has_text="act").first
    cell.click()
    expect(cell).to_have_attribute("aria-pressed", "true")
    cell.press("ArrowRight")
    expect(tab.frame.locator(".treemap-cell:focus")).to_have_count(1)


def test_a_record_without_it_says_why(open_tab: OpenTab, trained: TensorBoard) -> None:
    """A failed run leads to its problem; a forward alone has its own peak; without what if a sentence says how to get it."""
    tab = open_memory(open_tab, trained, "Broken")
    expect(tab.frame.locator(".no-memory")).to_contain_text("The run did not complete")
    expect(tab.banner).to_be_visible()
    tab.frame.get_by_role("button", name="show the problem").click()
    tab.expect_thing("second")
    forward = open_memory(open_tab, trained, "Forward")
    expect(forward.frame.locator(".peak-figure")).to_contain_text("peak of the forward")
    expect(forward.frame.locator(".what-if")).to_contain_text("what_if=True")


def test_the_graph_is_filled_by_a_magnitude(open_tab: OpenTab, trained: TensorBoard) -> None:
    """The choice stands in the graph's corner; the legend tells the numbers of its steps."""
    tab = open_memory(open_tab, trained, "Trained")
    tab.frame.get_by_role("radio", name="Graph").click()
    tab.things("stem")
    before = tab.picture()
    tab.choose("Fill", "saved bytes")
    legend = tab.frame.get_by_role("list", name="saved bytes")
    expect(legend.get_by_role("listitem").filter(has_text="≤").first).to_be_visible()
    tab.things("stem")
    assert (tab.picture().pixels != before.pixels).any()


@both_themes
def test_axe_finds_nothing_on_the_memory_screen(open_tab: OpenTab, trained: TensorBoard, theme: str) -> None:
    """In both themes, in windows of every kind, with everything that can be asked for, and where there is nothing."""
    found = {}
    tab = open_memory(open_tab, trained, "Asked", theme=theme, sizes=OTHER_BATCH, limit=0.002)
    for width_px in (1440, 1000, 760, 480):
        tab.page.set_viewport_size({"width": width_px, "height": 900})
        expect(tab.frame.locator(f".memory-{'wide' if width_px >= 900 else 'column' if width_px >= 640 else 'one'}")).to_be_visible()
        found[str(width_px)] = violations(tab)
        assert tab.frame.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for name in ("At the cursor", "Layers"):
        tab.frame.get_by_role("tab", name=name).click()
        found[name] = violations(tab)
    found["broken"] = violations(open_memory(open_tab, trained, "Broken", theme=theme))
    assert found == {state: [] for state in found}
