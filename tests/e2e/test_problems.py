"""The banner leads to what failed, the card tells why, and several problems are walked through."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.e2e.broken import BLOCKS
from tests.e2e.conftest import DemoLink, OpenTab
from tests.e2e.tab import Tab
from tests.tensorboard_process import TensorBoard

pytestmark = pytest.mark.e2e


def clipboard(tab: Tab) -> str:
    """What was copied last."""
    copied: str = tab.frame.evaluate("navigator.clipboard.readText()")
    return copied


def copy_from(tab: Tab, name: str) -> str:
    """Presses one of the card's copy buttons; what it copied, once it said so."""
    button = tab.card.get_by_role("button", name=name, exact=True)
    button.click()
    expect(button.locator(".icon-ok")).to_be_visible()
    return clipboard(tab)


def test_the_banner_leads_to_the_failing_node(open_tab: OpenTab, served: TensorBoard, demo_link: DemoLink) -> None:
    """From anywhere else: another model part selected, the graph moved away."""
    tab = open_tab(served, demo_link("GuessedNet"))
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


def test_the_card_tells_the_four_lines(open_tab: OpenTab, fast: TensorBoard, demo_link: DemoLink) -> None:
    """Where, what, from and what PyTorch says; FROM leads to the op that made the number; the banner's button copies them."""
    tab = open_tab(fast, demo_link("GuessedNet"))
    for words in ("WHERE", "fc1 (Linear, demo/wrong_width.py:29, call 1)", "f32[4,400] · f32[576,120]", "400 = 16·5·5", "TRY"):
        expect(tab.card).to_contain_text(words)
    tab.card.get_by_text("PyTorch says").click()
    expect(tab.card.get_by_text("mat1 and mat2 shapes cannot be multiplied (4x400 and 576x120)")).to_be_visible()
    tab.banner.get_by_role("button", name="Copy problem").click()
    expect(tab.banner.locator(".icon-ok")).to_be_visible()
    copied = clipboard(tab)
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


def test_each_fix_and_the_origin_are_copied_on_their_own(open_tab: OpenTab, fast: TensorBoard, demo_link: DemoLink) -> None:
    """A fix as the code to write, without what it costs; FROM as its line; the error in PyTorch's own words."""
    tab = open_tab(fast, demo_link("GuessedNet"))
    runs = tab.card.get_by_role("listitem").filter(has_text="nn.Linear(400, 120)")
    expect(runs.locator(".icon-ok")).to_be_visible()
    expect(runs).to_contain_text("pretrained weights")
    assert copy_from(tab, "Copy nn.Linear(400, 120)") == "nn.Linear(400, 120)"
    assert copy_from(tab, "Copy where it comes from").startswith(
        "400 = 16·5·5, made by flatten of pool f32[4,16,5,5] (demo/wrong_width.py:28)"
    )
    tab.card.get_by_text("PyTorch says").click()
    assert copy_from(tab, "Copy the error message") == "mat1 and mat2 shapes cannot be multiplied (4x400 and 576x120)"


def test_all_places_of_one_fault_are_listed_and_lead_to_their_nodes(open_tab: OpenTab, fast: TensorBoard, demo_link: DemoLink) -> None:
    """Folded at first; outline, table and graph mark each of the twelve, and all is one problem."""
    tab = open_tab(fast, demo_link("Twelve"))
    expect(tab.frame.get_by_role("button", name="1 error", exact=True)).to_be_visible()
    last = tab.card.get_by_role("button", name=re.compile(rf"^blocks\.{BLOCKS - 1}\.down"))
    expect(last).to_be_hidden()
    for block in range(BLOCKS):
        expect(tab.outline.get_by_role("treeitem", name=re.compile(rf"^{block} Block"))).to_contain_text("1 error")
    tab.card.get_by_text(f"the same at {BLOCKS - 1} more places").click()
    last.click()
    expect(last).to_have_attribute("aria-current", "true")
    expect(tab.inspected).to_have_text("down")
    expect(tab.frame.get_by_role("region", name="Inspector")).to_contain_text(f"blocks.{BLOCKS - 1}.down")
    expect(tab.layers.locator('[aria-selected="true"]')).to_contain_text("1 error")
    tab.expect_thing("down", state="failed")


def test_an_input_that_brought_the_number_along_is_marked_as_the_origin(open_tab: OpenTab, fast: TensorBoard, demo_link: DemoLink) -> None:
    """In its colour on the canvas, in words for readers, and FROM leads to it."""
    tab = open_tab(fast, demo_link("ChannelsLast"))
    picture = tab.expect_thing("picture", kind="input", state="origin")
    amber = tab.frame.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--origin')")
    colour = tuple(int(amber.strip()[at : at + 2], 16) for at in (1, 3, 5))
    shown = tab.picture().part(picture.x - 2, picture.y - 2, picture.width + 4, picture.height + 4)
    assert shown.has((colour[0], colour[1], colour[2]))
    tab.card.get_by_role("button", name="picture", exact=True).click()
    expect(tab.active).to_have_attribute("aria-label", re.compile("^picture, .*brings 36"))


