"""A logdir that grows while one looks: from nothing to the first model, and from one run to two."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from playwright.sync_api import expect

from tests.e2e.conftest import OpenTab
from tests.e2e.runs import small_model, write_small
from tests.e2e.tab import Tab
from tests.tensorboard_process import tensorboard

pytestmark = pytest.mark.e2e

both_loaders = pytest.mark.parametrize("fast", [True, False], ids=["fast", "python"])


def reload_data(tab: Tab) -> None:
    """TensorBoard's own reload button."""
    tab.page.locator("button.reload-button").click()


def logged(count: int) -> Callable[[Any], bool]:
    """Whether so many models can be read."""
    return lambda found: sum(bool(model["steps"]) for run in found["runs"] for model in run["models"]) == count


@both_loaders
def test_an_empty_logdir_tells_how_to_log_and_it_works(
    built: None, open_tab: OpenTab, fast: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The code shown, run as it stands with a model and its images, makes the tab show that model after a reload."""
    runs = tmp_path / "runs"
    runs.mkdir()
    with tensorboard(runs, fast=fast) as running:
        tab = open_tab(running)
        expect(tab.frame.get_by_role("heading", name="No shapes in these runs yet")).to_be_visible()
        read = tab.frame.locator("main")
        for words in (str(runs), "no runs at all", "fast loader" if fast else "python loader"):
            expect(read).to_contain_text(words)
        first, second = tab.frame.locator("pre.code").all()
        tab.frame.get_by_role("button", name="Copy Log one model").click()
        copied = tab.frame.evaluate("navigator.clipboard.readText()")
        assert copied.split() == first.inner_text().split()
        monkeypatch.chdir(tmp_path)
        names: dict[str, Any] = {"model": small_model(), "images": torch.zeros(3, 8)}
        exec(copied, names)
        exec(second.inner_text().replace("runs/first", "runs/second"), names)
        running.wait_for("/models", logged(2))
        reload_data(tab)
        tab.expect_model("model")
        assert {"0", "1", "2"} & {thing.name for thing in tab.things(kind="op")}
        tab.picker("Model and run").click()
        expect(tab.frame.locator(".menu-group")).to_have_text(["first", "second"])


@both_loaders
def test_the_reload_button_finds_a_new_run(built: None, open_tab: OpenTab, fast: bool, tmp_path: Path) -> None:
    """The picker lists it; the model on the screen, its selection and its place stay."""
    write_small(tmp_path / "early", "Early")
    with tensorboard(tmp_path, fast=fast) as running:
        running.wait_for("/models", logged(1))
        tab = open_tab(running)
        tab.expect_model("Early")
        tab.click(tab.expect_thing("0").middle)
        expect(tab.inspected).to_have_text("0")
        before = tab.things("0")
        write_small(tmp_path / "late", "Late")
        running.wait_for("/models", logged(2))
        with tab.page.expect_response(lambda response: response.url.endswith("/data/plugin/shapes/models")):
            reload_data(tab)
        tab.picker("Model and run").click()
        expect(tab.frame.get_by_role("option").filter(has_text="Late")).to_be_visible()
        expect(tab.frame.get_by_role("listbox")).to_be_focused()
        tab.page.keyboard.press("Escape")
        expect(tab.inspected).to_have_text("0")
        assert tab.things("0") == before
        tab.choose("Model and run", "Late")
        tab.expect_model("Late")
