"""The console table's columns: one entry each, under the name that the row of ``modules`` has."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from tb_shapeplugin.base.errors import ShapesError
from tb_shapeplugin.base.units import bytes_text, compact_type, count_text, short_count
from tb_shapeplugin.record.views import ModuleRow, TensorRow

_SHOWN_TENSORS: Final = 3
_NONE: Final = "–"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table: a row, how it is labelled in the tree, and what it must know of the rest."""

    row: ModuleRow
    label: str
    device: str  # the usual one, not written
    has_called_parts: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name in the API, its head, a line's text. One with a smaller ``worth`` goes first where room is short."""

    name: str
    head: str
    text: Callable[[Line], str]
    worth: int
    right: bool = False  # numbers stand right, under their head, and are never cut
    narrowest: int = 12  # a text is cut down to that before a column goes; a type that is cut tells little


def _inputs(line: Line) -> str:
    return _types(line.row.inputs, line.device) if line.row.called else _NONE


def _outputs(line: Line) -> str:
    row = line.row
    if not row.called:
        return "not called itself" if line.has_called_parts else "never called"
    types = _types(row.outputs, line.device)
    if row.outcome != "ok" or any(tensor.assumed for tensor in row.outputs):
        return f"{types} assumed" if row.outputs else "failed" if row.failed_itself else "not finished"
    return types


def _types(tensors: Sequence[TensorRow], device: str) -> str:
    shown = [compact_type(tensor.dtype, tensor.shape, "" if tensor.device == device else tensor.device) for tensor in tensors]
    more = [f"+{len(shown) - _SHOWN_TENSORS} more"] if len(shown) > _SHOWN_TENSORS else []
    return " · ".join(shown[:_SHOWN_TENSORS] + more) or "no tensor"


def _own(text: Callable[[int | None], str], figure: Callable[[ModuleRow], int | None]) -> Callable[[Line], str]:
    """A figure that the module has once, however often it is called."""
    return lambda line: "(reused)" if line.row.call > 1 else text(figure(line.row))


COLUMNS: Final = {
    column.name: column
    for column in (
        Column("path", "Layer", lambda line: line.label, worth=10),
        Column("type", "Type", lambda line: line.row.type, worth=5),
        Column("call", "Call", lambda line: str(line.row.call) if line.row.called else _NONE, worth=3, right=True),
        Column("input_shapes", "Input", _inputs, worth=6, narrowest=24),
        Column("output_shapes", "Output", _outputs, worth=9, narrowest=24),
        Column("params", "Params", _own(count_text, lambda row: row.params), worth=8, right=True),
        Column("trainable_params", "Trainable", _own(count_text, lambda row: row.trainable_params), worth=4, right=True),
        Column("param_bytes", "Param bytes", _own(bytes_text, lambda row: row.param_bytes), worth=3, right=True),
        Column("local_param_bytes", "On this rank", _own(bytes_text, lambda row: row.local_param_bytes), worth=6, right=True),
        Column("buffer_bytes", "Buffer bytes", _own(bytes_text, lambda row: row.buffer_bytes), worth=2, right=True),
        Column("output_bytes", "Output bytes", lambda line: _output_bytes(line.row), worth=7, right=True),
        Column("flops", "FLOPs", lambda line: _flops(line.row), worth=7, right=True),
        Column("backward_flops", "FLOPs back", lambda line: _figure(short_count, line.row, line.row.backward_flops), worth=4, right=True),
        Column("saved_bytes", "Saved bytes", lambda line: _figure(bytes_text, line.row, line.row.saved_bytes), worth=6, right=True),
        Column("shared_with", "Shared with", lambda line: ", ".join(line.row.shared_with), worth=1),
    )
}

DEFAULT_COLUMNS: Final = ("path", "type", "output_shapes", "params", "flops", "output_bytes")


def flops_text(flops: int | None, complete: bool | None) -> str:
    """FLOPs in three digits, with ≥ where some op has no formula.

    Example:
        >>> flops_text(58_604_544, True), flops_text(1200, False), flops_text(None, False)
        ('58.6 M', '≥ 1.20 K', 'unknown')
    """
    return short_count(flops) if flops is None or complete else f"≥ {short_count(flops)}"


def _flops(row: ModuleRow) -> str:
    return flops_text(row.flops, row.flops_complete) if row.called else _NONE


def _figure(text: Callable[[int | None], str], row: ModuleRow, figure: int | None) -> str:
    return text(figure) if row.called else _NONE


def _output_bytes(row: ModuleRow) -> str:
    return bytes_text(row.output_bytes) if row.outputs or row.outcome == "ok" else _NONE


def columns_named(names: Sequence[str]) -> tuple[Column, ...]:
    """The columns of those names, in that order; ShapesError for none and for one that doesn't exist.

    Example:
        >>> [column.head for column in columns_named(("path", "params"))]
        ['Layer', 'Params']
    """
    unknown = [name for name in names if name not in COLUMNS]
    if unknown or not names or isinstance(names, str):
        given = repr(names) if isinstance(names, str) or not names else ", ".join(map(repr, unknown))
        raise ShapesError(f"columns: {given} names no column of the table. Give a list of some of {', '.join(COLUMNS)}.")
    return tuple(COLUMNS[name] for name in names)
