"""The model, its arguments and the process are left as found: the whole zoo, failures and our own faults included."""

import gc
import itertools
import subprocess
import sys
import threading
from typing import Any

import pytest
import torch
from torch import nn

from tb_shapeplugin.tracing.execution import ExecutionOption
from tb_shapeplugin.tracing.modules import ModuleBook
from tb_shapeplugin.tracing.passes import recover
from tb_shapeplugin.tracing.recorder import Recorder
from tb_shapeplugin.tracing.tensors import TensorBook
from tests.tracing.pictures import picture, process_picture
from tests.tracing.runs import EXECUTIONS, built, run
from tests.zoo.meddlers import SEEN_BY_HOOKS
from tests.zoo.models import ZOO


@pytest.mark.parametrize("execution", EXECUTIONS)
@pytest.mark.parametrize("name", ZOO)
def test_the_model_its_arguments_and_the_process_are_left_as_found(name: str, execution: ExecutionOption) -> None:
    """Bit for bit, by an independent walk over everything that can be reached from model and arguments."""
    model, args, kwargs = built(name)
    before, process = picture(model, args, kwargs, SEEN_BY_HOOKS), process_picture()
    run(model, args, kwargs, execution=execution)
    assert process.differences(process_picture()) == []
    assert before.differences(picture(model, args, kwargs, SEEN_BY_HOOKS)) == []


@pytest.mark.parametrize("name", ["keeps_state", "writes_its_input", "resnet_training", "forgets_the_process"])
def test_the_photograph_of_these_tests_sees_what_a_plain_run_changes(name: str) -> None:
    """The tests above could not fail if the pictures were blind."""
    model, args, kwargs = built(name)
    before, process = picture(model, args, kwargs), process_picture()
    model(*args, **kwargs)
    assert before.differences(picture(model, args, kwargs)) + process.differences(process_picture())


class OwnFault(Exception):
    """Stands for a bug of ours."""


def _fault(*_: Any, **__: Any) -> Any:
    raise OwnFault("planted")


OWN_CODE = {
    "a rule": (recover, "gives"),
    "the recorder": (Recorder, "_write"),
    "the book of tensors": (TensorBook, "add"),
    "the book of calls": (ModuleBook, "enter"),
    "the end of a call": (ModuleBook, "leave"),
    "the last page": (ModuleBook, "module_facts"),
}


@pytest.mark.parametrize("execution", EXECUTIONS)
@pytest.mark.parametrize("name", ["three_faults_cnn", "resnet_training", "keeps_state", "bert"])
@pytest.mark.parametrize("part", OWN_CODE)
def test_all_is_left_as_found_when_our_own_code_fails(
    monkeypatch: pytest.MonkeyPatch, part: str, name: str, execution: ExecutionOption
) -> None:
    """Whatever becomes of the capture, a fault of ours changes nothing for the user."""
    model, args, kwargs = built(name)
    before, process = picture(model, args, kwargs), process_picture()
    monkeypatch.setattr(*OWN_CODE[part], _fault)
    try:
        run(model, args, kwargs, execution=execution)
    except Exception as error:
        assert "planted" in str(error)
    monkeypatch.undo()
    assert process.differences(process_picture()) == []
    assert before.differences(picture(model, args, kwargs)) == []


@pytest.mark.parametrize("execution", EXECUTIONS)
@pytest.mark.parametrize("name", ZOO)
def test_every_model_is_left_as_found_when_our_own_code_fails_midway(
    monkeypatch: pytest.MonkeyPatch, name: str, execution: ExecutionOption
) -> None:
    """The third op can't be written down: the run goes on without us, and nothing of the model's shows it."""
    model, args, kwargs = built(name)
    before, process = picture(model, args, kwargs, SEEN_BY_HOOKS), process_picture()
    write, calls = Recorder._write, itertools.count(1)

    def failing(*given: Any) -> int:
        return _fault() if next(calls) == 3 else write(*given)

    monkeypatch.setattr(Recorder, "_write", failing)
    trace = run(model, args, kwargs, execution=execution)
    monkeypatch.undo()
    assert next(calls) > 3 or sum(not op.failed for op in trace.ops) < 3, "the fault was never met"
    assert process.differences(process_picture()) == []
    assert before.differences(picture(model, args, kwargs, SEEN_BY_HOOKS)) == []


