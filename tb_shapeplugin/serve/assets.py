"""The built frontend's files, by a fixed list of names: no path of a request ever reaches the file system."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

BUILT = Path(__file__).parent / "static"

# Said by us: what the system's table of types says of .js depends on the machine.
_TYPES = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".map": "application/json",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
    ".txt": "text/plain",
}


@dataclass(frozen=True, slots=True)
class Assets:
    """Names of files, as they were found when TensorBoard started, to where they lie.

    Example:
        >>> sorted(Assets.of(BUILT).paths)
        ['index.js', 'layout_worker.js', 'style.css']
    """

    paths: Mapping[str, Path]

    @staticmethod
    def of(folder: Path) -> "Assets":
        """The files in a folder and below it that are of a type a browser asks for; none where the folder is missing."""
        found = (path for path in sorted(folder.rglob("*")) if path.suffix in _TYPES and path.is_file())
        return Assets({path.relative_to(folder).as_posix(): path for path in found})

    def read(self, name: str) -> tuple[bytes, str] | None:
        """A file's bytes and type; None for any other name, and for a file that went away since."""
        path = self.paths.get(name)
        try:
            return None if path is None else (path.read_bytes(), _TYPES[path.suffix])
        except OSError:
            return None
