"""Real values on demand: only the slice of ops that a value depends on runs for real, under a budget, nothing twice."""

import contextlib
import math
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from tb_shapeplugin.base.faults import Faults
from tb_shapeplugin.tracing.arguments import literal, tensors_in
from tb_shapeplugin.tracing.aten_ops import aten_op, may_draw
from tb_shapeplugin.tracing.compat import (
    NO_ENTRIES,
    NO_QUANTISED,
    FakeTensor,
    FakeTensorMode,
    TorchDispatchMode,
    fake_of,
    is_value_read,
    no_function_modes,
    op_name,
    real_execution,
    storage_key,
)
from tb_shapeplugin.tracing.draws import Draws
from tb_shapeplugin.tracing.eager import ask_eager
from tb_shapeplugin.tracing.read_value import ReadValue, read_value
from tb_shapeplugin.tracing.restore import generators_kept
from tb_shapeplugin.tracing.slices import Step, StepLog, endings, held_bytes, multiply_adds, peak_bytes, step_of
from tb_shapeplugin.tracing.substitution import substituted

# Multiply-adds that all slices of one run may cost together: about a second of one core.
BUDGET = 10_000_000_000
# Bytes that a slice may hold at once; that all slices together may keep for later ones, and of one storage.
_MOST_HELD, _MOST_KEPT, _LARGEST_KEPT = 1 << 31, 1 << 29, 1 << 25


_NOWHERE = torch.device("meta")

_trials = threading.local()


@contextlib.contextmanager
def only_trying() -> Iterator[None]:
    """Inside, nothing runs for real: calls with changed operands, tried to go on past a failure, are nobody's."""
    _trials.running = True
    try:
        yield
    finally:
        _trials.running = False


def trying() -> bool:
    """Is what this thread runs such a trial?"""
    return getattr(_trials, "running", False)


class Unknowable(Exception):
    """A value that would cost more than the budget, or that no device here holds; shape-level execution ends there."""


