"""What if: peaks at other sizes and of other ways to train, against captures of the model at those sizes and trained in those ways."""

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

import tb_shapeplugin as shapes
from tb_shapeplugin.base.errors import ShapesError


class Block(nn.Module):
    """x + attention(x), then x + down(gelu(up(norm(x))))."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True)
        self.norm, self.up, self.down = nn.LayerNorm(16), nn.Linear(16, 64), nn.Linear(64, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(x, x, x)[0]
        result: torch.Tensor = x + self.down(F.gelu(self.up(self.norm(x))))
        return result


class Patches(nn.Module):
    """A picture in patches of 8 × 8, which are as many as the square of its side, through three blocks."""

    def __init__(self, checkpoints: bool = False) -> None:
        super().__init__()
        self.patch, self.head, self.checkpoints = nn.Conv2d(3, 16, 8, 8), nn.Linear(16, 5), checkpoints
        self.blocks = nn.ModuleList(Block() for _ in range(3))

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        x = self.patch(image).flatten(2).transpose(1, 2)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.checkpoints else block(x)
        result: torch.Tensor = self.head(x.mean(1))
        return result


class Words(nn.Module):
    """Tokens under a mask, through two blocks, to logits over the words."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.blocks = nn.Embedding(40, 16), nn.ModuleList(Block() for _ in range(2))

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        x = self.words(ids) * mask[..., None]
        for block in self.blocks:
            x = block(x)
        return x @ self.words.weight.T