class Interrupted(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.norm(x)
        raise KeyboardInterrupt


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_an_interrupt_goes_through_and_leaves_all_as_found(execution: ExecutionOption) -> None:
    """Ctrl-C while a forward runs is no failure of the model."""
    model, args = Interrupted(), (torch.randn(4, 3),)
    before, process = picture(model, args), process_picture()
    with pytest.raises(KeyboardInterrupt):
        run(model, args, execution=execution)
    assert process.differences(process_picture()) == []
    assert before.differences(picture(model, args)) == []


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_a_graph_that_was_built_before_still_goes_backward(execution: ExecutionOption) -> None:
    """A capture between forward and backward doesn't touch what autograd saved: the gradients are those of no capture."""
    model, (x,), _ = built("resnet_evaluation")
    model.eval()
    model(x).sum().backward()
    expected = [parameter.grad.clone() for parameter in model.parameters()]
    model.zero_grad()
    loss = model(x).sum()
    run(model, (x,), execution=execution)
    loss.backward()
    assert all(torch.equal(parameter.grad, gradient) for parameter, gradient in zip(model.parameters(), expected, strict=True))


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_grad_mode_and_autocast_are_the_callers(execution: ExecutionOption) -> None:
    """What the user's ``with`` says holds inside the capture, too."""
    model, args = nn.Linear(4, 2), (torch.ones(3, 4),)
    assert run(model, args, execution=execution).tensors[-1].requires_grad
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        trace = run(model, args, execution=execution)
    output = trace.tensors[trace.outputs[0].tensor]
    assert (output.requires_grad, output.dtype) == (False, "bfloat16")


def _losses(seeded: threading.Event | None = None, enough: threading.Event | None = None) -> list[bytes]:
    """Fifty steps or more of training a net with dropout and batch norm on fixed data; each loss's bytes."""
    torch.manual_seed(7)
    if seeded is not None:
        seeded.set()
    model = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 1))
    x, y = torch.randn(32, 6), torch.randn(32, 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    losses = []
    while len(losses) < 50 or (enough is not None and not enough.is_set()):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach().numpy().tobytes())
    return losses


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_a_training_thread_beside_a_hundred_captures_has_the_same_losses(execution: ExecutionOption) -> None:
    """Patches and modes act in the capturing thread alone; the other one trains, drawing random numbers, as if alone."""
    seeded, enough = threading.Event(), threading.Event()
    beside: list[bytes] = []
    models = [built(name) for name in ("cnn", "resnet_evaluation", "three_faults_cnn")]
    thread = threading.Thread(target=lambda: beside.extend(_losses(seeded, enough)))
    thread.start()
    seeded.wait()
    try:
        for number in range(100):
            run(*models[number % 3], execution=execution)
    finally:
        enough.set()
        thread.join()
    alone = _losses()
    assert beside[: len(alone)] == alone


def test_captures_in_several_threads_take_their_patches_back() -> None:
    """However they overlap: nn.Module.__call__, the log of fakes and a library's probe are again what they were."""
    models = [built(name) for name in ("cnn", "bert", "keeps_state", "three_faults_cnn")]
    process = process_picture()
    failed: list[BaseException] = []

    def capture_often(number: int) -> None:
        try:
            for _ in range(6):
                run(*models[number])
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=capture_often, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert process.differences(process_picture()) == []


def test_a_capture_inside_a_forward_that_is_captured_leaves_all_as_found() -> None:
    """Captures nest."""
    inner, inner_args, _ = built("cnn")

    class Outer(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            run(inner, inner_args, execution="real")
            return x + 1

    model, args = Outer(), (torch.ones(2),)
    before, process = picture(model, args, inner, inner_args), process_picture()
    assert run(model, args, execution="real").completed
    assert process.differences(process_picture()) == []
    assert before.differences(picture(model, args, inner, inner_args)) == []


_DEEP = """
import sys, torch
from tests.zoo.structure import nested
from tests.tracing.runs import run
sys.setrecursionlimit({limit})
trace = run(nested(2000), (torch.randn(1, 2),))
print(trace.completed, trace.error[:80])
"""


@pytest.mark.parametrize("limit", [1000, 100_000])
def test_two_thousand_nested_modules_never_crash_the_process(limit: int) -> None:
    """Whether or not such a depth can be captured, the answer is a Trace."""
    done = subprocess.run([sys.executable, "-c", _DEEP.format(limit=limit)], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.startswith("False RecursionError") or done.stdout.startswith("True")


@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("name", ["mlp", "wrong_linear_width"])
def test_the_garbage_collector_is_as_found(name: str, enabled: bool) -> None:
    """It is paused while a twin is asked; on again afterwards only where it was on."""
    model, args, kwargs = built(name)
    before = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        run(model, args, kwargs)
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if before else gc.disable)()
