"""One broken rule: where, what, and the way out."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, order=True)
class Problem:
    """A rule broken at a line of a file.

    Args:
        path: the file, relative to the top of the checkout.
        line: 1 for the whole file.
        rule: the rule's short name.
        what: one sentence with the values.
        way_out: one sentence.

    Example:
        >>> print(Problem(Path("a.py"), 3, "names", "The file is called 'a'.", "Say what it holds."))
        a.py:3: [names] The file is called 'a'. Say what it holds.
    """

    path: Path
    line: int
    rule: str
    what: str
    way_out: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: [{self.rule}] {self.what} {self.way_out}"