class ValuesOnDemand(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch has no types there
    """Stands above a fake mode; where an op needs values, computes them for the op alone and goes on with fakes.

    Works backwards from the value over the steps that wrote to the storages it depends on, so that views and in-place
    ops are right. What was computed is kept, unless it is large or a step writes to its storage: then its steps run again.
    """

    def __init__(
        self, mode: FakeTensorMode, roots: list[tuple[torch.Tensor, torch.Tensor]], faults: Faults | None = None, budget: int = BUDGET
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._faults = faults or Faults()
        self._mode = mode
        self._log = StepLog()
        self._draws = Draws()
        self._real: dict[int, torch.Tensor] = {}  # id of a fake -> its contents
        self._fakes: list[torch.Tensor] = []  # keeps those ids from being used again
        self._left = budget
        self._kept_bytes = 0
        self.corrected: dict[str, None] = {}  # ops whose shape-level kernel gives what their real one doesn't
        self._agreeing: set[Any] = set()  # calls for which the shape-level kernel gives what the real one does
        self.reads = 0  # calls that ran on real values
        self.known: list[ReadValue] = []  # what they gave
        self.assumed = False  # did the last of them stand on contents that nobody has?
        self._guessed: set[int] = set()  # ids of fakes whose contents stand on assumed ones
        for fake, real in roots:
            self._root(fake, real)

    def _root(self, fake: torch.Tensor, real: torch.Tensor) -> None:
        if real.device.type == "meta":  # it holds nothing
            return
        with real_execution(), no_function_modes():
            self._real[id(fake)] = real.detach()
        self._fakes.append(fake)

    def _lifted(self, tensor: torch.Tensor) -> torch.Tensor:
        """A tensor that stayed real as a fake whose contents are known."""
        fake = fake_of(self._mode, tensor)
        if id(fake) not in self._real:
            self._root(fake, tensor)
        return fake

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        given: tuple[tuple[Any, ...], dict[str, Any]] = (args, kwargs or {})
        op = self._spared(lambda: aten_op(func), None)
        if op is None or op.asks_device:
            return func(*given[0], **given[1])
        args, kwargs = self._spared(lambda: strays_lifted(given, self._lifted), given)
        try:
            result = func(*args, **kwargs)
        except Exception as error:
            if op.takes_functions or not self.reads_values(error):  # which branch torch.cond takes: the whole has to run for real
                raise
            return self.run(func, args, kwargs, error, assume=True)
        if op.quantises:
            raise RuntimeError(NO_QUANTISED)
        if op.counts_entries:
            return self.run(func, args, kwargs, RuntimeError(NO_ENTRIES), assume=True)
        if op.foreign_fake:
            result = self._spared(lambda: self._confirmed(func, args, kwargs, result), result)
        self._spared(lambda: self._take_down(func, args, kwargs, result), None)
        return result

    def _take_down(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], result: Any) -> None:
        step = step_of(func, args, kwargs, result)
        self._log.add(step)
        if aten_op(func).draws:
            self._draws.add(step)

    def _spared(self, action: Callable[[], Any], otherwise: Any) -> Any:
        """What the action gives; after a fault of ours no value is to be had any more, which ends the shape-level run at the next read."""
        try:
            return action()
        except Exception as fault:
            self._faults.note("values that forward reads", fault)
            self._left = -1
            return otherwise

    def reads_values(self, error: Exception) -> bool:
        """Did that error end a shape-level call because it met a read of values?"""
        return bool(self._spared(lambda: is_value_read(error), False))

    def _confirmed(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], result: Any) -> Any:
        """What a shape-level kernel gave; where the real one gives tensors of other types on zeros, fakes of those.

        The same op with operands of the same types is asked once.
        """
        types = tuple((tuple(t.shape), t.dtype) for t in tensors_in((args, kwargs)))
        call = (id(func), types, literal((args, kwargs), lambda _: 0))
        if call in self._agreeing:
            return result
        answer = ask_eager(func, args, kwargs)
        if answer is None or answer.error is not None:
            return result
        given, real = ([(tuple(t.shape), t.dtype) for t in tensors_in(value)] for value in (result, answer.output))
        if given == real:
            self._agreeing.add(call)
            return result
        self.corrected[op_name(func)] = None
        return substituted(answer.output, {id(tensor): fake_of(self._mode, tensor) for tensor in tensors_in(answer.output)})

    def run(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], error: Exception, *, assume: bool = False) -> Any:
        """That call on real values, its tensors as fakes; ``error`` again in a trial, and where the budget doesn't allow it.

        With ``assume``, zeros stand in for what a spec or a model without memory doesn't hold; ``assumed`` tells of it.
        """
        if trying():
            raise error
        schema = getattr(func, "_schema", None)  # a torch function has none: numpy's arrays may be written to later
        mutable = schema is not None and schema.is_mutable
        held = self._spared(lambda: self._known_contents((args, kwargs), assume, copied=schema is None or mutable), None)
        if held is None:
            raise error from None
        self.reads += 1
        with self._for_real(may_draw(func)):
            result = func(*held[0], **held[1])
        self._spared(lambda: self.known.append(read_value(func, result)), None)
        result = self._spared(lambda: self._taken_over(result, held, (args, kwargs)), error)
        if result is error:
            raise error from None
        if mutable:
            self._spared(lambda: self._take_down(func, args, kwargs, result), None)
        return result

    def _known_contents(self, value: Any, assume: bool, *, copied: bool) -> Any:
        try:
            return self._contents(value, assume=assume, copied=copied)
        except Unknowable:
            return None

    def _taken_over(self, result: Any, held: Any, fakes: Any) -> Any:
        """What a call gave for real, as fakes whose contents are known; an operand that it gave back stays that operand."""
        given = {id(real): fake for real, fake in zip(tensors_in(held), tensors_in(fakes), strict=True)}
        for tensor in tensors_in(result):
            if id(tensor) not in given:
                given[id(tensor)] = fake = fake_of(self._mode, tensor)
                self._root(fake, tensor)
                self._guessed.update({id(fake)} if self.assumed else ())
        return substituted(result, given)

    def contents(self, tensor: torch.Tensor) -> torch.Tensor | None:
        """What a fake would hold in the real run; None where that would cost too much."""
        try:
            content: torch.Tensor = self._contents(tensor)
        except Unknowable:
            return None
        return content

    def range_of(self, tensor: torch.Tensor, ignored: int | None = None) -> tuple[int, int] | None:
        """Smallest and largest entry, (0, 0) when none counts; the whole numbers around them, where they are none.

        None where that can't be known, or an entry is no number.
        """
        content = self.contents(tensor)
        if content is None:
            return None
        with self._for_real(drawing=False):
            counted = content if ignored is None else content[content != ignored]
            if not counted.numel():
                return 0, 0
            low, high = counted.min().item(), counted.max().item()
            return (math.floor(low), math.ceil(high)) if math.isfinite(low) and math.isfinite(high) else None

    @contextlib.contextmanager
    def _for_real(self, drawing: bool) -> Iterator[None]:
        with generators_kept(drawing), real_execution(), no_function_modes(), torch.no_grad():
            yield

    def _contents(self, value: Any, *, assume: bool = False, copied: bool = False) -> Any:
        """A nested value with its fakes replaced by what they hold; ``copied``: by copies that may be written to."""
        self.assumed = False
        tensors = tensors_in(value)
        wanted = {storage_key(t) for t in tensors if id(t) not in self._real or storage_key(t) in self._log.written}
        steps = self._log.slice_of(wanted, self._is_known) if wanted else []
        ends = endings(steps, map(storage_key, tensors))
        cost = sum(map(multiply_adds, steps))
        if cost > self._left or peak_bytes(steps, ends) > _MOST_HELD:
            raise Unknowable
        self._left -= cost
        known: dict[int, torch.Tensor] = {}
        in_place = any(step.writes for step in steps)
        with self._for_real(drawing=any(aten_op(step.func).draws for step in steps)):
            self._replay_all(steps, ends, known, in_place, assume)
            held = {id(t): self._held(t, known, in_place, assume) for t in tensors}
            self.assumed = not self._guessed.isdisjoint(held)
            if self.assumed and not assume:
                raise Unknowable
            return substituted(value, {fake: real.clone() for fake, real in held.items()} if copied else held)

    def _replay_all(self, steps: list[Step], ends: list[set[int]], known: dict[int, torch.Tensor], in_place: bool, assume: bool) -> None:
        """Runs a slice; ``known`` holds what is still needed behind it."""
        of_storage: dict[int, set[int]] = {}  # the fakes in known
        for step, ended in zip(steps, ends, strict=True):
            try:
                self._replay(step, known, in_place, assume)
            except Exception as error:
                raise Unknowable from error
            self._keep(step, known)
            for tensor in tensors_in((step.args, step.kwargs, step.result)):
                of_storage.setdefault(storage_key(tensor), set()).add(id(tensor))
            for key in ended:
                for fake in of_storage.pop(key, ()):
                    known.pop(fake, None)

    def _replay(self, step: Step, known: dict[int, torch.Tensor], in_place: bool, assume: bool) -> None:
        held = {id(t): self._held(t, known, in_place, assume) for t in tensors_in((step.args, step.kwargs))}
        args, kwargs = substituted((step.args, dict(step.kwargs)), held)
        if kwargs.get("device") == _NOWHERE:  # what is made there of sizes alone can be known
            kwargs["device"] = torch.device("cpu")
        if aten_op(step.func).draws:
            self._draws.come_to(step)
        result = step.func(*args, **kwargs)
        guessed = not self._guessed.isdisjoint(held)
        for fake, real in zip(tensors_in(step.result), tensors_in(result), strict=False):
            known[id(fake)] = real
            if guessed:
                self._guessed.add(id(fake))

    def _keep(self, step: Step, known: dict[int, torch.Tensor]) -> None:
        """What no step writes to need not be computed again."""
        for fake, key in zip(tensors_in(step.result), step.outputs, strict=True):
            held = held_bytes(fake)
            size = 0 if key in step.inputs else held  # a view takes no memory of its own
            if id(fake) not in known:  # real kernels may give fewer tensors than shape-level ones
                continue
            if key in self._log.written or held > _LARGEST_KEPT or self._kept_bytes + size > _MOST_KEPT:
                continue
            self._kept_bytes += size
            self._real[id(fake)] = known[id(fake)]
            self._fakes.append(fake)

    def _held(self, fake: torch.Tensor, known: dict[int, torch.Tensor], in_place: bool, assume: bool) -> torch.Tensor:
        held = known.get(id(fake))
        if held is None:
            root = self._real.get(id(fake))
            if root is None:  # a spec: nobody has its values
                if not assume:
                    raise Unknowable
                self._guessed.add(id(fake))
                root = torch.zeros((), dtype=fake.dtype).expand(tuple(fake.shape))
            known[id(fake)] = held = root.clone() if in_place else root
        return held

    def _is_known(self, step: Step) -> bool:
        if not step.outputs or step.writes or not self._log.written.isdisjoint(step.outputs):
            return False
        return all(id(tensor) in self._real for tensor in tensors_in(step.result))


