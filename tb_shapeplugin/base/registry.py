"""A table of named entries that keeps the order of registration and refuses a name twice."""

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from tb_shapeplugin.base.errors import InternalError

Entry = TypeVar("Entry")


class Registry(Generic[Entry]):
    """Names to entries, in the order in which they were registered.

    Example:
        >>> rules: Registry[int] = Registry("rule")
        >>> _ = rules.register("one", "uno")(1)
        >>> rules.get("uno")
        1
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._entries: dict[str, Entry] = {}

    def register(self, *names: str) -> Callable[[Entry], Entry]:
        """A decorator that files its function under every name given; InternalError for a name taken."""

        def file(entry: Entry) -> Entry:
            for name in names:
                if name in self._entries:
                    raise InternalError(f"{self._what} {name!r} is registered twice.")
                self._entries[name] = entry
            return entry

        return file

    def get(self, name: str) -> Entry | None:
        """The entry of that name, or None."""
        return self._entries.get(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)
