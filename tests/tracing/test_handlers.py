"""The user's own handlers: what they catch is no failure, what they let through is one at its own place."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import nn

from tb_shapeplugin.record.trace import Trace
from tests.tracing.runs import EXECUTIONS, run

X = torch.ones(2, 5)
WRONG = torch.ones(3, 5)  # X @ WRONG fails, X @ WRONG.T runs


class Layered(nn.Module):
    """Runs a function of itself and x; ``fc`` fits, ``wide`` doesn't."""

    def __init__(self, function: Callable[..., torch.Tensor]) -> None:
        super().__init__()
        self.function = function
        self.fc = nn.Linear(5, 4)
        self.wide = nn.Linear(7, 4)
        self.lstm = nn.LSTM(7, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.function(self, x)


def _probes_an_op(self: Any, x: torch.Tensor) -> Any:
    try:
        return x @ WRONG
    except RuntimeError:
        return x @ WRONG.T


def _probes_a_layer(self: Any, x: torch.Tensor) -> Any:
    try:
        return self.wide(x)
    except (ValueError, RuntimeError):
        return self.fc(x)


def _probes_a_layers_own_check(self: Any, x: torch.Tensor) -> Any:
    try:
        return self.lstm(x)[0]
    except Exception:
        return self.fc(x)


def _catches_everything(self: Any, x: torch.Tensor) -> Any:
    try:
        return x @ WRONG
    except:  # noqa: E722  a bare one is what is tried
        return x


def _suppresses(self: Any, x: torch.Tensor) -> Any:
    with contextlib.suppress(RuntimeError, KeyError):
        x = x @ WRONG
    return x


def _handles_in_a_callee(self: Any, x: torch.Tensor) -> Any:
    def tried(*ways: Callable[[], torch.Tensor]) -> torch.Tensor:
        for way in ways:
            try:
                return way()
            except RuntimeError:
                continue
        raise AssertionError("no way")

    return tried(lambda: x @ WRONG, lambda: self.wide(x), lambda: self.fc(x))


def _handles_in_a_generator(self: Any, x: torch.Tensor) -> Any:
    def outputs() -> Iterator[torch.Tensor]:
        for layer in (self.wide, self.fc):
            try:
                yield layer(x)
            except RuntimeError:
                yield x

    return torch.cat(list(outputs()), 1)


def _handles_around_a_generator(self: Any, x: torch.Tensor) -> Any:
    outputs = (layer(x) for layer in (self.fc, self.wide))
    found = [next(outputs)]
    try:
        found.append(next(outputs))
    except RuntimeError:
        found.append(x)
    return torch.cat(found, 1)


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """A manager that swallows, written as a generator."""
    try:  # noqa: SIM105  the statement is what is tried
        yield
    except RuntimeError:
        pass


class Quiet:
    """The same, written as a class."""

    def __enter__(self) -> "Quiet":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        return kind is not None and issubclass(kind, RuntimeError)


def _swallows_by_a_generator(self: Any, x: torch.Tensor) -> Any:
    with quietly():
        x = x @ WRONG
    return x  # noqa: RET504  behind a manager that may swallow, both are reached


def _swallows_by_a_class(self: Any, x: torch.Tensor) -> Any:
    with Quiet():
        x = self.wide(x)
    return x  # noqa: RET504  behind a manager that may swallow, both are reached


def _swallows_by_a_stack(self: Any, x: torch.Tensor) -> Any:
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.suppress(RuntimeError))
        x = x @ WRONG
    return x  # noqa: RET504  behind a manager that may swallow, both are reached


HANDLED = (
    _probes_an_op,
    _probes_a_layer,
    _probes_a_layers_own_check,
    _catches_everything,
    _suppresses,
    _handles_in_a_callee,
    _handles_in_a_generator,
    _handles_around_a_generator,
    _swallows_by_a_generator,
    _swallows_by_a_class,
    _swallows_by_a_stack,
)


@pytest.mark.parametrize("execution", EXECUTIONS)
@pytest.mark.parametrize("function", HANDLED, ids=lambda function: function.__name__)
def test_what_a_handler_catches_is_no_failure(function: Any, execution: Any) -> None:
    """The model completes in plain PyTorch, and so it does here."""
    shape = tuple(Layered(function)(X).shape)
    trace = run(Layered(function), (X,), execution=execution)
    assert (trace.completed, trace.failures) == (True, ())
    assert trace.tensors[trace.outputs[0].tensor].shape == shape


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_a_handler_in_a_plain_function_around_the_model_is_respected(execution: Any) -> None:
    """It stands in a caller outside of any module's class."""
    model = Layered(lambda self, x: self.wide(x))

    def forgiving(x: torch.Tensor) -> torch.Tensor:
        try:
            return model(x)
        except RuntimeError:
            return x

    trace = run(forgiving, (X,), execution=execution)
    assert (trace.completed, trace.failures) == (True, ())


