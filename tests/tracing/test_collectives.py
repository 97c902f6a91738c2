"""Collectives of torch.distributed: a capture in one rank waits for nobody, and says which sizes don't fit."""

import contextlib
import multiprocessing
import tempfile
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import nn

import tb_shapeplugin as shapes

pytestmark = pytest.mark.skipif(not dist.is_available(), reason="this torch has no torch.distributed")
PATIENCE_S = 120


@contextlib.contextmanager
def one_rank() -> Iterator[None]:
    """A gloo group of this process alone."""
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        yield
    finally:
        dist.destroy_process_group()


def gathered(x: torch.Tensor, rows: int) -> torch.Tensor:
    """Everybody's rows, into buffers of that many."""
    buffers = [torch.empty(rows, 3) for _ in range(dist.get_world_size())]
    dist.all_gather(buffers, x * 2)
    return torch.cat(buffers)


def gathered_whole(x: torch.Tensor, rows: int) -> torch.Tensor:
    """The same into one tensor."""
    whole = torch.empty(rows * dist.get_world_size(), 3)
    dist.all_gather_into_tensor(whole, x)
    return whole


def collected(x: torch.Tensor, rows: int) -> torch.Tensor:
    """The first rank gets all."""
    buffers = [torch.empty(rows, 3) for _ in range(dist.get_world_size())]
    dist.gather(x, buffers)
    return torch.cat(buffers)


def reduced_parts(x: torch.Tensor, rows: int) -> torch.Tensor:
    """Each rank gets its part of a sum."""
    part = torch.empty(rows, 3)
    dist.reduce_scatter_tensor(part, x)
    return part


def brings_its_own_group(x: torch.Tensor, rows: int) -> torch.Tensor:
    """Sets up and takes down what it needs, as a script does."""
    with one_rank():
        return gathered(x, rows)


def leaves_its_group(x: torch.Tensor, rows: int) -> torch.Tensor:
    """The same, but the group stays, also where it fails."""
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    return gathered(x, rows)


@pytest.mark.parametrize(
    ("run", "op", "code"),
    [
        (gathered, "all_gather", "dist.all_gather(buffers, x * 2)"),
        (gathered_whole, "all_gather_into_tensor|all_gather_single", "dist.all_gather_into_tensor(whole, x)"),
        (collected, "gather", "dist.gather(x, buffers)"),
        (reduced_parts, "reduce_scatter_tensor|reduce_scatter_single", "dist.reduce_scatter_tensor(part, x)"),
    ],
)
def test_parts_that_dont_fit_their_places_are_told_where_they_are_sent(run: Callable[..., Any], op: str, code: str) -> None:
    """Both numbers, the op under the name that the user called, torch's own words; what fits completes."""
    with one_rank():
        capture = shapes.capture(run, (torch.ones(5, 3), 4))
        (finding,) = capture.findings
        assert (finding.kind, finding.code) == ("collective", code)
        assert finding.op.removeprefix("torch.distributed.") in op.split("|")
        assert (dict(finding.got), dict(finding.want)) == ({"rows": 5}, {"rows": 4})
        assert "5" in finding.torch_message
        assert finding.origin is not None
        assert not capture.completed
        with pytest.raises(RuntimeError):
            run(torch.ones(5, 3), 4)
        fitting = shapes.capture(run, (torch.ones(4, 3), 4))
        assert fitting.completed
        assert [made.name for made in fitting.ops].count(finding.op) == 1


@pytest.mark.parametrize("run", [brings_its_own_group, leaves_its_group])
def test_groups_that_come_up_in_a_capture_go_down_with_it(run: Callable[..., Any]) -> None:
    """Each run begins as the first one did, and the process is left as found."""
    capture = shapes.capture(run, (torch.ones(5, 3), 4))
    assert [finding.kind for finding in capture.findings] == ["collective"]
    assert not dist.is_initialized()
    assert shapes.capture(run, (torch.ones(4, 3), 4)).completed
    assert not dist.is_initialized()


