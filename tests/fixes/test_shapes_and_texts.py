"""The arithmetic and the wording that the kinds of fixes share."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tb_shapeplugin.fixes.adaptation import adaptations, aligned, keeps_order
from tb_shapeplugin.fixes.input_side import sides_near
from tb_shapeplugin.fixes.layer_argument import refitted
from tb_shapeplugin.fixes.layer_text import called, layer_text
from tb_shapeplugin.fixes.written_code import operand_text
from tb_shapeplugin.record.trace import ModuleFact
from tb_shapeplugin.record.values import Shape
from tb_shapeplugin.tracing.changes import operate

SHAPES = st.lists(st.integers(1, 5), min_size=1, max_size=4).map(tuple)


@given(SHAPES)
def test_each_adaptation_gives_the_shape_that_it_says(shape: tuple[int, ...]) -> None:
    """The shapes of all steps agree with torch's own, and no step is offered twice."""
    steps = list(adaptations(shape))
    for step in steps:
        assert tuple(operate(torch.zeros(shape), step.arguments, step.operation).shape) == step.shape, step.text
    assert len({(step.operation, step.text) for step in steps}) == len(steps)


@given(SHAPES)
def test_adaptations_are_written_as_code_that_runs(shape: tuple[int, ...]) -> None:
    """The text, put behind a tensor, does what the change does."""
    x = torch.arange(float(torch.zeros(shape).numel())).reshape(shape)
    for step in adaptations(shape):
        written = eval(f"x{step.text if step.text.startswith('[') else '.' + step.text}", {"x": x})
        assert torch.equal(written, operate(x, step.arguments, step.operation)), step.text


def test_axes_are_aligned_beside_those_of_another_shape() -> None:
    """Statistics of channels, and a mask of keys, find their axes among those of a map."""
    assert [step.shape for step in aligned((3,), (2, 3, 8, 8))] == [(1, 3, 1, 1)]
    assert [step.text for step in aligned((2, 5), (2, 4, 5, 6))] == ["[:, None, :, None]"]
    assert list(aligned((7,), (2, 3))) == []


@pytest.mark.parametrize(
    ("sizes", "whole", "expected"),
    [((14, 14), 49, (7, 7)), ((4, 5), 16, (4, 4)), ((64, 10), 160, (16, 10)), ((3, 3), 7, None)],
)
def test_sizes_are_refitted_to_the_number_of_elements(sizes: tuple[int, ...], whole: int, expected: tuple[int, ...] | None) -> None:
    """Equal sizes change together, single ones by themselves; where nothing divides there is no answer."""
    assert next(refitted(sizes, whole), None) == expected


def test_near_and_round_sides_are_tried_first() -> None:
    """The sides that pictures usually have are tried, too."""
    assert sides_near(30, 3) == [32, 30, 28]
    assert {224, 512} <= set(sides_near(112, 128))


@pytest.mark.parametrize(
    ("before", "after", "kept"),
    [
        ((845,), (5, 13, 13), True),
        ((4, 6, 10), (24, 2, 5), True),
        ((2, 1, 8), (2, 8), True),
        ((4, 6), (8, 3), False),
        ((4, 3, 8, 8), (4, 8, 8, 3), False),
    ],
)
def test_a_reshape_that_joins_or_splits_is_told_from_one_that_cuts_across(before: Shape, after: Shape, kept: bool) -> None:
    """What cuts across mixes samples with features, or colours with places."""
    assert keeps_order(before, after) is kept
    assert keeps_order(after, before) is kept


CONV = {"in_channels": 3, "out_channels": 8, "kernel_size": (7, 7), "stride": (2, 2)}


@pytest.mark.parametrize(
    ("fact", "changed", "text"),
    [
        (ModuleFact("c", "Conv2d", 0, "3, 8, bias=False", CONV), "in_channels", "nn.Conv2d(3, 8, 7, stride=2, bias=False)"),
        (ModuleFact("u", "Unflatten", 0, "", {"dim": 2, "unflattened_size": (7, 7)}), "unflattened_size", "nn.Unflatten(2, (7, 7))"),
        (ModuleFact("a.0", "Own", 0, "", {"width": 4}), "width", "a[0].width = 4"),
    ],
)
def test_layers_are_written_as_in_a_constructor(fact: ModuleFact, changed: str, text: str) -> None:
    """Positional arguments first, then what isn't the default; a layer of unknown form by the argument alone."""
    assert layer_text(fact, fact.attributes, changed) == text


def test_indices_in_paths_are_written_in_brackets() -> None:
    """A path can be typed as it is shown."""
    assert [called(path) for path in ("fc", "encoder.0.fc", "0")] == ["fc", "encoder[0].fc", "model[0]"]


@pytest.mark.parametrize(
    ("code", "call", "position", "text"),
    [
        ("y = torch.cat([s2, z], dim=1)", "cat", 1, "z"),
        ("return x @ self.w", "matmul", 1, "self.w"),
        ("scores[active] = self.proj(x)", "__setitem__", 2, "self.proj(x)"),
        ("x = a + b + c", "add", 0, None),
        ("return x.view(a +", "view", 0, None),
    ],
)
def test_operands_are_named_as_the_user_wrote_them(code: str, call: str, position: int, text: str | None) -> None:
    """Where a statement has two such calls, or can't be read, nothing is guessed."""
    assert operand_text(code, call, position) == text
