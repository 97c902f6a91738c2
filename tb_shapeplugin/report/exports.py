"""A record as CSV, JSON and Markdown, for other programs and for issues; the numbers are those of the console."""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, Final

from tb_shapeplugin.base.errors import ShapesError
from tb_shapeplugin.base.units import bytes_text, count_text, short_count
from tb_shapeplugin.record.finding import Finding
from tb_shapeplugin.record.memory_view import MemoryView
from tb_shapeplugin.record.record import Record, Totals
from tb_shapeplugin.record.what_if_view import WhatIfView
from tb_shapeplugin.report.columns import flops_text
from tb_shapeplugin.report.four_lines import four_lines
from tb_shapeplugin.report.tables import TABLES, Cell, TableRow, modules, ops

_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r")  # what spreadsheets take for a formula
_SEPARATOR: Final = "; "  # between several tensors in one cell
_MARKDOWN_COLUMNS: Final = ("path", "type", "output_types", "params", "flops", "saved_bytes", "output_bytes")


def csv_text(record: Record, table: str) -> str:
    """One table as CSV, the names of its columns first. What nobody knows is an empty cell; a text that a spreadsheet would run gets a '.

    Raises:
        ShapesError: there is no such table.

    Example:
        >>> csv_text(record, "modules").splitlines()[0].split(",")[:3]
        ['path', 'type', 'call']
    """
    if table not in TABLES:
        raise ShapesError(f"there is no table {table!r}. The tables are {', '.join(TABLES)}.")
    rows = list(TABLES[table](record))
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    if rows:
        writer.writerow(rows[0])
    writer.writerows([_csv_cell(value) for value in row.values()] for row in rows)
    return out.getvalue()


def _csv_cell(value: Cell) -> str | int:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, (str, list)):
        return str(value) if isinstance(value, bool) else value
    text = _SEPARATOR.join(value) if isinstance(value, list) else value
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def json_text(record: Record) -> str:
    """Everything that a script asks for, as one JSON object; what nobody knows is null.

    Its keys: name, completed, error, execution, unchecked, versions, totals, modules, ops, findings, memory (peak and its terms, phases,
    unknown, estimated) and what_if (sizes, peaks of variants, unknown), these two null where they aren't known.

    Example:
        >>> json.loads(json_text(record))["totals"]["params"]
        18
    """
    told: dict[str, Any] = {
        "name": record.name,
        "completed": record.completed,
        "error": record.error,
        "execution": record.execution,
        "unchecked": list(record.unchecked),
        "versions": dict(record.versions),
        "totals": {field.name: getattr(record.totals, field.name) for field in fields(Totals)},
        "modules": list(modules(record)),
        "ops": list(ops(record)),
        "findings": [_finding(finding) for finding in record.findings],
        "memory": _memory(record),
        "what_if": _what_if(record),
    }
    return json.dumps(told, ensure_ascii=False, allow_nan=False, indent=1)


def _finding(finding: Finding) -> dict[str, Any]:
    plain = ("kind", "severity", "message", "module", "op", "file", "line", "code", "why", "torch_message")
    told: dict[str, Any] = {name: getattr(finding, name) for name in plain}
    told |= {"got": dict(finding.got), "want": dict(finding.want), "caused_by": finding.caused_by.message if finding.caused_by else None}
    told["places"] = [{"module": at.module, "call": at.call, "op": at.op, "file": at.file, "line": at.line} for at in finding.places]
    return told | {"fixes": [{"text": fix.text, "verified": fix.verified, "cost": fix.cost} for fix in finding.fixes]}


def _memory(record: Record) -> dict[str, Any] | None:
    if record.memory is None:
        return None
    view = MemoryView(record, record.memory)
    return {
        "ops": view.ops,
        "phases": [{"phase": phase, "end": end} for phase, end in view.phases],
        "peak": asdict(view.peak) if view.peak is not None else None,
        "saved_input_bytes": view.saved_input_bytes,
        "saved_buffer_bytes": view.saved_buffer_bytes,
        "unknown": dict(view.unknown),
        "estimated": dict(view.estimated),
    }


def _what_if(record: Record) -> dict[str, Any] | None:
    if record.memory is None or record.what_if is None:
        return None
    view = WhatIfView(record.memory, record.what_if)
    return {
        "sizes": [
            {"name": size.name, "logged": size.logged, "least": size.least, "step": size.step, "axes": list(size.axes)}
            for size in view.sizes.values()
        ],
        "peak_bytes": {name: view.peak_bytes(name) for name in view.variants},
        "unknown": dict(view.unknown),
    }


def markdown_text(record: Record) -> str:
    """The table of layers, the totals and the findings as GitHub shows them; what nobody knows is the word unknown.

    Example:
        >>> markdown_text(record).splitlines()[0]
        '### Net'
    """
    parts = [f"### {_escaped(record.name)}", _markdown_table(list(modules(record))), _markdown_totals(record)]
    parts += [_markdown_finding(finding, record) for finding in record.findings]
    return "\n\n".join(part for part in parts if part) + "\n"


def _markdown_finding(finding: Finding, record: Record) -> str:
    lines = _fenced(four_lines(finding, record, width=100))
    return f"**{finding.severity}: {_escaped(finding.kind)}**\n\n```text\n{lines}\n```"


def _markdown_table(rows: Sequence[TableRow]) -> str:
    if not rows:
        return ""
    heads = ("Layer", "Type", "Output", "Params", "FLOPs", "Saved bytes", "Output bytes")
    lines = [_line(heads), _line(["---", "---", "---", "---:", "---:", "---:", "---:"])]
    return "\n".join([*lines, *(_line(_markdown_cells(row)) for row in rows)])


def _markdown_cells(row: TableRow) -> list[str]:
    never = row["call"] is None
    texts: Mapping[str, Any] = {name: row[name] for name in _MARKDOWN_COLUMNS}
    call = f" (call {row['call']})" if isinstance(row["call"], int) and row["call"] > 1 else ""
    return [
        _escaped(f"{texts['path'] or '(root)'}{call}"),
        _escaped(texts["type"]),
        "never called" if never else _escaped(" · ".join(texts["output_types"])) or str(row["outcome"]),
        count_text(texts["params"]),
        "–" if never else flops_text(texts["flops"], bool(row["flops_complete"])),
        "–" if never else bytes_text(texts["saved_bytes"]),
        "–" if never else bytes_text(texts["output_bytes"]),
    ]


def _markdown_totals(record: Record) -> str:
    totals = record.totals
    told = [
        ("Params", f"{count_text(totals.params)}, trainable {count_text(totals.trainable_params)}"),
        ("Param bytes", bytes_text(totals.param_bytes)),
        ("FLOPs", flops_text(totals.flops, totals.flops_complete)),
        ("FLOPs of backward", short_count(totals.backward_flops)),
        ("Saved for backward", bytes_text(totals.saved_bytes)),
        ("Gradients", bytes_text(totals.gradient_bytes)),
        ("Optimizer state", bytes_text(totals.optimizer_bytes)),
        ("Peak", bytes_text(totals.peak_bytes)),
        ("Completed", "yes" if record.completed else "no"),
    ]
    return "\n".join(f"- {label}: {text}" for label, text in told)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    """No character of it means anything to Markdown or to HTML."""
    for sign in "\\`*_{}[]<>()#+!|~":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split())


def _fenced(text: str) -> str:
    """A fence inside would end the block."""
    return text.replace("```", "`\u200b``")