def test_values_behind_a_collective_can_be_read() -> None:
    """With one rank they are exact."""

    def branching(x: torch.Tensor) -> torch.Tensor:
        dist.all_reduce(x)
        dist.barrier()
        return x.relu() if x.sum() > 14 else x.sigmoid()

    with one_rank():
        capture = shapes.capture(branching, torch.ones(5, 3))
    assert capture.completed
    assert capture.ops[-1].name == "torch.Tensor.relu"
    assert not capture.unchecked


def test_a_handler_of_the_users_keeps_the_error() -> None:
    """Who passes over it completes."""

    def passes_over(x: torch.Tensor) -> torch.Tensor:
        with contextlib.suppress(RuntimeError):
            gathered(x, 4)
        return x.relu()

    with one_rank():
        capture = shapes.capture(passes_over, torch.ones(5, 3))
    assert capture.completed
    assert not capture.findings


def test_a_real_run_tells_the_backends_words() -> None:
    """With ``execution="real"`` the collective is the user's own affair."""
    with one_rank():
        capture = shapes.capture(gathered, (torch.ones(5, 3), 4), execution="real")
    (finding,) = capture.findings
    assert (finding.kind, finding.op) == ("collective", "torch.distributed.all_gather")
    assert "invalid tensor size" in finding.torch_message


class Synchronised(nn.Module):
    """x[n, 3] -> a layer, then the sum and all parts of all ranks; copies of it may be refused."""

    def __init__(self, copies: bool) -> None:
        super().__init__()
        self.layer, self.copies = nn.Linear(3, 3), copies

    def __deepcopy__(self, memo: dict[int, Any]) -> "Synchronised":
        if not self.copies:
            raise RuntimeError("one of a kind")
        twin = Synchronised(True)
        memo[id(self)] = twin
        return twin

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = self.layer(x)
        dist.all_reduce(hidden)
        parts = [torch.empty_like(hidden) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, hidden)
        dist.barrier()
        return torch.cat(parts)


def _captures_in_one_rank(rank: int, rendezvous: str, answers: Any) -> None:
    dist.init_process_group("gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=2, timeout=timedelta(seconds=PATIENCE_S))
    if rank == 0:
        for copies in (True, False):
            capture = shapes.capture(Synchronised(copies), torch.ones(2, 3))
            answers.put((capture.completed, capture.execution, [shape.shape for shape in capture.ops[-1].outputs], capture.unchecked))
        uneven = shapes.capture(gathered, (torch.ones(5, 3), 4))
        answers.put([(finding.kind, dict(finding.got), dict(finding.want)) for finding in uneven.findings])
    total = torch.ones(1)
    dist.all_reduce(total)  # all that the other rank ever takes part in
    answers.put(float(total))
    dist.destroy_process_group()


def test_a_capture_in_one_of_two_ranks_waits_for_nobody() -> None:
    """At the shape level, and where the model has to run for real: the other rank's parts are simulated, and the record says so."""
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    with tempfile.TemporaryDirectory() as folder:
        rendezvous = str(Path(folder) / "rendezvous")
        ranks = [context.Process(target=_captures_in_one_rank, args=(rank, rendezvous, answers)) for rank in range(2)]
        for process in ranks:
            process.start()
        told = [answers.get(timeout=PATIENCE_S) for _ in range(5)]
        for process in ranks:
            process.join(PATIENCE_S)
    assert [process.exitcode for process in ranks] == [0, 0]
    captures = [answer for answer in told if isinstance(answer, tuple)]  # of one rank, in its order; the totals come when they come
    for (completed, execution, shape, unchecked), expected in zip(captures, ("fake", "real"), strict=True):
        assert (completed, execution, shape) == (True, expected, [(4, 3)])
        assert any("what other ranks give to torch.distributed.all_gather" in text for text in unchecked)
    assert [answer for answer in told if isinstance(answer, list)] == [[("collective", {"rows": 5}, {"rows": 4})]]
    assert [answer for answer in told if isinstance(answer, float)] == [2.0, 2.0]