def strays_lifted(
    given: tuple[tuple[Any, ...], dict[str, Any]], lifted: Callable[[torch.Tensor], torch.Tensor]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments with a fake in place of every tensor that stayed real, as those of closures and globals do."""
    strays = {id(t): lifted(t) for t in tensors_in(given) if not isinstance(t, FakeTensor)}
    return substituted(given, strays) if strays else given


class LiftedStrays(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch has no types there
    """Stands above a fake mode where no values are at hand: tensors of closures and globals become fakes, so that no op writes to them."""

    def __init__(self, mode: FakeTensorMode, faults: Faults) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._mode = mode
        self._faults = faults

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        if aten_op(func).counts_entries:
            raise RuntimeError(NO_ENTRIES)
        given: tuple[tuple[Any, ...], dict[str, Any]] = (args, kwargs or {})
        lost = "fakes of the tensors that forward finds outside"
        args, kwargs = self._faults.guarded(lost, lambda: strays_lifted(given, lambda stray: fake_of(self._mode, stray)), given)
        return func(*args, **kwargs)


class FunctionsOnDemand(TorchFunctionMode):
    """The same for functions that read memory before any aten op is met: packed sequences, numpy, tolist."""

    def __init__(self, values: ValuesOnDemand) -> None:
        super().__init__()
        self._values = values

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        if func is torch.Tensor.__format__ and args[0].dim() == 0:
            return self._formatted(*args)
        try:
            return func(*args, **(kwargs or {}))
        except (RuntimeError, TypeError) as error:
            takes_functions = any(callable(arg) for arg in args if not isinstance(arg, (torch.Tensor, torch.nn.Module)))
            if takes_functions or not self._values.reads_values(error):
                raise
            return self._values.run(func, args, kwargs or {}, error, assume=True)

    def _formatted(self, number: torch.Tensor, form: str) -> str:
        """A number as text: it may be part of a name, ``self[f"expert_{index}"]``; a fake's own text where it can't be known."""
        unknown = RuntimeError()
        try:
            text: str = self._values.run(torch.Tensor.__format__, (number, form), {}, unknown, assume=True)
        except RuntimeError as error:
            if error is not unknown:
                raise
            text = repr(number)
        return text
