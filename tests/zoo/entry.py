"""What an animal of the zoo is: a builder of a model with its arguments, and what is known of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch

Built: TypeAlias = tuple[Any, tuple[Any, ...], dict[str, Any]]


@dataclass(frozen=True)
class Entry:
    """A builder of ``(model, args, kwargs)``; called twice it builds the same numbers."""

    name: str
    builder: Callable[[], Built]
    fails: tuple[str, ...] = ()  # dotted paths of the modules in which a mismatch is planted, in order; empty: it completes
    kinds: tuple[str, ...] = ()  # the kind of each of them
    reads_values: bool = False  # forward can't be run without values
    needs: str = ""  # the package without which it can't be built

    def __call__(self) -> Built:
        torch.manual_seed(0)
        return self.builder()


Register: TypeAlias = Callable[[Callable[[], Built]], Callable[[], Built]]


class Enclosure(dict[str, Entry]):
    """Some of the zoo's entries by name, filled by its decorator."""

    def entry(self, name: str, **facts: Any) -> Register:
        """Registers the decorated builder."""

        def register(builder: Callable[[], Built]) -> Callable[[], Built]:
            assert name not in self, f"two entries are called {name}"
            self[name] = Entry(name, builder, **facts)
            return builder

        return register
