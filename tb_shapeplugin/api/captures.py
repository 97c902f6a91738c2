"""Capture: what a run of a model gave, for reading, saving and printing. Needs no torch."""

import html
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TextIO

from tb_shapeplugin.base.errors import ShapesError
from tb_shapeplugin.record.cases import CaseView
from tb_shapeplugin.record.finding import Finding
from tb_shapeplugin.record.memory_view import MemoryView
from tb_shapeplugin.record.record import Record, Totals
from tb_shapeplugin.record.trace import Branch, Endpoint
from tb_shapeplugin.record.views import ModuleRows, OpRows, TensorRows, ValueRows
from tb_shapeplugin.record.what_if_view import WhatIfView
from tb_shapeplugin.report.console import console
from tb_shapeplugin.report.exports import csv_text, json_text, markdown_text
from tb_shapeplugin.wire.encode import encode
from tb_shapeplugin.wire.header import Header, header_of


class Capture:
    """One captured run of a model.

    ``modules``, ``ops``, ``tensors`` and ``values`` (contents that decided what ran) are sequences of light rows;
    ``findings`` is one tuple, the same objects at each read; ``str(capture)`` is the table. A failing model is a result:
    ``completed`` is False and ``findings`` says why.

    Example:
        >>> import torch, tb_shapeplugin as shapes
        >>> shapes.capture(torch.nn.Linear(4, 2), torch.ones(3, 4)).totals.params
        10
    """

    def __init__(self, record: Record) -> None:
        self._record = record
        self.modules = ModuleRows(record)
        self.ops = OpRows(record)
        self.tensors = TensorRows(record)
        self.values = ValueRows(record)

    @property
    def record(self) -> Record:
        """The columns behind it."""
        return self._record

    @property
    def name(self) -> str:
        """The model's name in the tab."""
        return self._record.name

    @property
    def completed(self) -> bool:
        """Did the forward go through?"""
        return self._record.completed

    @property
    def error(self) -> str:
        """The first error's type and first line, "" when there is none."""
        return self._record.error

    @property
    def unchecked(self) -> tuple[str, ...]:
        """What this run could not answer, and why it ran as it did."""
        return self._record.unchecked

    @property
    def execution(self) -> str:
        """``fake`` or ``real``: which run this is."""
        return self._record.execution

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found wrong, in the order in which it surfaces."""
        return self._record.findings

    @property
    def totals(self) -> Totals:
        """The whole model's figures; None where nobody knows."""
        return self._record.totals

    @cached_property
    def memory(self) -> MemoryView | None:
        """What is alive over an iteration, with its peak; None where that isn't known."""
        memory = self._record.memory
        return None if memory is None else MemoryView(self._record, memory)

    @cached_property
    def what_if(self) -> WhatIfView | None:
        """What memory other sizes and other ways to train would take; None where nobody asked or nothing is known."""
        memory, what_if = self._record.memory, self._record.what_if
        return None if memory is None or what_if is None else WhatIfView(memory, what_if)

    @property
    def inputs(self) -> tuple[Endpoint, ...]:
        """The leaves of the arguments; a tensor's row is ``tensors[endpoint.tensor]``."""
        return self._record.inputs

    @property
    def outputs(self) -> tuple[Endpoint, ...]:
        """The leaves of what forward gave."""
        return self._record.outputs

    @property
    def cases(self) -> Mapping[str, CaseView]:
        """The named inputs by their names, and what each ran of the whole; empty for a single input."""
        return {case.name: CaseView(self._record, case) for case in self._record.cases}

    @property
    def branches(self) -> tuple[Branch, ...] | None:
        """Code of forwards that no case ran; None where nobody asked: ``thorough=True`` and ``cases`` do."""
        return self._record.branches

    @property
    def versions(self) -> Mapping[str, str]:
        """What ran: Python and torch."""
        return self._record.versions

    @cached_property
    def stored(self) -> tuple[bytes, Header]:
        """The record's bytes, and what is told of it without opening them."""
        return encode(self._record), header_of(self._record)

    def save(self, path: str | Path) -> None:
        """Writes the record into a file that ``load`` reads; OSError when it can't be written."""
        Path(path).write_bytes(self.stored[0])

    def to_csv(self, path: str | Path | TextIO, table: str = "modules") -> None:
        """Writes one table as CSV; what nobody knows is an empty cell.

        Args:
            path: the file, or one that is open for text.
            table: "modules", "ops", "tensors", "memory" (what is alive at each aten op) or "allocations" (at the peak).

        Raises:
            ShapesError: there is no such table, or the file can't be written.
        """
        text = csv_text(self._record, table)
        if not isinstance(path, (str, Path)):
            path.write(text)
            return
        try:
            Path(path).write_text(text, encoding="utf-8")
        except OSError as error:
            raise ShapesError(
                f"{str(path)!r} can't be written: {error.strerror or error}. Choose a file in a directory that can."
            ) from error

    def to_json(self) -> str:
        """Totals, modules, ops, findings, memory and what if as one JSON object; what nobody knows is null."""
        return json_text(self._record)

    def to_markdown(self) -> str:
        """The table of layers, the totals and the findings, as issues and pull requests show them."""
        return markdown_text(self._record)

    def table(self, *, depth: int | None = None, columns: Sequence[str] | None = None) -> str:
        """The table of layers, the totals and the findings, as ``summary`` prints them.

        Raises:
            ShapesError: a depth below 0, or a column that doesn't exist.
        """
        return console(self._record, depth=depth, columns=columns)

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        state = "completed" if self.completed else f"failed: {self.error}"
        return f"<Capture {self.name!r}: {len(self.ops)} ops, {state}>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"
