"""Makes THIRD_PARTY_NOTICES from the bundle's metafile: each npm package in it, its version and its licence's text.

``--check`` writes nothing and exits 1 when the file is stale. Both need a built frontend (``make frontend``).
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
METAFILE = Path("frontend/dist/meta.json")
NOTICES = Path("THIRD_PARTY_NOTICES")

HEAD = """The tab's bundle (tb_shapeplugin/serve/static) holds code of the npm packages below, each under its own licence.
Where a licence is Apache-2.0, its full text is that of LICENSE beside this file.
Made by tools/make_notices.py from what the bundler put in; don't edit it by hand.
"""
RULE = "-" * 100


class NoticeError(Exception):
    """A bundled package whose licence can't be told; the message says what to do."""


@dataclass(frozen=True)
class Package:
    """A bundled package and what must be said of it."""

    name: str
    version: str
    license: str
    text: str

    def __str__(self) -> str:
        return f"{RULE}\n{self.name} {self.version}, {self.license}\n\n{self.text}\n"


def bundled_files(metafile: Mapping[str, object], frontend: Path) -> dict[Path, list[Path]]:
    """The folder of each npm package in the bundle with its files there; what was shaken out doesn't count.

    Args:
        metafile: esbuild's, parsed.
        frontend: the folder that the metafile's paths are relative to.
    """
    packages: dict[Path, list[Path]] = {}
    outputs = metafile["outputs"]
    assert isinstance(outputs, dict), "esbuild's metafile maps the outputs' names"
    for output in outputs.values():
        for name, size in output["inputs"].items():
            path = Path(name)
            if "node_modules" in path.parts and size["bytesInOutput"] > 0:
                packages.setdefault(frontend / _package_folder(path), []).append(frontend / path)
    return packages


def _package_folder(path: Path) -> Path:
    last = len(path.parts) - 1 - path.parts[::-1].index("node_modules")
    return Path(*path.parts[: last + (3 if path.parts[last + 1].startswith("@") else 2)])


def read_package(folder: Path, files: list[Path]) -> Package:
    """What the package's own folder says of it.

    Raises:
        NoticeError: it has neither a licence file nor a notice at the top of a bundled file.
    """
    about = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    licences = sorted(
        path for path in folder.iterdir() if path.is_file() and path.name.upper().startswith(("LICENSE", "LICENCE", "NOTICE"))
    )
    texts = [path.read_text(encoding="utf-8").strip() for path in licences]
    # Some packages carry their licence only at the top of each file.
    texts = texts or sorted({notice for path in files if "opyright" in (notice := _top_comment(path))})
    if not texts:
        raise NoticeError(
            f"{about['name']} {about['version']} is in the bundle without a licence's text. Find it, or bundle another package."
        )
    return Package(about["name"], about["version"], about["license"], "\n\n".join(texts))


def _top_comment(path: Path) -> str:
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("//"):
            break
        lines.append(line[2:].removeprefix(" ").rstrip())
    return "\n".join(lines).strip()


def make_notices(root: Path) -> str:
    """The text of THIRD_PARTY_NOTICES for the bundle last built in the checkout at root.

    Raises:
        NoticeError: no bundle was built, or a package's licence can't be told.
    """
    if not (root / METAFILE).is_file():
        raise NoticeError(f"There is no {METAFILE}. Build the frontend first: make frontend.")
    metafile = json.loads((root / METAFILE).read_text(encoding="utf-8"))
    packages = [read_package(folder, files) for folder, files in bundled_files(metafile, root / METAFILE.parts[0]).items()]
    unique = {str(package) for package in packages}
    return "\n".join([HEAD, *sorted(unique)])


def main(arguments: list[str]) -> int:
    """Writes the file, or with --check compares it; 1 when it is stale or can't be made."""
    try:
        text = make_notices(ROOT)
    except NoticeError as error:
        print(error, file=sys.stderr)
        return 1
    notices = ROOT / NOTICES
    if "--check" not in arguments:
        notices.write_text(text, encoding="utf-8")
    elif not notices.is_file() or notices.read_text(encoding="utf-8") != text:
        print(f"{NOTICES} is stale. Make it anew: .venv/bin/python tools/make_notices.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
