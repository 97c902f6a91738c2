"""A Record as text for a terminal: the table of layers, the totals, the findings."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from shutil import get_terminal_size
from textwrap import wrap
from typing import Final

from tb_shapeplugin.base.errors import ShapesError
from tb_shapeplugin.base.units import bytes_text, count_text
from tb_shapeplugin.record.finding import Finding, Severity
from tb_shapeplugin.record.record import VALUE_ORIGINS, Record
from tb_shapeplugin.record.row_order import row_order
from tb_shapeplugin.record.trace import ValueOrigin
from tb_shapeplugin.record.views import ModuleRow, ModuleRows
from tb_shapeplugin.report.columns import DEFAULT_COLUMNS, Line, columns_named, flops_text
from tb_shapeplugin.report.costs import about_flops, about_memory, about_what_if, memory_figures
from tb_shapeplugin.report.four_lines import four_lines
from tb_shapeplugin.report.table import TableColumn, table

_MARKS: Final[Mapping[Severity, str]] = {"error": "✕", "warning": "▲", "note": "·"}
_EXECUTIONS: Final = {"fake": "shape level, nothing computed", "real": "real run"}
_ORIGINS: Final[Mapping[ValueOrigin, str]] = {"read": "read", "assumed": "assumed", "random": "of random numbers"}
_SHOWN_BRANCHES: Final = 12
# They only hold a list: their parts are called, never they.
_CONTAINERS: Final = ("ModuleList", "ModuleDict")
_LABEL_WIDTH: Final = 22


def console(record: Record, *, depth: int | None = None, columns: Sequence[str] | None = None, width: int | None = None) -> str:
    """The table of layers in execution order, the totals, and each finding in four lines; plain text without colours.

    Args:
        record: what to show.
        depth: levels shown below the root; all when None. Failing calls are shown however deep they are.
        columns: names out of ``COLUMNS``; ``DEFAULT_COLUMNS`` when None, with "shared_with" where something is shared.
        width: characters a line may have; the terminal's when None, 100 without one.

    Raises:
        ShapesError: for a depth or width below 0, or a column that doesn't exist.

    Example:
        >>> print(console(record, depth=1))
    """
    for name, value in (("depth", depth), ("width", width)):
        if value is not None and value < 0:
            raise ShapesError(f"{name} is {value}. Give a whole number from 0, or None for the default.")
    room = get_terminal_size((100, 24)).columns if width is None else width
    blocks = [_layers(record, depth, columns, room), _totals(record, room), *_findings(record, room)]
    return "\n\n".join("\n".join(block) for block in blocks if block)


@dataclass(frozen=True, slots=True)
class _Placed:
    """A row in the printed tree: its level, and its name from the row that it stands under."""

    row: ModuleRow
    level: int
    name: str


def _layers(record: Record, depth: int | None, columns: Sequence[str] | None, width: int) -> list[str]:
    rows = ModuleRows(record)
    above = {path for row in rows if row.called for path in _paths_above(row.path)}
    shown = _shown(_placed(record, above), depth)
    if not shown:
        return []
    device = _usual_device(record)
    labels = _labels(shown, Counter(row.path for row in rows))
    lines = [Line(placed.row, label, device, placed.row.path in above) for placed, label in zip(shown, labels, strict=True)]
    names = columns if columns is not None else _default_columns(record, shown)
    return table(
        [
            TableColumn(column.head, tuple(map(column.text, lines)), column.worth, column.right, column.narrowest, column.name == "path")
            for column in columns_named(names)
        ],
        width,
    )


def _default_columns(record: Record, shown: Sequence[_Placed]) -> tuple[str, ...]:
    """With what the trainable ones are, what autograd keeps, and what is shared, each where it says something."""
    totals = record.totals
    added = {
        "trainable_params": totals.params != totals.trainable_params,
        "saved_bytes": bool(totals.saved_bytes),
        "local_param_bytes": totals.local_param_bytes is not None,
        "shared_with": any(placed.row.shared_with for placed in shown),
    }
    order = (
        "path",
        "type",
        "output_shapes",
        "params",
        "trainable_params",
        "local_param_bytes",
        "flops",
        "saved_bytes",
        "output_bytes",
        "shared_with",
    )
    return tuple(name for name in order if name in DEFAULT_COLUMNS or added.get(name))


def _placed(record: Record, above: Collection[str]) -> Iterator[_Placed]:
    """Rows under the call that they ran in; one from elsewhere in the tree of modules bears its whole path."""
    holders: list[tuple[str, int]] = []  # path and call, -1 where it was never called
    for row, (_, call) in zip(ModuleRows(record), row_order(record), strict=True):
        if not row.called and row.path in above and row.type in _CONTAINERS:
            continue
        caller = int(record.calls.parent[call]) if row.called else -1
        while holders and not (row.called and holders[-1][1] == caller >= 0) and not _holds(holders[-1], row):
            holders.pop()
        over = holders[-1][0] if holders else ""
        name = row.path[len(over) :].lstrip(".") if row.path.startswith(f"{over}.") else row.path
        yield _Placed(row, len(holders), name or record.name or row.type)
        holders.append((row.path, call))


def _holds(holder: tuple[str, int], row: ModuleRow) -> bool:
    """A module that wasn't called holds its parts; one that was, those of its parts that weren't."""
    path, call = holder
    inside = path != row.path and (not path or row.path.startswith(f"{path}."))
    return inside and (call < 0 or not row.called)


def _paths_above(path: str) -> Iterator[str]:
    while path:
        path = path.rpartition(".")[0]
        yield path


def _shown(placed: Iterable[_Placed], depth: int | None) -> list[_Placed]:
    """Rows down to that level, and those that lead to a failing call below it."""
    rows = list(placed)
    if depth is None:
        return rows
    shown: list[_Placed] = []
    wanted = -1  # rows above this level lead to a failing call
    for row in reversed(rows):
        if row.row.failed_itself:
            wanted = row.level
        if row.level <= depth or row.level == wanted:
            shown.append(row)
        if row.level == wanted:
            wanted -= 1
    return shown[::-1]


def _labels(shown: Sequence[_Placed], calls: Counter[str]) -> list[str]:
    """Names behind the lines of the tree, ✕ before those that fail, the call's number where there are several."""
    failing = [placed.row.failed_itself for placed in shown]
    some_fail = any(failing)
    labels = []
    for placed, lead, fails in zip(shown, _tree_lines([placed.level for placed in shown]), failing, strict=True):
        gutter = ("✕ " if fails else "  ") if some_fail else ""
        number = f" (call {placed.row.call})" if calls[placed.row.path] > 1 else ""
        labels.append(f"{gutter}{lead}{placed.name}{number}")
    return labels


