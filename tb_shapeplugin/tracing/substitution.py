"""Puts other tensors into the places of some in a nested value."""

from typing import Any

import torch


def substituted(value: Any, replacements: dict[int, torch.Tensor]) -> Any:
    """A nested list, tuple or dict with tensors replaced by identity."""
    if isinstance(value, torch.Tensor):
        return replacements.get(id(value), value)
    if type(value) in (list, tuple):
        return type(value)(substituted(item, replacements) for item in value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(substituted(item, replacements) for item in value))
    if isinstance(value, dict):
        return {key: substituted(item, replacements) for key, item in value.items()}
    return value
