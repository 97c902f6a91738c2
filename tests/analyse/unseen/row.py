"""One model that fails for a reason that shapes don't show, what is to be said of it, and a near twin."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import torch

Given: TypeAlias = tuple[Any, tuple[Any, ...]]  # a module or function, and its arguments


@dataclass(frozen=True)
class Row:
    """``model`` fails with that finding and no other; ``twin`` runs, or fails with a finding of ``twin_kind``."""

    model: Callable[[], Given]
    kind: str
    op: str
    got: Mapping[str, int]
    want: Mapping[str, int]
    twin: Callable[[], Given]
    twin_kind: str = ""
    code: str = ""  # part of the line
    module: str = ""
    says: str = ""  # part of the message
    own_words: bool = field(default=False)  # is torch's text of this capture another one than eager's?


def ints(*values: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
    """A vector of indices, labels or lengths."""
    return torch.tensor(values, dtype=dtype)


def ones(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """A tensor whose contents don't matter."""
    return torch.ones(shape, dtype=dtype)
