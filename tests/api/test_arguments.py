"""How a model's arguments are given, and what is said where they are not."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import torch
from torch import nn

import tb_shapeplugin as shapes


def given(capture: shapes.Capture) -> dict[str, Any]:
    """The capture's inputs: shapes of tensors, literals of everything else."""
    return {end.name: capture.tensors[end.tensor].shape if end.tensor >= 0 else end.literal for end in capture.inputs}


def two(x: torch.Tensor, y: Any = None, *, mode: str = "sum") -> torch.Tensor:
    """A model with a positional, an optional and a keyword argument."""
    other = y["y"] if isinstance(y, dict) else y
    return x if other is None else x + other


A, B = torch.ones(2, 3), torch.ones(3)


class Pair(NamedTuple):
    left: torch.Tensor
    right: torch.Tensor


def added(pair: Any) -> torch.Tensor:
    """One argument with two parts."""
    return pair[0] + pair[1]


def batched(batch: dict[str, torch.Tensor]) -> torch.Tensor:
    """One dict as the one argument."""
    return batch["image"] * 2


def variable(**tensors: torch.Tensor) -> torch.Tensor:
    """Whatever is given by keyword."""
    return sum(tensors.values(), torch.zeros(()))


ARGUMENTS: dict[str, tuple[Callable[..., Any], Any, Any, dict[str, Any]]] = {
    "a tensor is the one argument": (two, A, None, {"x": (2, 3)}),
    "a tuple is several": (two, (A, B), None, {"x": (2, 3), "y": (3,)}),
    "a list is the one argument": (added, [A, B], None, {"pair[0]": (2, 3), "pair[1]": (3,)}),
    "a named tuple is the one argument": (added, Pair(A, B), None, {"pair.left": (2, 3), "pair.right": (3,)}),
    "a tuple in a tuple is one argument": (added, ((A, B),), None, {"pair[0]": (2, 3), "pair[1]": (3,)}),
    "a mapping goes by keyword where forward has the names": (two, {"x": A, "y": B}, None, {"x": (2, 3), "y": (3,)}),
    "a mapping is the one argument where it hasn't": (batched, {"image": A}, None, {"batch['image']": (2, 3)}),
    "a mapping goes by keyword to **kwargs given a tuple of nothing": (variable, (), {"a": A, "b": B}, {"a": (2, 3), "b": (3,)}),
    "kwargs join args": (two, A, {"y": B, "mode": "mean"}, {"x": (2, 3), "y": (3,), "mode": "'mean'"}),
    "kwargs join a mapping": (two, {"x": A}, {"y": B}, {"x": (2, 3), "y": (3,)}),
    "a model's own name= never meets ours": (lambda x, name: x, A, {"name": "left"}, {"x": (2, 3), "name": "'left'"}),
    "nothing at all": (lambda: A, (), None, {}),
    "None, bool and nested parts": (
        lambda x, *rest: x,
        (A, None, True, {"k": [B]}),
        None,
        {"x": (2, 3), "rest[0]": "None", "rest[1]": "True", "rest[2]['k'][0]": (3,)},
    ),
}


@pytest.mark.parametrize("case", ARGUMENTS)
def test_arguments_reach_the_model_as_they_are_meant(case: str) -> None:
    """Each row of the table: what is given, and under which names the model got it."""
    model, args, kwargs, expected = ARGUMENTS[case]
    captured = shapes.capture(model, args, kwargs)
    assert captured.completed, captured.error
    assert given(captured) == expected


def test_a_tuple_of_ints_that_fits_forward_is_several_arguments() -> None:
    """An habitual size is refused only where it can't be what is meant."""
    captured = shapes.capture(lambda height, width: torch.ones(height, width), (2, 3))
    assert captured.tensors[captured.outputs[0].tensor].shape == (2, 3)


