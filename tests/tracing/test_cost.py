"""What a capture asks of the process beside its work: memory is given back at once, the collector is let alone, the stack has room."""

import gc
import resource
import sys
import weakref
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import nn

import tb_shapeplugin as shapes
from tb_shapeplugin.tracing.collection import paused_collection, young_collection
from tb_shapeplugin.tracing.stack_room import with_room
from tb_shapeplugin.tracing.tensors import TensorBook


class Watched(nn.Module):
    """Layers whose outputs are counted while they are alive."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Sequential(nn.Linear(8, 8), nn.ReLU()) for _ in range(layers))
        self.most = array("l", [0])  # of a kind that no capture puts back

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        met: list[weakref.ref[torch.Tensor]] = []
        for layer in self.layers:
            x = layer(x)
            met.append(weakref.ref(x))
            self.most[0] = max(self.most[0], sum(one() is not None for one in met))
        return x


def test_a_real_run_holds_no_more_activations_than_a_plain_one() -> None:
    """Nothing of ours keeps a tensor alive that the model has let go: not even until the next collection of circles."""
    model = Watched(30)
    with torch.no_grad(), paused_collection():
        model(torch.ones(2, 8))
        plain, model.most[0] = model.most[0], 0
        shapes.capture(model, torch.ones(2, 8), execution="real")
    assert 0 < model.most[0] == plain


def test_a_storage_in_the_place_of_another_one_is_another_one() -> None:
    """Memory that is given back may be given to the next tensor; that one has a number of its own."""
    book = TensorBook()
    numbers = [book.facts[book.add(torch.ones(1000))].storage for _ in range(50)]
    assert numbers == list(range(50))


def test_views_have_the_number_of_their_base() -> None:
    """Tensors that share memory have one number, with whatever tensor between them gone."""
    book = TensorBook()
    base = torch.ones(4, 4)
    first = book.facts[book.add(base)].storage
    view = base[1:]
    del base
    assert book.facts[book.add(view)].storage == first
    assert book.facts[book.add(view.t())].storage == first


@contextmanager
def collector(*thresholds: int) -> Iterator[list[int]]:
    """A collector that is busy; gives the generations that it collects."""
    before, collected = gc.get_threshold(), []

    def note(phase: str, info: dict[str, Any]) -> None:
        if phase == "start":
            collected.append(info["generation"])

    gc.set_threshold(*thresholds)
    gc.callbacks.append(note)
    try:
        yield collected
    finally:
        gc.callbacks.remove(note)
        gc.set_threshold(*before)


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="that collector knows no full collections of its own accord")
def test_a_model_runs_for_real_without_full_collections() -> None:
    """What it throws away in circles is collected while it is young; the collector is set as before behind it."""
    rubbish: list[Any] = []

    class Wasteful(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            for _ in range(2000):
                circle: list[Any] = []
                circle.append(circle)
            rubbish.append([[] for _ in range(400_000)])  # enough to make the collector look at everything
            return x + 1

    shapes.capture(nn.Identity(), torch.ones(2), execution="real")  # what is found out once and for all
    gc.collect()
    with collector(200, 5, 5) as collected:
        shapes.capture(Wasteful(), torch.ones(2), execution="real")
        assert gc.get_threshold() == (200, 5, 5)
        during = list(collected)
        Wasteful()(torch.ones(2))
    assert during.count(0) > 20
    assert during.count(2) == 0 < collected[len(during) :].count(2)


def test_a_pause_inside_a_pause_ends_with_the_outer_one() -> None:
    """The collector is on again when the last one ends, and stays off where it was."""
    with paused_collection():
        with paused_collection():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
    gc.disable()
    try:
        with paused_collection():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_thresholds_that_are_set_meanwhile_are_kept() -> None:
    """Who sets the collector during a run means it."""
    before = gc.get_threshold()
    try:
        with young_collection():
            gc.set_threshold(123, 4, 5)
        assert gc.get_threshold() == (123, 4, 5)
    finally:
        gc.set_threshold(*before)


def test_the_room_on_the_stack_hands_everything_on() -> None:
    """What is called there gives what it gives, raises what it raises, and may nest as deep as anywhere."""

    def nested(depth: int) -> int:
        return 0 if depth == 0 else 1 + nested(depth - 1)

    def failing() -> int:
        raise KeyError("its own")

    assert with_room(lambda: nested(400)) == 400
    with pytest.raises(KeyError, match="its own"):
        with_room(failing)


def page_faults(run: Callable[[], Any]) -> int:
    """How many pages of memory the system gives meanwhile."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    run()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


@pytest.mark.skipif(not sys.platform.startswith("linux") or sys.version_info < (3, 11), reason="counts the pages that the system gives")
def test_no_depth_of_the_stack_makes_calls_ask_for_memory() -> None:
    """Wherever a run begins, its calls find their place on the stack: without room some depth costs a page or more a call."""
    calls = 2000

    def leaf() -> None:
        pass

    def many() -> None:
        for _ in range(calls):
            leaf()

    def from_place(words: int, run: Callable[[], Any]) -> int:
        def between() -> int:
            return page_faults(run)

        between.__code__ = between.__code__.replace(co_stacksize=words)
        return between()

    places = range(16, 16 + 2048, 8)  # every place in a piece of 16 KB, in steps that are smaller than a frame
    assert max(from_place(words, many) for words in places) > calls / 2, "no place is at the edge of a piece"
    assert max(from_place(words, lambda: with_room(many)) for words in places) < calls / 10
