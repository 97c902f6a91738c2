"""The changes of a fix as JSON: an index in brackets, with slices and all, becomes objects that say what they are."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

_INDEX, _SLICE, _ELLIPSIS = "index", "slice", "ellipsis"


def changes_to_json(changes: Sequence[Mapping[str, Any]]) -> str:
    """The changes as text, "" for none.

    Example:
        >>> changes_to_json([{"call": "__getitem__", "argument": 1, "value": (slice(None), -1)}])
        '[{"call":"__getitem__","argument":1,"value":{"index":[{"slice":[null,null,null]},-1]}}]'
    """
    plain = [{name: _plain(value) for name, value in change.items()} for change in changes]
    return json.dumps(plain, separators=(",", ":")) if plain else ""


def changes_from_json(text: str) -> tuple[Mapping[str, Any], ...]:
    """The changes that such a text holds.

    Raises:
        ValueError: the text is no list of changes.

    Example:
        >>> changes_from_json('[{"argument":1,"value":{"slice":[1,null,null]}}]')[0]["value"]
        slice(1, None, None)
    """
    changes = json.loads(text, object_hook=_python) if text else []
    if not isinstance(changes, list) or not all(isinstance(change, dict) for change in changes):
        raise ValueError(f"the changes of a fix are {text[:40]!r}")
    return tuple(changes)


def _plain(value: Any) -> Any:
    if isinstance(value, slice):
        return {_SLICE: [value.start, value.stop, value.step]}
    if value is Ellipsis:
        return {_ELLIPSIS: True}
    return {_INDEX: list(map(_plain, value))} if isinstance(value, tuple) else value


def _python(found: dict[str, Any]) -> Any:
    if found.keys() == {_SLICE}:
        return slice(*found[_SLICE])
    if found == {_ELLIPSIS: True}:
        return ...
    return tuple(found[_INDEX]) if found.keys() == {_INDEX} else found