def captured(
    model: nn.Module, args: tuple[Any, ...], optimizer: Callable[[Any], Any] = torch.optim.AdamW, **options: Any
) -> shapes.Capture:
    """A training step against labels that the loss finds outside, one a picture, one a word."""
    labels = torch.zeros(args[0].shape if len(args) > 1 else args[0].shape[:1], dtype=torch.long)

    def loss_of(output: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(output.flatten(0, -2), labels.flatten())

    made = optimizer(model.parameters())
    return shapes.capture(model, args, backward=True, optimizer=made, loss_fn=loss_of, verify_fixes=False, **options)


def picture(batch: int = 4, side: int = 32) -> tuple[torch.Tensor]:
    """Its arguments."""
    return (torch.randn(batch, 3, side, side),)


def text(batch: int = 4, sequence: int = 6) -> tuple[torch.Tensor, torch.Tensor]:
    """Its arguments."""
    return torch.zeros(batch, sequence, dtype=torch.long), torch.ones(batch, sequence)


@pytest.fixture(scope="module")
def patches() -> shapes.Capture:
    """Pictures, asked what if."""
    return captured(Patches(), picture(), what_if=True)


def test_batch_and_side_are_found_and_said(patches: shapes.Capture) -> None:
    """With the axes of the inputs that have them, and what they may be."""
    what_if = patches.what_if
    assert what_if is not None and what_if.unknown == {}
    found = {name: (size.logged, size.least, size.step, size.axes) for name, size in what_if.sizes.items()}
    assert found == {"batch": (4, 1, 1, ("image[0]",)), "side": (32, 32, 32, ("image[2]", "image[3]"))}
    assert what_if.variants == ("bfloat16 autocast", "bfloat16", "SGD", "SGD with momentum", "Adam", "checkpointed blocks")
    assert what_if.peak_bytes() == patches.totals.peak_bytes


@pytest.mark.parametrize(("batch", "side"), [(1, 32), (9, 32), (4, 64), (3, 96), (16, 160)])
def test_a_peak_at_other_sizes_is_that_of_a_capture_there(patches: shapes.Capture, batch: int, side: int) -> None:
    """Attention grows with the fourth power of the side; both sizes at once."""
    what_if = patches.what_if
    assert what_if is not None
    assert what_if.peak_bytes(batch=batch, side=side) == captured(Patches(), picture(batch, side)).totals.peak_bytes


VARIANTS: dict[str, tuple[Callable[[], nn.Module], Callable[[Any], Any], Any]] = {
    "bfloat16 autocast": (Patches, torch.optim.AdamW, lambda: torch.autocast("cpu", torch.bfloat16)),
    "bfloat16": (lambda: Patches().to(torch.bfloat16), torch.optim.AdamW, contextlib.nullcontext),
    "SGD": (Patches, torch.optim.SGD, contextlib.nullcontext),
    "SGD with momentum": (Patches, lambda p: torch.optim.SGD(p, 0.1, 0.9), contextlib.nullcontext),
    "Adam": (Patches, torch.optim.Adam, contextlib.nullcontext),
    "checkpointed blocks": (lambda: Patches(checkpoints=True), torch.optim.AdamW, contextlib.nullcontext),
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_another_way_to_train_takes_what_a_capture_of_it_tells(patches: shapes.Capture, variant: str) -> None:
    """At the logged sizes and at others."""
    make, optimizer, around = VARIANTS[variant]
    what_if = patches.what_if
    assert what_if is not None
    for batch, side in ((4, 32), (10, 64)):
        args = tuple(x.to(torch.bfloat16) for x in picture(batch, side)) if variant == "bfloat16" else picture(batch, side)
        with around():
            expected = captured(make(), args, optimizer).totals.peak_bytes
        assert what_if.peak_bytes(variant, batch=batch, side=side) == pytest.approx(expected, rel=0.001)


def test_a_sequence_is_found_in_tokens_and_their_mask() -> None:
    """Labels that the loss finds outside have it too."""
    what_if = captured(Words(), text(), what_if=True).what_if
    assert what_if is not None and what_if.unknown == {}
    assert what_if.sizes["sequence"].axes == ("ids[1]", "mask[1]")
    for batch, sequence in ((4, 6), (2, 50), (7, 128)):
        assert what_if.peak_bytes(batch=batch, sequence=sequence) == captured(Words(), text(batch, sequence)).totals.peak_bytes


def test_specs_and_a_forward_alone_are_told_too() -> None:
    """Without a backward there is no other optimizer, and nothing to compute once more."""
    capture = shapes.capture(Patches(), shapes.spec((4, 3, 32, 32)), what_if=True)
    what_if = capture.what_if
    assert what_if is not None and what_if.variants == ("bfloat16 autocast", "bfloat16")
    assert what_if.peak_bytes(batch=6) == shapes.capture(Patches(), shapes.spec((6, 3, 32, 32))).totals.peak_bytes


def test_the_largest_that_fits_is_the_last_that_does(patches: shapes.Capture) -> None:
    """One more is over the limit; None where not even the smallest fits."""
    what_if = patches.what_if
    assert what_if is not None
    for limit in (1 << 22, 1 << 30, 1 << 40):
        batch = what_if.largest("batch", limit, side=64)
        assert batch is not None and what_if.peak_bytes(batch=batch, side=64) <= limit < what_if.peak_bytes(batch=batch + 1, side=64)
    assert what_if.largest("batch", 1000) is None
    side = what_if.largest("side", 1 << 30)
    assert side is not None and side % 32 == 0 and what_if.peak_bytes(side=side) <= 1 << 30 < what_if.peak_bytes(side=side + 32)


class Pinned(nn.Module):
    """Works with a batch of 4 alone, and branches on how wide a picture is."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.register_buffer("shift", torch.zeros(4, 8, 1, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.conv(x) + self.shift
        if x.shape[-1] > 40:
            y = torch.relu(y)
        return y


def test_what_cannot_be_told_says_why() -> None:
    """A size that the code pins down, and one at which other ops run; the rest stands."""
    capture = shapes.capture(Pinned(), torch.randn(4, 3, 32, 32), backward=True, what_if=True)
    what_if = capture.what_if
    assert what_if is not None and not what_if.sizes
    assert what_if.unknown["batch"].startswith("at 8 instead of 4 the forward raised RuntimeError: Attempting to broadcast")
    assert what_if.unknown["side"] == "at 64 instead of 32 other ops run"
    assert what_if.peak_bytes() == capture.totals.peak_bytes
    with pytest.raises(ShapesError, match=r"what_if has no size 'side': at 64 instead of 32 other ops run\. It has none"):
        what_if.peak_bytes(side=64)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda what_if: what_if.peak_bytes(depth=3), "what_if has no size 'depth'. It has 'batch', 'side'"),
        (lambda what_if: what_if.peak_bytes(batch=0), "batch is 0. Give a whole number"),
        (lambda what_if: what_if.peak_bytes("Lion"), "no variant 'Lion'. It has 'bfloat16 autocast'"),
        (lambda what_if: what_if.largest("depth", 10), "what_if has no size 'depth'"),
    ],
)
def test_wrong_questions_are_refused(patches: shapes.Capture, ask: Callable[[Any], Any], words: str) -> None:
    """With what there is."""
    with pytest.raises(ShapesError, match=words):
        ask(patches.what_if)


def test_nothing_is_left_in_model_optimizer_and_process() -> None:
    """Fourteen runs and more: no gradient, no state, no wrapped forward, no random number drawn."""
    model, args = Patches(), picture()
    optimizer = torch.optim.SGD(model.parameters(), 0.1, 0.9)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    drawn = torch.get_rng_state()
    shapes.capture(model, args, backward=True, optimizer=optimizer, what_if=True)
    assert torch.equal(torch.get_rng_state(), drawn)
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert not optimizer.state and all(p.grad is None for p in model.parameters())
    assert all("forward" not in vars(module) for module in model.modules())


def test_it_survives_storing(patches: shapes.Capture, tmp_path: Path) -> None:
    """A saved capture answers alike; one that nobody asked has no answer."""
    patches.save(tmp_path / "a.shapes")
    (loaded,) = shapes.load(tmp_path / "a.shapes")
    assert loaded.what_if is not None and patches.what_if is not None
    assert loaded.record.what_if == patches.record.what_if
    assert loaded.what_if.peak_bytes("SGD", batch=11, side=64) == patches.what_if.peak_bytes("SGD", batch=11, side=64)
    assert shapes.capture(nn.Linear(2, 2), torch.ones(1, 2)).what_if is None