SIZES: dict[str, tuple[Any, str]] = {
    "a size": ((3, 224, 224), "args is (3, 224, 224), the size of a tensor rather than a tensor. Write shapes.spec((3, 224, 224)), with"),
    "a size of one axis": ((8,), "args is (8,), the size of a tensor rather than a tensor. Write shapes.spec((8,)), with"),
    "a list": ([8, 4], "Write shapes.spec((8, 4)), with the batch dim first, or give a real tensor."),
    "two sizes": (
        ((3, 8), (3, 4)),
        "args is (3, 8), (3, 4), the size of a tensor rather than a tensor. Write (shapes.spec((3, 8)), shapes.spec((3, 4))), with",
    ),
    "a list of sizes": ([(3, 8), (3, 4)], "Write (shapes.spec((3, 8)), shapes.spec((3, 4))), with"),
}


@pytest.mark.parametrize("case", SIZES)
@pytest.mark.parametrize("verb", [shapes.capture, shapes.summary])
def test_a_size_out_of_habit_is_answered_with_the_call_to_write(
    verb: Callable[..., Any], case: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One sentence with the values and the way out, and nothing is printed."""
    size, told = SIZES[case]
    with pytest.raises(shapes.ShapesError) as caught:
        verb(nn.Conv2d(3, 8, 3), size)
    assert told in str(caught.value)
    assert capsys.readouterr().out == ""


MISUSE: dict[str, tuple[Callable[[], Any], tuple[str, ...]]] = {
    "no model": (lambda: shapes.capture(42, A), ("int", "can't be called", "nn.Module or a function")),
    "a state dict": (lambda: shapes.capture(nn.Linear(3, 3).state_dict(), A), ("OrderedDict", "can't be called")),
    "an execution": (lambda: shapes.capture(two, A, execution="fast"), ("execution", "'fast'", "'auto'", "'fake'", "'real'")),
    "a source": (lambda: shapes.capture(two, A, source="all"), ("source", "'all'", "'none'", "'line'", "'full'")),
    "an empty name": (lambda: shapes.capture(two, A, name=""), ("name", "''", "non-empty")),
    "kwargs as a list": (lambda: shapes.capture(two, A, [B]), ("kwargs", "list", "dict")),
    "an unknown column": (lambda: shapes.summary(two, A, columns=["flavour"]), ("flavour",)),
    "an unknown option": (lambda: shapes.summary(two, A, colour=True), ("'colour'", "execution")),
    "an option of add_shapes": (lambda: shapes.add_shapes(None, two, A), ("NoneType", "SummaryWriter", "ShapeWriter(log_dir)")),
    "a path as writer": (lambda: shapes.add_shapes("runs", two, A), ("str", "SummaryWriter", "ShapeWriter(log_dir)")),
    "a spec's shape": (lambda: shapes.spec((2, -1)), ("(2, -1)", "ints that are 0 or more")),
    "a spec's dtype": (lambda: shapes.spec((2,), dtype="float23"), ("'float23'", "torch.float32")),
    "a spec where values are needed": (lambda: shapes.capture(two, shapes.spec((2, 3)), execution="real"), ("spec", "real tensor")),
    "a path that isn't there": (lambda: shapes.load("no/such/run"), ("no/such/run",)),
}


@pytest.mark.parametrize("case", MISUSE)
def test_misuse_is_told_in_one_sentence_with_the_way_out(case: str) -> None:
    """What, where, the values, the way out; never a traceback of ours."""
    call, parts = MISUSE[case]
    with pytest.raises(shapes.ShapesError) as caught:
        call()
    missing = [part for part in parts if part not in str(caught.value)]
    assert not missing, str(caught.value)
    assert "\n" not in str(caught.value)


def test_arguments_that_do_not_fit_are_a_finding_and_no_exception() -> None:
    """The signature stands beside what was given."""
    captured = shapes.capture(nn.Linear(3, 2), (A, B), {"training": True})
    (finding,) = captured.findings
    assert (captured.completed, finding.kind, finding.severity) == (False, "call_signature", "error")
    told = f"{finding.message} {finding.types} {finding.why}"
    assert "(input)" in told
    assert "training" in told
