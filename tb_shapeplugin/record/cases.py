"""One case of a union of several inputs: what it ran, with its own shapes."""

from dataclasses import replace
from functools import cached_property
from typing import Final

from tb_shapeplugin.record.record import Record
from tb_shapeplugin.record.trace import Case, Endpoint
from tb_shapeplugin.record.views import OpRows, TensorRows


class CaseView:
    """What one named input ran of the whole graph. Its ops and tensors have the numbers of the whole.

    Example:
        >>> [op.name for op in captured.cases["text"].ops]
        ['torch.nn.functional.embedding']
    """

    def __init__(self, record: Record, case: Case) -> None:
        self._record: Final = record
        self._case: Final = case

    @property
    def name(self) -> str:
        """As the dict of cases names it; ``default`` for the arguments themselves."""
        return self._case.name

    @property
    def completed(self) -> bool:
        """Did this case go through?"""
        return self._case.completed

    @property
    def error(self) -> str:
        """Its first error's type and first line, "" when there is none."""
        return self._case.error

    @property
    def execution(self) -> str:
        """``fake`` or ``real``: how it ran."""
        return self._case.execution

    @property
    def inputs(self) -> tuple[Endpoint, ...]:
        """The leaves of its arguments."""
        return self._case.inputs

    @property
    def outputs(self) -> tuple[Endpoint, ...]:
        """The leaves of what forward gave it."""
        return self._case.outputs

    @property
    def ops(self) -> OpRows:
        """The ops that it ran, in execution order."""
        return OpRows(self._own, self._case.ops)

    @property
    def tensors(self) -> TensorRows:
        """Every tensor of the whole, by id, with the shapes of this case."""
        return TensorRows(self._own)

    @cached_property
    def _own(self) -> Record:
        shape = self._record.tensors.shape.copy()
        index = {row: place for place, row in enumerate(self._record.shapes)}
        for tensor, own in self._case.shapes.items():
            shape[tensor] = index[own]
        return replace(self._record, tensors=replace(self._record.tensors, shape=shape))

    def __repr__(self) -> str:
        state = "completed" if self.completed else f"failed: {self.error}"
        return f"<case {self.name!r}: {len(self._case.ops)} ops, {state}>"
