"""One built tab, one logdir, one TensorBoard a loader and one Chromium, shared by every test in here."""

import os
import re
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest
from playwright.sync_api import Browser, ViewportSize, expect, sync_playwright

from tests.e2e.broken import BROKEN_MODELS
from tests.e2e.runs import DEMO_MODELS, ROOT, write_runs
from tests.e2e.tab import PATIENCE_MS, Tab, link
from tests.tensorboard_process import TensorBoard, tensorboard

RESULTS = ROOT / "test-results"
SIZE_PX = ViewportSize(width=1440, height=900)
CHROMIUM_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--no-first-run"]
_FAILED = pytest.StashKey[bool]()


class OpenTab(Protocol):
    """Opens the tab of a TensorBoard in a browser profile of its own."""

    def __call__(
        self,
        served: TensorBoard,
        address: str = "#shapes",
        *,
        theme: str = "light",
        allowed: str = "",
    ) -> Tab:
        """Goes to an address below TensorBoard's. ``allowed`` is a pattern of console errors that are not complained of."""
        ...


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Remembers whether a test failed, for its pages to be photographed."""
    report = yield
    item.stash[_FAILED] = item.stash.get(_FAILED, False) or report.failed
    return report


@pytest.fixture(scope="session")
def built() -> None:
    """The frontend that TensorBoard serves."""
    if not (ROOT / "tb_shapeplugin/serve/static/index.js").is_file():
        pytest.fail("The frontend isn't built, so there is no tab to open. Build it first: make frontend.")


@pytest.fixture(scope="session")
def logdir(built: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the demos write, and a few runs more."""
    folder = tmp_path_factory.mktemp("runs")
    write_runs(folder)
    return folder


@pytest.fixture(scope="session")
def fast(logdir: Path) -> Iterator[TensorBoard]:
    """TensorBoard as it starts by default."""
    with tensorboard(logdir, fast=True) as running:
        running.wait_for("/models", _is_read)
        yield running


@pytest.fixture(scope="session")
def python(logdir: Path) -> Iterator[TensorBoard]:
    """TensorBoard with ``--load_fast=false``."""
    with tensorboard(logdir, fast=False) as running:
        running.wait_for("/models", _is_read)
        yield running


@pytest.fixture
def prefixed(logdir: Path) -> Iterator[TensorBoard]:
    """TensorBoard behind a prefix, as behind a proxy."""
    with tensorboard(logdir, fast=True, path_prefix="/lab/tb") as running:
        running.wait_for("/models", _is_read)
        yield running


@pytest.fixture(params=["fast", "python"])
def served(request: pytest.FixtureRequest) -> TensorBoard:
    """Each loader in turn."""
    running: TensorBoard = request.getfixturevalue(request.param)
    return running


def _is_read(found: Any) -> bool:
    """Every model has its steps."""
    names = {model["name"] for run in found["runs"] for model in run["models"] if model["steps"]}
    steps = [step for run in found["runs"] if run["run"] == "steps" for model in run["models"] for step in model["steps"]]
    return names >= {*DEMO_MODELS, "TwoFaults", "TwoPaths", "Sound", "Long", *BROKEN_MODELS} and sorted(steps) == [0, 100]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The machine's own Chromium, without a window."""
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        program = os.environ.get("CHROMIUM", "/usr/bin/chromium")
        chromium = playwright.chromium.launch(executable_path=program, args=CHROMIUM_ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture
def open_tab(browser: Browser, request: pytest.FixtureRequest) -> Iterator[OpenTab]:
    """A function that opens the tab; afterwards no page may have logged an error, and pages of a failed test are photographed."""
    opened: list[Tab] = []

    def open_one(
        served: TensorBoard,
        address: str = "#shapes",
        *,
        theme: str = "light",
        allowed: str = "",
    ) -> Tab:
        context = browser.new_context(
            viewport=SIZE_PX,
            reduced_motion="reduce",
            permissions=["clipboard-read", "clipboard-write"],
        )
        context.set_default_timeout(PATIENCE_MS)
        tab = Tab(context.new_page(), allowed)
        opened.append(tab)
        tab.page.goto(f"{served.url}{'?darkMode=true' if theme == 'dark' else ''}{address}")
        if address.startswith("#shapes"):
            tab.wait_until_open()
        return tab

    yield open_one
    complaints = [complaint for tab in opened for complaint in tab.complaints]
    if complaints or request.node.stash.get(_FAILED, False):
        photograph(opened, request.node.nodeid)
    for tab in opened:
        tab.page.context.close()
    assert not complaints, "The browser's console holds errors:\n" + "\n".join(complaints)


def photograph(tabs: list[Tab], test: str) -> None:
    """A picture of each page into test-results/, named after the test."""
    RESULTS.mkdir(exist_ok=True)
    name = re.sub(r"[^\w.-]+", "-", test.rpartition("/")[2])
    for number, tab in enumerate(tabs, start=1):
        tab.page.screenshot(path=RESULTS / f"{name}-{number}.png")


@pytest.fixture
def demo_link(fast: TensorBoard) -> "DemoLink":
    """The link to a model by its name."""
    models = {model["name"]: (run["run"], model) for run in fast.get("/models").json()["runs"] for model in run["models"]}

    def link_to(name: str, **words: object) -> str:
        run, model = models[name]
        return link(run=run, tag=model["tag"], step=model["steps"][-1], **words)

    return link_to


class DemoLink(Protocol):
    """Gives the hash that opens a logged model."""

    def __call__(self, name: str, **words: object) -> str:
        """``words`` say which place inside it: sel, open, view, problem."""
        ...
