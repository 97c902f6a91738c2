"""Faults that are planted in running models are found at their place, told once and repaired, by the bench's own judge."""

import linecache
from dataclasses import replace

import pytest
from planting import handmade
from planting.drawing import Fault, Plant, Planted, draw, fresh, with_faults
from planting.inputs import WrongInput
from planting.judging import diagnosed, explains, judged
from planting.layers import Side
from planting.statements import Statement
from planting.truth import raised_by


def said_wrong(code: str, right: str, wrong: str, *modules: str) -> Statement:
    """The statement of the handmade models that contains ``code``, with the part ``right`` of that written otherwise."""
    file = handmade.__file__
    (line,) = [number for number, text in enumerate(linecache.getlines(file), 1) if code in text][:1]
    column = linecache.getline(file, line).index(code) + code.index(right)
    return Statement(file, line, column, column + len(right), right, wrong, "", modules or ("",))


ATTENTIONS = tuple(f"blocks.{number}.attention" for number in range(3))

FAULTS: dict[str, tuple[str, tuple[Fault, ...]]] = {
    "linear": ("cnn", (Side("fc1", "in_features", 256, 300, "input side"),)),
    "convolution": ("mobile", (Side("4.widen.0", "in_channels", 12, 10, "input side"),)),
    "batch norm": ("point-net", (Side("bn2", "num_features", 48, 24, "input side"),)),
    "layer norm": ("language-model", (Side("blocks.1.norm2", "normalized_shape", (24,), (32,), "input side"),)),
    "recurrent": ("waves", (Side("over_time", "input_size", 16, 32, "input side"),)),
    "transposed convolution": ("unet", (Side("ups.1", "in_channels", 16, 32, "input side"),)),
    "three layers": (
        "language-model",
        (
            Side("blocks.0.feed.2", "in_features", 48, 40, "input side"),
            Side("blocks.2.attention.out", "in_features", 24, 64, "input side"),
            Side("head", "in_features", 24, 25, "input side"),
        ),
    ),
    "wide convolution": ("film", (Side("conv1", "out_channels", 8, 12, "output side"),)),
    "wide table": ("lstm_classifier", (Side("embedding", "embedding_dim", 12, 10, "output side"),)),
    "view": ("point-net", (said_wrong("self.turn(points).view(-1, 3, 3)", "3, 3", "3, 4"),)),
    "cat": ("tagger", (said_wrong("torch.cat([self.words(words), spelled], dim=-1)", "-1", "1"),)),
    "matmul": ("language-model", (said_wrong("(q @ k.transpose(-2, -1))", "k.transpose(-2, -1)", "k", *ATTENTIONS),)),
    "split": ("language-model", (said_wrong("self.qkv(x).split(d, dim=2)", "dim=2", "dim=1", *ATTENTIONS),)),
    "expand": ("patches", (said_wrong("self.token.expand(n, -1, -1)", "n, -1", "n + 1, -1"),)),
    "missing batch": ("detector", (WrongInput(0, "without its batch", ()),)),
    "channels last": ("mixer", (WrongInput(0, "with two axes exchanged", (1, 3)),)),
}


def planted(subject: str, faults: tuple[Fault, ...]) -> Plant:
    """The faults, each with the place at which plain PyTorch raises."""
    truths = []
    for fault in faults:
        with with_faults(subject, [fault]) as made:
            truth = raised_by(made)
        assert truth is not None, f"{fault} does no harm"
        truths.append(Planted(fault, truth))
    return Plant(subject, tuple(truths), 0)


@pytest.mark.parametrize("name", FAULTS)
def test_planted_faults(name: str) -> None:
    """Each is found and has a fix with which the model runs for real; nothing is said besides."""
    verdict = judged(planted(*FAULTS[name]))
    assert not verdict.raised
    assert all(verdict.found), verdict.errors
    assert not verdict.spurious
    assert not verdict.repeated
    assert all(verdict.fixed)
    assert not verdict.broken


def test_nothing_is_found_of_a_fault_that_is_not_there() -> None:
    """The judge counts a fault as missed where no error stands at its place, and an error elsewhere as spurious."""
    plant = planted(*FAULTS["linear"])
    (there,) = plant.faults
    elsewhere = replace(there, fault=replace(there.fault, module="conv1"), truth=replace(there.truth, modules=("conv1",)))
    capture, _, _ = diagnosed(fresh("cnn", [there.fault]))
    assert [explains(finding, there) for finding in capture.findings] == [True]
    assert [explains(finding, elsewhere) for finding in capture.findings] == [False]


def test_code_is_written_otherwise_for_a_while_only() -> None:
    """The model's functions and files are what they were as soon as the plant is gone."""
    subject, (fault,) = FAULTS["matmul"]
    code, text = handmade.HandAttention.forward.__code__, linecache.getlines(handmade.__file__)
    with with_faults(subject, [fault]) as (model, args, kwargs):
        assert handmade.HandAttention.forward.__code__ is not code
        with pytest.raises(RuntimeError):
            model(*args, **kwargs)
    assert handmade.HandAttention.forward.__code__ is code
    linecache.checkcache()
    assert linecache.getlines(handmade.__file__) == text
    model(*args, **kwargs)


def test_draws_can_be_replayed() -> None:
    """A plant is known by its seed and its number, whichever were drawn before, and does harm in plain PyTorch."""
    few = ("mlp", "cnn", "vae", "mixer")
    drawn = [draw(5, number, subjects=few) for number in range(4)]
    assert drawn[2] == draw(5, 2, subjects=few)
    assert len(set(map(str, drawn))) == len(drawn)
    for plant in drawn:
        for one in plant.faults:
            with with_faults(plant.subject, [one.fault]) as made:
                assert raised_by(made) == one.truth
