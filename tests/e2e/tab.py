"""The Shapes tab inside TensorBoard, as a person and a program see it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from playwright.sync_api import ConsoleMessage, Frame, Locator, Page, expect

from tests.e2e.pictures import Picture

PATIENCE_MS = 30_000
# TensorBoard itself asks for its fonts at the root, whatever its prefix.
_HOSTS_OWN = re.compile(r"/font-roboto/")
_ENTRY = "data/plugin_entry.html?name=shapes"

# The list follows the camera once it rests: it is true when a thing is in it and it has not changed for a while.
_SETTLED = """
([call, name, kind, state]) => {
  const list = [...document.querySelectorAll('.graph-things li')].map(({ textContent, dataset }) =>
    [textContent, dataset.kind, dataset.state, ...dataset.box.split(' ').map(Number)]);
  const text = JSON.stringify(list);
  const seen = (window.thingsSeenByTest ??= {});
  if (seen.call !== call || seen.text !== text) Object.assign(seen, { call, text, since: performance.now(), polls: 0 });
  const settled = ++seen.polls > 20 && performance.now() - seen.since > 400;
  const { clientWidth, clientHeight } = document.querySelector('.graph-canvas') ?? {};
  const found = list.some(([n, k, s, x, y, w, h]) => (name === '' || n === name) && (kind === '' || k === kind)
    && (state === '' || s === state) && x + w > 0 && y + h > 0 && x < clientWidth && y < clientHeight);
  return settled && found ? list : null;
}
"""


@dataclass(frozen=True)
class Thing:
    """A node as the graph lists it for programs; x, y, width and height are px from the graph's upper left corner."""

    name: str
    kind: str
    state: str
    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> tuple[float, float]:
        """Where one clicks on it."""
        return self.x + self.width / 2, self.y + self.height / 2

    @property
    def chevron(self) -> tuple[float, float]:
        """Where one clicks to open or close it: near its left edge, in the row of its name."""
        return self.x + 8, self.y + min(self.height, 16) / 2

    def overlaps(self, other: "Thing") -> bool:
        """Whether they cover a common pixel, lines of 1 px apart."""
        across = min(self.x + self.width, other.x + other.width) - max(self.x, other.x)
        down = min(self.y + self.height, other.y + other.height) - max(self.y, other.y)
        return across > 1 and down > 1


class Tab:
    """One page of TensorBoard with the tab open in it; ``complaints`` holds what its console reported as an error."""

    def __init__(self, page: Page, allowed: str) -> None:
        self.page = page
        self.complaints: list[str] = []
        self._calls = 0
        self._allowed = re.compile(allowed) if allowed else None
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.complaints.append(f"{error.name}: {error.message}\n{error.stack}"))

    def _hear(self, message: ConsoleMessage) -> None:
        where = message.location.get("url", "")
        if message.type != "error" or _HOSTS_OWN.search(where) or (self._allowed and self._allowed.search(message.text)):
            return
        self.complaints.append(f"{message.text} ({where})")

    @property
    def frame(self) -> Frame:
        """The tab's own document."""
        [frame] = [frame for frame in self.page.frames if frame.url.endswith(_ENTRY)]
        return frame

    @property
    def canvas(self) -> Locator:
        """What one clicks, drags and scrolls on."""
        return self.frame.locator(".graph-canvas")

    @property
    def inspected(self) -> Locator:
        """The heading of what the inspector tells of."""
        return self.frame.get_by_role("region", name="Inspector").get_by_role("heading", level=2)

    @property
    def active(self) -> Locator:
        """The selected node in words."""
        return self.frame.locator("#graph-active")

    @property
    def outline(self) -> Locator:
        """The tree of modules."""
        return self.frame.get_by_role("tree", name="Outline")

    @property
    def layers(self) -> Locator:
        """The table."""
        return self.frame.get_by_role("treegrid", name="Layers")

    @property
    def banner(self) -> Locator:
        """The red sentence."""
        return self.frame.get_by_role("region", name="Problem", exact=True)

    @property
    def card(self) -> Locator:
        """The four lines."""
        return self.frame.get_by_role("region", name="The problem in four lines")

    def picker(self, label: str) -> Locator:
        """The button that opens the list of models, or of steps."""
        return self.frame.get_by_role("button", name=re.compile(f"^{label}: "))

    def wait_until_open(self) -> None:
        """Until the frame is there and has drawn more than nothing."""
        self.page.locator(f'iframe[src="{_ENTRY}"]').wait_for(state="attached")
        self.page.frame_locator(f'iframe[src="{_ENTRY}"]').locator("main > *").first.wait_for()

    def choose_theme(self, entry: str) -> None:
        """Picks Light or Dark in TensorBoard's own header."""
        self.page.get_by_role("button", name="Menu for changing light or dark theme").click()
        self.page.get_by_role("menuitemradio", name=entry).or_(self.page.get_by_role("menuitem", name=entry, exact=True)).click()

    def choose(self, label: str, entry: str) -> None:
        """Picks one entry of a list."""
        self.picker(label).click()
        self.frame.get_by_role("option").filter(has=self.frame.get_by_text(entry, exact=True)).click()

    def things(self, name: str = "", kind: str = "", state: str = "") -> list[Thing]:
        """What the graph shows, once it stands still and such a thing is in sight."""
        self._calls += 1
        answer = self.frame.wait_for_function(_SETTLED, arg=[self._calls, name, kind, state])
        return [Thing(*row) for row in answer.json_value()]

    def expect_thing(self, name: str, kind: str = "", state: str = "") -> Thing:
        """Until such a thing is in sight; the first one."""
        found = [thing for thing in self.things(name, kind, state) if thing.name == name]
        return next(thing for thing in found if kind in ("", thing.kind) and state in ("", thing.state))

    def click(self, spot: tuple[float, float]) -> None:
        """A click on the graph, px from its corner."""
        self.canvas.click(position={"x": spot[0], "y": spot[1]})

    def drag(self, right: float, down: float) -> None:
        """Takes the graph by its lower middle and moves it, px."""
        box = self.canvas.bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] * 0.6
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        self.page.mouse.move(x + right / 2, y + down / 2)
        self.page.mouse.move(x + right, y + down)
        self.page.mouse.up()

    def picture(self) -> Picture:
        """The graph as it is painted, with what lies over it."""
        return Picture.of(self.canvas.screenshot())

    def address(self) -> str:
        """TensorBoard's address, once the state was written into it."""
        self.page.wait_for_url(re.compile(r"p\.shapes\.view="))
        return self.page.url

    def expect_model(self, name: str) -> None:
        """Until that model's record is shown."""
        expect(self.canvas).to_have_attribute("aria-label", re.compile(f"^Graph of {re.escape(name)};"))


def link(**words: object) -> str:
    """The hash of a place inside the tab.

    Example:
        >>> link(run="digits", step=0)
        '#shapes&p.shapes.run=digits&p.shapes.step=0'
    """
    told: Mapping[str, object] = {f"p.shapes.{name}": value for name, value in words.items()}
    return "&".join(["#shapes", *([urlencode(told)] if told else [])])
