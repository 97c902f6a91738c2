"""Goldens as text: compared by every run, written anew by ``pytest --renew-goldens``; and what is left out without torch."""

import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest

# The rooms without torch are also tested where there is none; what compares them with torch itself can't be.
COMPARES_WITH_TORCH = ["base/test_units.py", "ops/test_arithmetic.py", "ops/test_rules.py"]
collect_ignore = [] if importlib.util.find_spec("torch") else COMPARES_WITH_TORCH

_GOLDENS = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The flag that renews goldens."""
    parser.addoption("--renew-goldens", action="store_true", help="write tests/golden/ anew instead of comparing with it")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """A function of a golden's name and the text that it must be."""

    def compare(name: str, text: str) -> None:
        path = _GOLDENS / f"{name}.txt"
        if request.config.getoption("--renew-goldens"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n", encoding="utf-8")
        assert path.is_file(), f"There is no golden {path.name}. Write it with pytest --renew-goldens, then read it."
        assert text + "\n" == path.read_text(encoding="utf-8")

    return compare
