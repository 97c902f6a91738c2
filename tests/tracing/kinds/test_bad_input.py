"""Inputs that don't fit, models and inputs on devices that aren't there: one sentence that names them."""

from typing import Any

import pytest
import torch
from torch import nn

import tb_shapeplugin as shapes
from tests.tracing.kinds.checking import checked
from tests.tracing.kinds.small import TwoLayers, batch


def sentence(capture: Any) -> str:
    """The one finding's message."""
    assert not capture.completed
    assert len(capture.findings) == 1, [finding.message for finding in capture.findings]
    return str(capture.findings[0].message)


@pytest.mark.parametrize("execution", ["auto", "fake", "real"])
@pytest.mark.parametrize(
    ("args", "named"),
    [((), ["x"]), ((1.0, 2, None), ["TwoLayers.forward", "(x)"]), ((None,), ["NoneType"]), (("text",), ["str"]), (([1.0],), ["list"])],
)
def test_unfit_arguments_are_told_in_one_sentence(args: tuple[Any, ...], named: list[str], execution: Any) -> None:
    """What is missing or too much, or which argument is no tensor."""
    capture = shapes.capture(TwoLayers(), args, execution=execution)
    text = sentence(capture) + capture.findings[0].torch_message
    assert all(word in text for word in named), text


def test_a_model_on_meta_and_an_input_with_values() -> None:
    """Eager refuses it; the sentence names both devices and the layer."""
    model = TwoLayers().to("meta")
    for execution in ("auto", "real", "fake"):
        capture = shapes.capture(model, (batch(),), execution=execution)
        message = sentence(capture)
        assert "meta" in message and "cpu" in message, message
        assert capture.findings[0].module == "first"


def test_a_model_on_meta_with_an_input_on_meta_completes() -> None:
    """The way to ask about a model too large for this machine."""
    capture = checked(TwoLayers().to("meta"), (batch().to("meta"),))
    assert {tensor.device for op in capture.ops for tensor in op.outputs} == {"meta"}


def test_a_model_on_meta_that_reads_a_value_says_what_was_assumed() -> None:
    """There is no value to read: a zero stands in, and the line that read it is told."""

    class Reads(TwoLayers):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return super().forward(x) if x.sum() > 0 else x

    capture = shapes.capture(Reads().to("meta"), (batch().to("meta"),))
    assert any("nobody gave" in text and "test_bad_input.py:" in text for text in capture.unchecked), capture.unchecked
    assert not shapes.capture(Reads().to("meta"), (batch().to("meta"),), execution="real").completed


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
@pytest.mark.parametrize("execution", ["auto", "fake"])
def test_an_input_on_another_device_than_the_model(execution: Any) -> None:
    """A spec may name a device that isn't there; the clash is told as on a machine that has it."""
    message = sentence(shapes.capture(TwoLayers(), shapes.spec((3, 4), device="cuda"), execution=execution))
    assert "cuda" in message and "cpu" in message, message


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
@pytest.mark.parametrize("execution", ["auto", "fake"])
def test_inputs_on_two_devices(execution: Any) -> None:
    """Two arguments that clash with one another."""
    capture = shapes.capture(lambda x, y: x + y, (shapes.spec((3,), device="cuda:0"), torch.ones(3)), execution=execution)
    message = sentence(capture)
    assert "cuda:0" in message and "cpu" in message, message


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_model_that_moves_its_input_to_a_missing_device() -> None:
    """``x.cuda()`` inside a forward: a plain run can't, and one sentence says so."""

    class Moves(TwoLayers):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return super().forward(x.to("cuda"))

    with pytest.raises((RuntimeError, AssertionError)):
        Moves()(batch())
    for execution in ("auto", "real"):
        capture = shapes.capture(Moves(), (batch(),), execution=execution)
        assert not capture.completed
        assert "CUDA" in capture.error or "cuda" in capture.error


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_model_that_makes_a_tensor_on_a_missing_device() -> None:
    """``torch.zeros(..., device="cuda")``: refused as a plain run refuses it, unless the inputs are there already."""

    class Makes(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.zeros(3, 4, device="cuda") + x

    capture = shapes.capture(Makes(), (batch(),))
    assert not capture.completed
    assert capture.findings[0].op == "torch.zeros"
    assert "CUDA" in capture.findings[0].torch_message
    assert shapes.capture(Makes(), shapes.spec((3, 4), device="cuda")).completed


def test_a_deleted_or_misnamed_attribute_is_told_with_its_name() -> None:
    """The user's own AttributeError."""

    class Forgets(TwoLayers):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.third(x)

    capture = shapes.capture(Forgets(), (batch(),))
    assert "third" in sentence(capture) + capture.findings[0].torch_message


@pytest.mark.parametrize("model", [3, "net", None, [nn.Linear(1, 1)], torch.ones(2)], ids=repr)
def test_what_can_not_be_called_is_refused(model: Any) -> None:
    """ShapesError names its type."""
    with pytest.raises(shapes.ShapesError, match=type(model).__name__):
        shapes.capture(model, (batch(),))
