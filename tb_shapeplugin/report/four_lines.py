"""A finding as the four lines WHERE, WHAT, FROM, TRY: the same text in the console, in notes and in reports."""

from collections.abc import Iterator
from textwrap import wrap
from typing import Final

from tb_shapeplugin.base.units import shape_text
from tb_shapeplugin.record.finding import Finding, Fix, Origin
from tb_shapeplugin.record.record import Record
from tb_shapeplugin.record.views import OpRows, TensorRows

_HEAD_WIDTH: Final = 7
_GAP: Final = " " * 6
_RUNS: Final = "✓ runs"
_SPOKEN: Final = {
    "__getitem__": "indexing",
    "__setitem__": "an assignment",
    # What a module was called with once more stands behind them: nothing of the user's made it.
    **dict.fromkeys(("unpack", "size", "raise", "error"), "what was assumed"),
}


def four_lines(finding: Finding, record: Record | None = None, *, verbose: bool = False, width: int | None = None) -> str:
    """The finding in at most four lines; one without content is left out.

    Args:
        finding: what was found.
        record: the Record that it belongs to; with it, FROM also names what the origin was made of.
        verbose: adds other readings of the clash, and torch's own words.
        width: characters a line may have; longer ones go on below, indented.

    Example:
        >>> print(four_lines(finding))
        WHERE  fc1 (Linear, net.py:33, call 1)
        WHAT   the last dim of its input is 864, in_features is 1176      f32[4,864] · f32[1176,120]
    """
    lines = _lines(finding, record, verbose)
    return "\n".join(_joined(head, [part for part in parts if part], width) for head, parts in lines if any(parts))


def _lines(finding: Finding, record: Record | None, verbose: bool) -> Iterator[tuple[str, list[str]]]:
    yield "WHERE", [_where(finding)]
    yield "WHAT", [_what(finding), finding.types]
    yield "FROM", [_from(finding, record), _follows(finding)]
    yield "TRY", [_try(fix) for fix in sorted(finding.fixes, key=lambda fix: not fix.verified)]
    if verbose:
        yield "OR", list(finding.readings)
        yield "TORCH", [" ".join(finding.torch_message.split())]


def _joined(head: str, parts: list[str], width: int | None) -> str:
    line = head.ljust(_HEAD_WIDTH) + _GAP.join(parts)
    if width is None or len(line) <= width:
        return line
    room = max(width - _HEAD_WIDTH, 20)
    whole = (part.replace(_RUNS, _RUNS.replace(" ", "\N{NO-BREAK SPACE}")) for part in parts)
    pieces = [piece for part in whole for piece in wrap(part, room, break_long_words=False, break_on_hyphens=False)]
    return head.ljust(_HEAD_WIDTH) + ("\n" + " " * _HEAD_WIDTH).join(pieces).replace("\N{NO-BREAK SPACE}", " ")


def _where(finding: Finding) -> str:
    name = finding.module or finding.module_type or finding.op
    kind = finding.module_type if finding.module else ""
    call = f"call {finding.call}" if finding.call else ""
    details = ", ".join(word for word in (kind, _place(finding.file, finding.line), call) if word)
    more = len(finding.places) - 1
    others = f" and {more} more {'place' if more == 1 else 'places'}" if more > 0 else ""
    return f"{name} ({details}){others}" if details else name + others


def _what(finding: Finding) -> str:
    return finding.message.removeprefix(f"{finding.module}: ").rstrip(".")


def _from(finding: Finding, record: Record | None) -> str:
    why, _, note = finding.why.partition("; ")
    told = ", ".join(word for word in (why, _made_by(finding.origin, record) if finding.origin else "") if word)
    return "; ".join(word for word in (told, note) if word)


def _made_by(origin: Origin, record: Record | None) -> str:
    place = _place(origin.file, origin.line)
    at = f" ({place})" if place else ""
    if origin.op_index < 0:
        return f"brought along by {_bringer(origin, record)}{at}"
    where = f" in {origin.module}" if origin.module else ""
    return f"made by {_op_name(origin.op)}{where}{_material(origin, record)}{at}"


def _bringer(origin: Origin, record: Record | None) -> str:
    if record is not None and origin.tensor >= 0:
        tensor = TensorRows(record)[origin.tensor]
        return f"{tensor.name or tensor.kind} {tensor}"
    return f"{origin.op or 'a tensor'} {shape_text(origin.shape)}" if origin.shape else origin.op or "a tensor"


def _material(origin: Origin, record: Record | None) -> str:
    """What the origin's op was called on: "of pool f32[4,6,12,12]"; without a record the shape that it gave."""
    if record is None:
        return f", {shape_text(origin.shape)}" if origin.shape else ""
    op = OpRows(record)[origin.op_index]
    if not op.inputs:
        return ""
    first = op.inputs[0]
    if first.producer < 0:
        return f" of {first.name or first.kind} {first}"
    maker = OpRows(record)[first.producer]
    name = (maker.module if maker.module != op.module else "") or _op_name(maker.name)
    return f" of {name} {first}"


def _op_name(name: str) -> str:
    """An op in a sentence: brackets have no name that anybody says."""
    short = name.rpartition(".")[2]
    return _SPOKEN.get(short, short)


def _follows(finding: Finding) -> str:
    cause = finding.caused_by
    if cause is None:
        return ""
    place = _place(cause.file, cause.line)
    return f"follows from {cause.kind} at {cause.module or cause.module_type or cause.op}" + (f" ({place})" if place else "")


def _try(fix: Fix) -> str:
    cost = f" ({fix.cost})" if fix.cost else ""
    return f"{fix.text}{cost}  {_RUNS if fix.verified else 'not verified'}"


def _place(file: str, line: int) -> str:
    return f"{file}:{line}" if file and line > 0 else file
