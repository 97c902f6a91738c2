"""Makes the pictures in docs/images: every demo in real TensorBoard and real Chromium, light and dark."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import urlopen

from playwright.sync_api import Page, sync_playwright

from free_port import find_free_port

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")

# picture: the demo's run, and the place in it, as the address has it
SCENES: dict[str, tuple[str, dict[str, str]]] = {
    "problem": ("wrong_width", {}),
    "overview": ("transformer", {}),
    "digits": ("digits", {}),
    "many_inputs": ("many_inputs", {}),
    "memory": ("memory_budget", {"screen": "memory", "limit": "24", "sizes": "192"}),
}
_PATIENCE = 60.0


@contextmanager
def tensorboard(logdir: Path) -> Iterator[str]:
    """The address of a TensorBoard that serves the logdir."""
    port = find_free_port(6150)
    command = [sys.executable, "-m", "tensorboard.main", "--logdir", str(logdir), "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def models(address: str, runs: int) -> dict[str, Any]:  # Any: what the route's JSON holds
    """Each run's newest model, once all runs are there; TimeoutError when they don't come."""
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        try:
            with urlopen(f"{address}/data/plugin/shapes/models") as answer:
                listed = json.load(answer)["runs"]
            if len(listed) >= runs:
                return {run["run"]: run["models"][-1] for run in listed}
        except (URLError, ConnectionError):
            pass
        time.sleep(0.5)
    raise TimeoutError(f"TensorBoard showed no {runs} runs within {_PATIENCE:.0f} s. Look at what the demos printed.")


def photograph(page: Page, address: str, run: str, model: dict[str, Any], words: dict[str, str], file: Path, *, dark: bool) -> None:
    """Opens the tab at one model, at a place in it, and takes the picture."""
    place = urlencode(
        {"p.shapes.run": run, "p.shapes.tag": model["tag"], "p.shapes.step": model["steps"][-1]}
        | {f"p.shapes.{key}": word for key, word in words.items()}
    )
    page.goto(f"{address}/?darkMode={'true' if dark else 'false'}#shapes&{place}")
    tab = page.frame_locator("iframe[src*=plugin_entry]")
    tab.locator(".graph-things li, .memory-strip").first.wait_for(state="attached")
    page.wait_for_timeout(800)  # the camera's way, and the graph's list of what it shows
    page.screenshot(path=file)


def main() -> None:
    """Runs the demos into a folder of their own and takes every scene in both themes."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as logdir, sync_playwright() as playwright:
        for run in sorted({run for run, _ in SCENES.values()}):
            subprocess.run([sys.executable, f"demo/{run}.py", "--logdir", logdir], check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        with tensorboard(Path(logdir)) as address:
            listed = models(address, len({run for run, _ in SCENES.values()}))
            for name, (run, words) in SCENES.items():
                for dark in (False, True):
                    page = browser.new_page(viewport={"width": 1440, "height": 900})
                    photograph(page, address, run, listed[run], words, IMAGES / f"{name}-{'dark' if dark else 'light'}.png", dark=dark)
                    page.close()
                    print(f"docs/images/{name}-{'dark' if dark else 'light'}.png")
        browser.close()


if __name__ == "__main__":
    main()
