"""What is told of a record without opening it: the JSON beside its bytes in the event file."""

import json
from dataclasses import asdict, dataclass, fields

from tb_shapeplugin.base.errors import RecordError
from tb_shapeplugin.base.names import RECORD_DRAFT
from tb_shapeplugin.record.record import Record
from tb_shapeplugin.wire.text import storable_text


@dataclass(frozen=True, slots=True)
class Header:
    """One record in a line of the tab's pickers. ``params`` is None where nobody knows.

    Example:
        >>> Header.from_json(Header(1, "Net", True, 0, 0, 3, 7, 120).to_json()).name
        'Net'
    """

    draft: int
    name: str
    completed: bool
    errors: int
    warnings: int
    modules: int
    ops: int
    params: int | None

    def to_json(self) -> bytes:
        """The header as it is stored: a JSON object in ASCII."""
        return json.dumps(asdict(self), separators=(",", ":")).encode("ascii")

    @staticmethod
    def from_json(content: bytes) -> "Header":
        """The header in those bytes; RecordError when they hold none, or one of another draft."""
        try:
            values = json.loads(content)
        except (ValueError, RecursionError):
            values = None
        if not isinstance(values, dict):
            raise RecordError(f"Its header is no JSON object: {content[:40]!r}. Log the model again.")
        draft = values.get("draft")
        if type(draft) is int and draft != RECORD_DRAFT:
            raise RecordError(another_draft(draft))
        for name, types in _TYPES.items():
            if type(values.get(name)) not in types:
                raise RecordError(f"Its header says {name} = {values.get(name)!r:.60}. Log the model again.")
        return Header(**{name: values[name] for name in _TYPES})


_NUMBER = (int,)
_TYPES: dict[str, tuple[type, ...]] = {field.name: _NUMBER for field in fields(Header)} | {
    "name": (str,),
    "completed": (bool,),
    "params": (int, type(None)),
}


def header_of(record: Record) -> Header:
    """The header of a record.

    Example:
        >>> header_of(record).to_json()
        b'{"draft":1,"name":"Net","completed":true,"errors":0,"warnings":0,"modules":3,"ops":7,"params":120}'
    """
    severities = [finding.severity for finding in record.findings]
    return Header(
        draft=RECORD_DRAFT,
        name=storable_text(record.name),
        completed=record.completed,
        errors=severities.count("error"),
        warnings=severities.count("warning"),
        modules=len(record.modules),
        ops=len(record.ops),
        params=record.totals.params,
    )


def another_draft(draft: int) -> str:
    """The sentence for a record of another draft."""
    which = "a newer" if draft > RECORD_DRAFT else "an older"
    way_out = "Install that version of tb-shapeplugin" if draft > RECORD_DRAFT else "Log the model again"
    return f"This record was written by {which} version (draft {draft}; this one reads draft {RECORD_DRAFT}). {way_out}."