def test_what_belongs_to_a_problem_is_told_with_it_and_apart(open_tab: OpenTab, fast: TensorBoard, demo_link: DemoLink) -> None:
    """The other reading, the suggestion without a tick, what follows folded and quiet; the note nowhere among the problems."""
    tab = open_tab(fast, demo_link("Related"))
    expect(tab.card).to_contain_text("or: up and down are both 9 wide where the input gives 8")
    maybe = tab.card.locator(".suggested")
    expect(maybe).to_contain_text(re.compile("maybe.*as many rows as columns.*not verified"))
    expect(maybe.locator(".icon-ok")).to_have_count(0)
    follower = tab.card.get_by_role("button", name="down: 4 against 5")
    expect(follower).to_be_hidden()
    tab.card.get_by_text("1 more problem follows from this one").click()
    follower.click()
    expect(tab.inspected).to_have_text("down")
    expect(tab.outline.get_by_role("treeitem", name=re.compile("^down"))).to_contain_text("1 problem that follows from another")
    expect(tab.frame.get_by_role("button", name="1 error", exact=True)).to_be_visible()
    expect(tab.banner).not_to_contain_text("problem 1 of")


def test_a_crash_outside_of_the_model_has_its_card_and_selects_nothing(open_tab: OpenTab, fast: TensorBoard, demo_link: DemoLink) -> None:
    """The failing statement stands where no node is; a long path shows its end; the inspector lists the problem."""
    tab = open_tab(fast, demo_link("Outside"))
    expect(tab.banner.get_by_role("heading")).to_contain_text("the pictures of one batch have different sizes")
    expect(tab.card).to_contain_text("return torch.stack(batch, 0, out=out)")
    place = tab.card.get_by_role("button", name="site-packages/torch/utils/data/_utils/collate.py:272")
    expect(place).to_have_text("…/utils/data/_utils/collate.py:272")
    expect(tab.inspected).to_have_text("Outside")
    expect(tab.outline.locator('[aria-selected="true"]')).to_have_count(0)
    expect(tab.frame.get_by_role("region", name="Inspector").get_by_role("listitem")).to_contain_text(["the pictures of one batch"])
    assert copy_from(tab, "Copy transforms.Resize((480, 640))") == "transforms.Resize((480, 640))"
    tab.expect_thing("up")


def test_an_error_of_the_users_own_is_told_as_that(open_tab: OpenTab, fast: TensorBoard, demo_link: DemoLink) -> None:
    """At its line, in its own words, with nothing to try."""
    tab = open_tab(fast, demo_link("Stops"))
    expect(tab.banner).to_contain_text("KeyError")
    expect(tab.card).to_contain_text("The error says")
    expect(tab.card).not_to_contain_text("TRY")


def test_warnings_alone_are_walked_through_in_the_card(open_tab: OpenTab, fast: TensorBoard, demo_link: DemoLink) -> None:
    """No red sentence; the count opens the card, which has the way on, also as a list; nothing in it is red."""
    tab = open_tab(fast, demo_link("Warned"))
    tab.things("up")
    expect(tab.banner).to_have_count(0)
    expect(tab.card).to_have_count(0)
    tab.frame.get_by_role("button", name="2 warnings").click()
    expect(tab.card).to_contain_text("problem 1 of 2")
    tab.page.keyboard.press("n")
    expect(tab.card).to_contain_text("problem 2 of 2")
    tab.card.get_by_role("button", name=re.compile("^Problem: ")).click()
    tab.frame.get_by_role("option", name=re.compile("^up: 8 against 9")).click()
    expect(tab.card).to_contain_text("problem 1 of 2")
    expect(tab.frame.locator(".icon-error, .tone-error")).to_have_count(0)


def test_a_link_opens_the_same_problem(open_tab: OpenTab, fast: TensorBoard, demo_link: DemoLink) -> None:
    """The second of two, in another browser."""
    tab = open_tab(fast, demo_link("TwoFaults"))
    tab.banner.get_by_role("button", name="Next problem (n)").click()
    expect(tab.inspected).to_have_text("second")
    tab.page.wait_for_url(re.compile(r"p\.shapes\.problem=1"))
    other = open_tab(fast, tab.page.url.removeprefix(fast.url))
    expect(other.banner).to_contain_text("problem 2 of 2")
    expect(other.inspected).to_have_text("second")
