"""What is run: a module or any callable, with its arguments."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Subject:
    """A model under the name that it has in the tab, and what it is called with."""

    name: str
    model: Any  # an nn.Module or any callable
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
