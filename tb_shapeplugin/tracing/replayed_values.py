"""Gives a run the contents that an earlier run of the same model read, so that nothing has to be kept alive to compute them again."""

from collections.abc import Sequence
from typing import Any

import torch

from tb_shapeplugin.base.faults import Faults
from tb_shapeplugin.tracing.arguments import tensors_in
from tb_shapeplugin.tracing.compat import FakeTensorMode, TorchDispatchMode, fake_of, is_value_read, no_function_modes
from tb_shapeplugin.tracing.read_value import ReadValue
from tb_shapeplugin.tracing.substitution import substituted
from tb_shapeplugin.tracing.values import strays_lifted

_CONSTANT = torch.ops.aten.lift_fresh.default  # a number of the code becomes a tensor: fakes remember what it holds


class ReplayedValues(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch has no types there
    """Stands above a fake mode; where an op needs values, gives what the same op gave when that run came to it."""

    def __init__(self, mode: FakeTensorMode, known: Sequence[ReadValue], faults: Faults) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._mode = mode
        self._known = known
        self._faults = faults
        self._next = 0

    def begin(self) -> None:
        """The forward begins once more."""
        self._next = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        given: tuple[tuple[Any, ...], dict[str, Any]] = (args, kwargs or {})
        if func is not _CONSTANT:
            lost = "fakes of the tensors that forward finds outside"
            given = self._faults.guarded(lost, lambda: strays_lifted(given, self._lifted), given)
        try:
            return func(*given[0], **given[1])
        except Exception as error:
            if not is_value_read(error) or self._next >= len(self._known) or self._known[self._next].func is not func:
                raise
        known = self._known[self._next]
        self._next += 1
        with no_function_modes():
            return substituted(known.result, {id(tensor): self._made(tensor) for tensor in tensors_in(known.result)})

    def _lifted(self, stray: torch.Tensor) -> torch.Tensor:
        return fake_of(self._mode, stray)

    def _made(self, tensor: torch.Tensor) -> torch.Tensor:
        with self._mode:
            return torch.empty(tensor.shape, dtype=tensor.dtype)
