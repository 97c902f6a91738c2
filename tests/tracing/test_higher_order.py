"""Operators that take functions: a model that uses them runs, and is left as it was; what is inside counts as unknown, not as nothing."""

import warnings

import pytest
import torch
from torch import nn
from torch.nn.attention import flex_attention

import tb_shapeplugin as shapes


class Flexible(nn.Module):
    """fc -> attention whose scores are bent by a function."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(16, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.fc(x).detach()
        result: torch.Tensor = flex_attention.flex_attention(y, y, y, score_mod=lambda score, b, h, q, k: score + q - k)
        return result


class Chooses(nn.Module):
    """fc -> sine or cosine, as the sum of the input says."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(16, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = torch.cond(x.sum() > 0, torch.sin, torch.cos, (self.fc(x),))
        return result


MODELS = {"flex_attention": (Flexible, (2, 4, 128, 16)), "cond": (Chooses, (3, 16))}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_with_an_operator_that_takes_functions_runs(name: str) -> None:
    """For real, as no shape tells which branch is taken, or what a function does; its FLOPs are unknown, and the sum a lower bound."""
    make, shape = MODELS[name]
    before = getattr(flex_attention, "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG", None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for execution in ("auto", "real"):
            captured = shapes.capture(make(), torch.randn(shape), execution=execution)
            assert (captured.completed, captured.findings) == (True, ())
            assert captured.execution == "real"
            (opaque,) = [op for op in captured.ops if op.name == "python.opaque"]
            assert [child.name for child in opaque.children] == [f"higher_order.{name}"]
            assert opaque.outputs[0].shape == shape and opaque.flops is None
            assert captured.totals.flops_complete is False
    assert getattr(flex_attention, "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG", None) == before