def _lets_another_type_through(self: Any, x: torch.Tensor) -> Any:
    try:
        x = self.wide(x)
    except (KeyError, IndexError):
        x = self.fc(x)
    return x @ WRONG


def _raises_it_again(self: Any, x: torch.Tensor) -> Any:
    try:
        x = self.wide(x)
    except RuntimeError as error:
        if "out of memory" not in str(error):
            raise
    return x @ WRONG


def _raises_another_from_it(self: Any, x: torch.Tensor) -> Any:
    try:
        x = self.wide(x)
    except RuntimeError as error:
        raise ValueError("the head doesn't fit") from error
    return x @ WRONG


def _raises_another_while_handling(self: Any, x: torch.Tensor) -> Any:
    try:
        x = self.wide(x)
    except RuntimeError:
        raise ValueError("the head doesn't fit")  # noqa: B904  without from is what is tried
    return x @ WRONG


def _only_cleans_up(self: Any, x: torch.Tensor) -> Any:
    try:
        x = self.wide(x)
    finally:
        self.seen = True
    return x @ WRONG


@contextlib.contextmanager
def timed() -> Iterator[None]:
    """A manager that lets everything through."""
    try:
        yield
    finally:
        pass


class Timed:
    """The same, written as a class."""

    def __enter__(self) -> "Timed":
        return self

    def __exit__(self, *_: Any) -> None:
        return None


class Unclear:
    """A manager of which the text doesn't tell what it lets through."""

    def __enter__(self) -> "Unclear":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        return bool(kind is KeyError)


def _inside_managers(self: Any, x: torch.Tensor) -> Any:
    with torch.no_grad(), timed(), Timed(), Unclear():
        x = self.wide(x)
    return x @ WRONG


def _at_the_last_attempt(self: Any, x: torch.Tensor) -> Any:
    for attempt in range(3):
        try:
            x = self.wide(x)
            break
        except RuntimeError:
            if attempt == 2:
                raise
    return x @ WRONG


def _defined_under_a_handler(self: Any, x: torch.Tensor) -> Any:
    try:

        def project(x: torch.Tensor) -> torch.Tensor:
            return self.wide(x)
    except RuntimeError:
        raise
    return project(x) @ WRONG


LET_THROUGH = (
    _lets_another_type_through,
    _raises_it_again,
    _raises_another_from_it,
    _raises_another_while_handling,
    _only_cleans_up,
    _inside_managers,
    _at_the_last_attempt,
    _defined_under_a_handler,
)


def _failing(trace: Trace) -> list[tuple[str, str]]:
    return [(trace.modules[failure.module].path, failure.call.short_name) for failure in trace.failures]


@pytest.mark.parametrize("execution", ["auto", "fake"])
@pytest.mark.parametrize("function", LET_THROUGH, ids=lambda function: function.__name__)
def test_what_a_handler_lets_through_is_gone_past_like_any_other(function: Any, execution: Any) -> None:
    """The layer under the handler is named, with its module, and the second fault behind it, too."""
    with pytest.raises((RuntimeError, ValueError)):
        Layered(function)(X)
    trace = run(Layered(function), (X,), execution=execution)
    assert _failing(trace) == [("wide", "linear"), ("", "matmul")]
    assert trace.failures[0].message == "mat1 and mat2 shapes cannot be multiplied (2x5 and 7x4)"
    assert trace.outputs, "the run went through"


@pytest.mark.parametrize("function", LET_THROUGH, ids=lambda function: function.__name__)
def test_a_real_run_names_the_layer_whose_error_came_through(function: Any) -> None:
    """Also where it is known only later that the handler doesn't keep it: the module is the one that failed."""
    assert _failing(run(Layered(function), (X,), execution="real")) == [("wide", "linear")]


def test_an_error_of_the_handler_itself_is_the_failure() -> None:
    """The probe was caught; what ended the model is the KeyError behind it."""

    def function(self: Any, x: torch.Tensor) -> Any:
        try:
            return x @ WRONG
        except RuntimeError:
            return {"other": x}["missing"]

    (failure,) = run(Layered(function), (X,)).failures
    assert (failure.error, failure.call.name) == ("KeyError", "python.error")
