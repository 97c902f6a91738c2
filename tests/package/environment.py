"""A virtual environment of its own, with the checkout out of sight."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Environment:
    """A virtual environment beside which the checkout is out of sight."""

    folder: Path

    def program(self, name: str) -> str:
        """The path of a program installed in it."""
        return str(self.folder / "bin" / name)

    def run(self, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs one of its programs to the end, outside the checkout."""
        return subprocess.run(
            [self.program(name), *arguments], capture_output=True, text=True, cwd=self.folder, env=clean_variables(), check=False
        )


def clean_variables() -> dict[str, str]:
    """The variables of this process without those that would bring its packages along."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON") and name != "VIRTUAL_ENV"}
