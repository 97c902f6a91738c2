"""Gives a run the contents that an earlier run of the same model read, so that nothing has to be kept alive to compute them again."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from tb_shapeplugin.base.faults import Faults
from tb_shapeplugin.tracing.alteration import Alteration, ShapeAndDtype, altered_fake
from tb_shapeplugin.tracing.arguments import tensors_in
from tb_shapeplugin.tracing.compat import FakeTensor, FakeTensorMode, TorchDispatchMode, fake_of, is_value_read, no_function_modes
from tb_shapeplugin.tracing.read_value import ReadValue
from tb_shapeplugin.tracing.substitution import substituted
from tb_shapeplugin.tracing.values import strays_lifted

_PLAIN = (FakeTensor, int, float, bool, type(None), torch.dtype, torch.device)
_NUMBER = torch.ops.aten._local_scalar_dense.default
_CONSTANT = torch.ops.aten.lift_fresh.default  # a number of the code becomes a tensor: fakes remember what it holds


class ReplayedValues(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch has no types there
    """Stands above a fake mode; where an op needs values, gives what the same op gave when that run came to it."""

    def __init__(self, mode: FakeTensorMode, known: Sequence[ReadValue], faults: Faults, alteration: Alteration | None = None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._mode = mode
        self._known = known
        self._faults = faults
        self._alteration = alteration
        self._next = 0
        self._assuming = False
        self.assumed = False  # was there a value that nobody knew, and 1 taken in its place?

    def begin(self) -> None:
        """The forward begins once more."""
        self._next = 0

    @contextlib.contextmanager
    def assuming(self) -> Iterator[None]:
        """Inside, a single number that nobody knows is 1."""
        self._assuming = True
        try:
            yield
        finally:
            self._assuming = False

    def outside(self) -> contextlib.AbstractContextManager[Any]:
        """Inside, tensors from outside are lifted before any function checks them: labels of another batch than the output's."""
        return contextlib.nullcontext() if self._alteration is None else _LiftedBefore(self._lifted)

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        given: tuple[tuple[Any, ...], dict[str, Any]] = (args, kwargs or {})
        if func is not _CONSTANT and not _all_plain(args, kwargs):
            lost = "fakes of the tensors that forward finds outside"
            given = self._faults.guarded(lost, lambda: strays_lifted(given, self._lifted), given)
        try:
            return func(*given[0], **given[1])
        except Exception as error:
            if self._assuming and func is _NUMBER and is_value_read(error):
                self.assumed = True
                return self._one(*given[0])
            if not is_value_read(error) or self._next >= len(self._known) or self._known[self._next].func is not func:
                raise
        known = self._known[self._next]
        self._next += 1
        with no_function_modes():
            return substituted(known.result, {id(tensor): self._made(tensor) for tensor in tensors_in(known.result)})

    @staticmethod
    def _one(number: torch.Tensor) -> bool | int | float:
        return 1.0 if number.is_floating_point() else number.dtype is torch.bool or 1

    def _lifted(self, stray: torch.Tensor) -> torch.Tensor:
        altered = self._altered(stray)
        return fake_of(self._mode, stray) if altered is None else altered_fake(self._mode, stray, altered)

    def _made(self, tensor: torch.Tensor) -> torch.Tensor:
        shape, dtype = self._altered(tensor) or (tensor.shape, tensor.dtype)
        with self._mode:
            return torch.empty(shape, dtype=dtype)

    def _altered(self, tensor: torch.Tensor) -> ShapeAndDtype | None:
        return None if self._alteration is None else self._alteration.of_stray(tensor)


def _all_plain(args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> bool:
    """Are there only fakes and single values? Most ops have nothing else, and a walk through nests takes longer than this question."""
    return not kwargs and all(type(arg) in _PLAIN for arg in args)


class _LiftedBefore(TorchFunctionMode):
    """Lifts tensors that stayed real as functions are called, above the checks of composite ones."""

    def __init__(self, lifted: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self._lifted = lifted
        self._known: dict[int, torch.Tensor] = {}

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        args, kwargs = strays_lifted((args, kwargs or {}), self._once)
        return func(*args, **kwargs)

    def _once(self, stray: torch.Tensor) -> torch.Tensor:
        if id(stray) not in self._known:
            self._known[id(stray)] = self._lifted(stray)
        return self._known[id(stray)]
