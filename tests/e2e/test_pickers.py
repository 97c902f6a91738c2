"""Run, model and step are chosen from lists; what can't be read says so and leaves the others alone."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.broken import BROKEN_MODELS
from tests.e2e.conftest import OpenTab
from tests.e2e.runs import DEMO_MODELS
from tests.tensorboard_process import TensorBoard

pytestmark = pytest.mark.e2e

REFUSED = "status of 422"


def test_the_picker_lists_every_model_under_its_run(open_tab: OpenTab, fast: TensorBoard) -> None:
    """Runs in the order of their names, each model once, errors and unreadable ones marked; arrows and Enter choose."""
    tab = open_tab(fast)
    tab.picker("Model and run").click()
    runs = sorted({run for run, _ in DEMO_MODELS.values()} | {"cases", "damaged", "long", "steps", "wrong_width_twice", "wrong_zoo"})
    expect(tab.frame.locator(".menu-group")).to_have_text(runs)
    options = tab.frame.get_by_role("option")
    assert sorted(options.locator("b").all_inner_texts()) == sorted(
        [*DEMO_MODELS, *BROKEN_MODELS, "Headless", "Long", "Sound", "Stepped", "Truncated", "TwoFaults", "TwoPaths"]
    )
    expect(options.filter(has_text="GuessedNet")).to_contain_text("1 error")
    expect(options.filter(has_text="TwoFaults")).to_contain_text("2 errors")
    expect(options.filter(has_text="Headless")).to_contain_text("cannot be read")
    expect(options.filter(has_text="BERT")).to_contain_text("109,484,547 parameters")
    expect(options.filter(has_text="Stamps")).to_have_attribute("aria-selected", "true")  # the first that is broken
    expect(tab.frame.get_by_role("listbox")).to_be_focused()
    tab.page.keyboard.press("Home")
    for _ in range(1 + [re.sub(r"\s.*", "", text) for text in options.all_inner_texts()].index("DigitNet")):
        tab.page.keyboard.press("ArrowDown")
    tab.page.keyboard.press("ArrowUp")
    tab.page.keyboard.press("Enter")
    tab.expect_model("DigitNet")
    expect(tab.picker("Model and run")).to_be_focused()


def test_a_model_and_a_run_are_chosen_by_the_mouse(open_tab: OpenTab, served: TensorBoard) -> None:
    """Outline, graph, inspector and table change together, and nothing of the model before stays."""
    tab = open_tab(served)
    expect(tab.banner).to_be_visible()
    tab.choose("Model and run", "DigitNet")
    tab.expect_model("DigitNet")
    expect(tab.banner).to_have_count(0)
    expect(tab.card).to_have_count(0)
    expect(tab.frame.get_by_text("no problems")).to_be_visible()
    expect(tab.inspected).to_have_text("DigitNet")
    expect(tab.outline.get_by_role("treeitem").filter(has_text="fc2 Linear")).to_contain_text("650")
    expect(tab.layers.get_by_role("row").filter(has_text="norm1")).to_contain_text("32×16×8×8")
    assert "norm1" in {thing.name for thing in tab.things("norm1")}
    expect(tab.picker("Model and run")).to_contain_text("digits, step 0")


def test_a_step_is_chosen_where_there_are_several(open_tab: OpenTab, served: TensorBoard) -> None:
    """The newest is shown first; another step is another record."""
    tab = open_tab(served)
    expect(tab.frame.get_by_role("button", name=re.compile("^Step: "))).to_have_count(0)
    tab.choose("Model and run", "Stepped")
    expect(tab.picker("Step")).to_contain_text("step 100")
    first_layer = tab.layers.get_by_role("row").filter(has=tab.frame.get_by_text("0", exact=True)).filter(has_text="Linear")
    expect(first_layer).to_contain_text("16×8")
    tab.choose("Step", "step 0")
    expect(tab.picker("Step")).to_contain_text("step 0")
    expect(first_layer).to_contain_text("3×8")
    tab.page.wait_for_url(re.compile(r"p\.shapes\.step=0"))


def test_a_garbage_record_says_which_and_why_and_others_open(open_tab: OpenTab, served: TensorBoard) -> None:
    """The truncated one and the one without a header each tell run, model and reason; the sound one beside them opens."""
    tab = open_tab(served, allowed=REFUSED)
    tab.choose("Model and run", "Headless")
    alert = tab.frame.locator("main").get_by_role("alert")
    tab.choose("Model and run", "Truncated")
    expect(alert).to_contain_text("damaged, model Truncated, step 0")
    expect(alert).to_contain_text(re.compile(r"cut off after \d+ bytes"))
    expect(alert).to_contain_text(re.compile(r"The other \d+ models can be read"))
    with tab.page.expect_response(lambda response: "/data/plugin/shapes/models" in response.url):
        alert.get_by_role("button", name="try again").click()
    expect(alert).to_contain_text("damaged, model Truncated, step 0")
    tab.choose("Model and run", "Sound")
    tab.expect_model("Sound")
    expect(alert).to_have_count(0)
    tab.choose("Model and run", "BERT")
    tab.expect_model("BERT")
    assert tab.things("input_ids")