def _tree_lines(levels: Sequence[int]) -> list[str]:
    leads: list[str] = []
    open_levels: set[int] = set()  # levels at which another row follows below
    for level in reversed(levels):
        branch = "├─ " if level in open_levels else "└─ "
        bars = "".join("│  " if above in open_levels else "   " for above in range(1, level))
        leads.append(bars + branch if level else "")
        open_levels = {other for other in open_levels if other < level} | {level}
    return leads[::-1]


def _usual_device(record: Record) -> str:
    devices = Counter(record.tensors.device.tolist())
    return record.strings[devices.most_common(1)[0][0]] if devices else "cpu"


def _totals(record: Record, width: int) -> list[str]:
    lines: list[str] = []
    for label, text in _total_lines(record):
        pieces = wrap(text, max(width - _LABEL_WIDTH, 20), break_long_words=False, break_on_hyphens=False)
        lines += [(label if place == 0 else "").ljust(_LABEL_WIDTH) + piece for place, piece in enumerate(pieces)]
    return lines


def _total_lines(record: Record) -> Iterator[tuple[str, str]]:
    totals = record.totals
    known = totals.params is not None and totals.trainable_params is not None
    figures = [
        ("Total params", count_text(totals.params)),
        ("Trainable params", count_text(totals.trainable_params)),
        ("Non-trainable params", count_text((totals.params or 0) - (totals.trainable_params or 0) if known else None)),
        ("Param bytes", bytes_text(totals.param_bytes)),
        *_on_this_rank(record),
        ("Buffer bytes", bytes_text(totals.buffer_bytes)),
        ("Input bytes", bytes_text(totals.input_bytes)),
        ("Output bytes", bytes_text(totals.output_bytes)),
        ("FLOPs", flops_text(totals.flops, totals.flops_complete)),
        *memory_figures(record),
    ]
    digits = max(len(text) for _, text in figures)
    yield from ((label, text.rjust(digits)) for label, text in figures)
    yield "Execution", _EXECUTIONS[record.execution] if not len(record.values) or record.execution == "real" else "shape level"
    if len(record.values):
        yield "Values", _values(record)
    for place, case in enumerate(record.cases):
        state = "" if case.completed else ", failed"
        yield "Cases" if place == 0 else "", f"{case.name}: {len(case.ops)} of {len(record.ops)} ops{state}"
    if _usual_device(record) != "cpu":
        yield "Device", _usual_device(record)
    yield from about_flops(record)
    yield from about_memory(record)
    yield from about_what_if(record)
    explained = any(finding.severity == "error" for finding in record.findings)
    if not record.completed:
        yield "Completed", "no" if explained or not record.error else f"no, {record.error}"
    for place, text in enumerate(record.unchecked):
        yield "Unchecked" if place == 0 else "", text
    branches = record.branches or ()
    for place, branch in enumerate(branches[:_SHOWN_BRANCHES]):
        yield "Never ran" if place == 0 else "", f"{branch.file}:{branch.line}  {branch.code}"
    if len(branches) > _SHOWN_BRANCHES:
        yield "", f"and {len(branches) - _SHOWN_BRANCHES} more branches"


def _on_this_rank(record: Record) -> Iterator[tuple[str, str]]:
    totals = record.totals
    if totals.local_params is not None:
        yield "Params on this rank", count_text(totals.local_params)
        yield "Bytes on this rank", bytes_text(totals.local_param_bytes)


def _values(record: Record) -> str:
    """``2 read, 1 assumed``: how many contents of tensors decided what ran."""
    counts = Counter(VALUE_ORIGINS[origin] for origin in record.values.origin.tolist())
    return ", ".join(f"{counts[origin]} {word}" for origin, word in _ORIGINS.items() if counts[origin])


def _findings(record: Record, width: int) -> Iterator[list[str]]:
    if record.findings:
        yield [_count(record.findings)]
    for finding in record.findings:
        head = f"{_MARKS[finding.severity]} {finding.severity}: {finding.kind}"
        yield [head, *four_lines(finding, record, width=width).splitlines()]


def _count(findings: Sequence[Finding]) -> str:
    counts = Counter(finding.severity for finding in findings)
    return ", ".join(f"{counts[word]} {word if counts[word] == 1 else word + 's'}" for word in _MARKS if word in counts)
