"""Calls with arguments that nobody picked: where torch runs, the rules give its shapes and object to nothing; where it refuses, they do."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tb_shapeplugin.ops.rules import gives, requires
from tests.ops.observed import blank, ids, observe

Run = Callable[[], Any]
SIZE = st.integers(1, 5)
DIM = st.integers(-3, 3)


def shapes(least: int = 1, most: int = 4) -> st.SearchStrategy[tuple[int, ...]]:
    """Shapes of so many axes."""
    return st.lists(SIZE, min_size=least, max_size=most).map(tuple)


def call(run: Callable[..., Any], *arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[Run]:
    """Calls of ``run`` with drawn arguments, not made yet."""
    return st.tuples(*arguments).map(lambda drawn: lambda: run(*drawn))


def pieces(a: tuple[int, ...], b: tuple[int, ...]) -> list[torch.Tensor]:
    """Two tensors to be joined."""
    return [blank(*a), blank(*b)]


CALLS: dict[str, st.SearchStrategy[Run]] = {
    "linear": call(lambda x, out, width, bias: F.linear(blank(*x), blank(out, width), blank(bias)), shapes(), SIZE, SIZE, SIZE),
    "addmm": call(lambda b, x, y: torch.addmm(blank(*b), blank(*x), blank(*y)), shapes(1, 2), shapes(2, 2), shapes(2, 2)),
    "bmm": call(lambda x, y: torch.bmm(blank(*x), blank(*y)), shapes(2, 3), shapes(3, 3)),
    "baddbmm": call(lambda b, x, y: torch.baddbmm(blank(*b), blank(*x), blank(*y)), shapes(1, 3), shapes(3, 3), shapes(3, 3)),
    "einsum": call(lambda x, y: torch.einsum("...ij,...kj->...ik", blank(*x), blank(*y)), shapes(), shapes()),
    "tensordot": call(lambda x, y, n: torch.tensordot(blank(*x), blank(*y), dims=n), shapes(2, 3), shapes(2, 3), st.integers(1, 2)),
    "cdist": call(lambda x, y: torch.cdist(blank(*x), blank(*y)), shapes(1, 3), shapes(1, 3)),
    "cosine_similarity": call(lambda x, y, d: F.cosine_similarity(blank(*x), blank(*y), dim=d), shapes(), shapes(), DIM),
    "batch_norm": call(lambda x, n: F.batch_norm(blank(*x), blank(n), blank(n), training=True), shapes(2, 4), SIZE),
    "group_norm": call(lambda x, g, n: F.group_norm(blank(*x), g, blank(n), blank(n)), shapes(3, 4), st.integers(1, 3), SIZE),
    "layer_norm": call(lambda x, shape: F.layer_norm(blank(*x), shape), shapes(), shapes(1, 2)),
    "permute": call(lambda x, dims: blank(*x).permute(dims), shapes(), st.integers(1, 4).flatmap(lambda n: st.permutations(range(n)))),
    "transpose": call(lambda x, a, b: blank(*x).transpose(a, b), shapes(), DIM, DIM),
    "squeeze": call(lambda x, d: blank(*x).squeeze(d), shapes(), DIM),
    "unsqueeze": call(lambda x, d: blank(*x).unsqueeze(d), shapes(), st.integers(-5, 5)),
    "repeat": call(lambda x, counts: blank(*x).repeat(counts), shapes(), shapes()),
    "flatten": call(lambda x, a: torch.flatten(blank(*x), a), shapes(), DIM),
    "mean": call(lambda x, d, keep: blank(*x).mean(d, keepdim=keep), shapes(), DIM, st.booleans()),
    "std_mean": call(lambda x, d, keep: torch.std_mean(blank(*x), d, keepdim=keep), shapes(), DIM, st.booleans()),
    "max": call(lambda x, d: blank(*x).max(d), shapes(), DIM),
    "cumsum": call(lambda x, d: blank(*x).cumsum(d), shapes(), DIM),
    "topk": call(lambda x, k, d: blank(*x).topk(k, d), shapes(), SIZE, DIM),
    "normalize": call(lambda x, d: F.normalize(blank(*x), dim=d), shapes(), DIM),
    "glu": call(lambda x, d: F.glu(blank(*x), d), shapes(), DIM),
    "split": call(lambda x, sizes, d: blank(*x).split(list(sizes), d), shapes(), shapes(1, 3), DIM),
    "chunk": call(lambda x, n, d: blank(*x).chunk(n, d), shapes(), SIZE, DIM),
    "tensor_split": call(lambda x, n, d: torch.tensor_split(blank(*x), n, d), shapes(), SIZE, DIM),
    "unbind": call(lambda x, d: blank(*x).unbind(d), shapes(), DIM),
    "stack": call(lambda a, b: torch.stack(pieces(a, b)), shapes(1, 2), shapes(1, 2)),
    "hstack": call(lambda a, b: torch.hstack(pieces(a, b)), shapes(1, 3), shapes(1, 3)),
    "pad": call(lambda x, pad, mode: F.pad(blank(*x), pad, mode), shapes(3, 4), shapes(4, 4), st.sampled_from(["reflect", "constant"])),
    "pixel_shuffle": call(lambda x, r: F.pixel_shuffle(blank(*x), r), shapes(2, 4), st.integers(1, 3)),
    "pixel_unshuffle": call(lambda x, r: F.pixel_unshuffle(blank(*x), r), shapes(2, 4), st.integers(1, 3)),
    "unfold": call(lambda x, d, size, step: blank(*x).unfold(d, size, step), shapes(), DIM, SIZE, SIZE),
    "windows": call(lambda x, k, p, s: F.unfold(blank(*x), k, padding=p, stride=s), shapes(2, 4), SIZE, st.integers(0, 2), SIZE),
    "fold": call(lambda x, side, k: F.fold(blank(*x), side, k), shapes(2, 3), SIZE, st.integers(1, 2)),
    "max_pool2d": call(
        lambda x, k, p, ceil: F.max_pool2d(blank(*x), k, padding=p, ceil_mode=ceil), shapes(2, 4), SIZE, st.integers(0, 2), st.booleans()
    ),
    "avg_pool3d": call(lambda x, k, ceil: F.avg_pool3d(blank(*x), k, ceil_mode=ceil), shapes(3, 5), SIZE, st.booleans()),
    "adaptive": call(lambda x, n: F.adaptive_avg_pool1d(blank(*x), n), shapes(1, 4), SIZE),
    "max_unpool1d": call(lambda x, y: F.max_unpool1d(blank(*x), ids(*y), (2,)), shapes(2, 3), shapes(2, 3)),
    "grid_sample": call(lambda x, g: F.grid_sample(blank(*x), blank(*g), align_corners=False), shapes(3, 4), shapes(3, 4)),
    "sdpa": call(lambda q, k, v: F.scaled_dot_product_attention(blank(*q), blank(*k), blank(*v)), shapes(2, 3), shapes(2, 3), shapes(2, 3)),
    "lstm_cell": call(
        lambda x, h: torch.lstm_cell(blank(*x), (blank(*h), blank(*h)), blank(8, 3), blank(8, 2)), shapes(2, 2), shapes(2, 2)
    ),
    "triplet": call(lambda a, b, c: F.triplet_margin_loss(*(blank(*s) for s in (a, b, c))), shapes(1, 2), shapes(1, 2), shapes(1, 2)),
}


@pytest.mark.parametrize("name", CALLS)
def test_torch_and_the_rules_agree_on_what_runs_and_what_comes_out(name: str) -> None:
    """The op's own checks on the CPU, against its rule: no false clash, no clash missed, torch's shapes first among the readings."""

    @given(CALLS[name])
    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    def agree(run: Run) -> None:
        seen = observe(run, "cpu")
        clash = requires(seen.call)
        if seen.error is not None:
            assert clash is not None, (seen.error, seen.call)
            return
        assert clash is None, (clash, seen.call)
        assert gives(seen.call)[0] == seen.shapes, seen.call

    agree()
