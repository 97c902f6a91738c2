"""What is run: a module or any callable, with its arguments."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any


@dataclass(frozen=True)
class Subject:
    """A model under the name that it has in the tab, and what it is called with."""

    name: str
    model: Any  # an nn.Module or any callable
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    compiled: bool = False  # did torch.compile wrap it? (it runs as it was written)


def without_partials(subject: Subject) -> Subject:
    """``functools.partial`` of a model is that model, called with more arguments."""
    while isinstance(subject.model, partial):
        held = subject.model
        subject = replace(subject, model=held.func, args=(*held.args, *subject.args), kwargs={**held.keywords, **subject.kwargs})
    return subject
