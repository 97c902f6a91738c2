"""Builds the proof page, opens it in real Chromium, and prints layout and frame times; or takes pictures of the test models.

python frontend/proof/run.py times [record.bin …]
python frontend/proof/run.py pictures DIRECTORY [model …]
"""

import functools
import http.server
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

from playwright.sync_api import Page, sync_playwright

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MODELS = ("mlp", "failing", "vit1", "unet", "branches")


def build(out: pathlib.Path) -> None:
    """Bundles the page into a directory."""
    command = [
        "node_modules/.bin/esbuild",
        "frontend/proof/proof.ts",
        "--bundle",
        "--format=esm",
        f"--outfile={out}/proof.js",
        "--log-level=warning",
    ]
    subprocess.run(command, cwd=ROOT, check=True)
    shutil.copy(HERE / "index.html", out / "index.html")


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves a directory without a word."""

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


def serve(directory: pathlib.Path) -> str:
    """Serves the directory on a free port of this machine until the process ends; gives its address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(directory)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}/index.html"


def pictures(page: Page, directory: pathlib.Path, models: list[str]) -> None:
    """One picture of each model in each theme."""
    directory.mkdir(parents=True, exist_ok=True)
    for model in models or list(MODELS):
        for theme in ("light", "dark"):
            page.evaluate("([m, theme]) => proof.open(m, { theme, open: m === 'vit1' ? 'all' : 'first' })", [model, theme])
            page.evaluate("proof.look('fit')")
            page.screenshot(path=str(directory / f"{model}-{theme}.png"))


def times(page: Page, models: list[str]) -> None:
    """One JSON line a model: counts, ms of each step of the second opening, ms of frames."""
    for model in models:
        page.evaluate("m => proof.open(m, { open: 'all' })", model)
        result = page.evaluate("m => proof.open(m, { open: 'all' })", model)
        result["fit"] = page.evaluate("[proof.look('fit'), proof.look('fit'), proof.look('fit')][2]")
        for zoom in (1, 0.6, 0.4, 0.2):
            frames = page.evaluate("([z, n]) => proof.pan(z, n)", [zoom, 60])
            result[f"pan {zoom}"] = {"median": frames[len(frames) // 2], "worst": frames[-1]}
        print(json.dumps({"model": model} | result))


def main() -> None:
    """Runs what the command line asks for."""
    mode, rest = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        out = pathlib.Path(temporary)
        build(out)
        records = [shutil.copy(record, out) for record in rest if record.endswith(".bin")]
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 872, "height": 900})
        page.on("pageerror", lambda error: print(error, file=sys.stderr))
        page.goto(serve(out))
        page.wait_for_function("window.proof !== undefined")
        if mode == "pictures":
            pictures(page, pathlib.Path(rest[0]), rest[1:])
        else:
            times(page, [pathlib.Path(record).name for record in records] or ["vit350", "chain5000"])
        browser.close()


if __name__ == "__main__":
    main()
