"""What lies behind a failure of Python's own: the module is called once more, and the record tells what really ran before."""

from typing import Any

import pytest
import torch
from torch import nn

import tb_shapeplugin as shapes
from tests.zoo.failing import Forward


def behind(self: Any, x: torch.Tensor) -> torch.Tensor:
    """Two layers that don't fit what they are given."""
    result: torch.Tensor = self.second(self.first(x))
    return result


def faults(**more: nn.Module) -> dict[str, nn.Module]:
    """A layer that fits, one that takes 17 in place of 16, one that takes 5 in place of 4."""
    return {"fits": nn.Linear(8, 16), "first": nn.Linear(17, 4), "second": nn.Linear(5, 4), **more}


def stands(capture: shapes.Capture) -> list[tuple[str, str]]:
    """Of each finding that follows from none its kind and the module it stands in."""
    return [(finding.kind, finding.module) for finding in capture.findings if finding.caused_by is None]


BOTH = [("linear_in_features", "first"), ("linear_in_features", "second")]


def _input_without_a_batch(self: Any, x: torch.Tensor) -> torch.Tensor:
    _batch, _time, _width = x.shape
    return behind(self, self.fits(x))


def _one_row_of_it(self: Any, x: torch.Tensor) -> torch.Tensor:
    row = self.fits(x.unsqueeze(0))[:, 0]
    _batch, _time, _width = row.shape
    return behind(self, row)


def _a_size_of_an_axis_that_is_not_there(self: Any, x: torch.Tensor) -> torch.Tensor:
    hidden = self.fits(x)
    if hidden.size(2) != 16:
        raise ValueError("never reached")
    return behind(self, hidden)


def _its_own_check(self: Any, x: torch.Tensor) -> torch.Tensor:
    if x.dim() != 3:
        raise ValueError("expected a batch of sequences")
    return behind(self, self.fits(x))


def _its_own_check_behind_a_layer(self: Any, x: torch.Tensor) -> torch.Tensor:
    hidden = self.fits(x)
    assert hidden.dim() == 3, "expected a batch of sequences"
    return behind(self, hidden)


WAYS = {
    _input_without_a_batch: "rank",
    _one_row_of_it: "rank",
    _a_size_of_an_axis_that_is_not_there: "rank",
    _its_own_check: "user_error",
    _its_own_check_behind_a_layer: "user_error",
}


@pytest.mark.parametrize("nested", [False, True], ids=("at the root", "in a submodule"))
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_what_is_wrong_behind_it_is_found_in_the_same_run(way: Any, nested: bool) -> None:
    """The failure by itself, and both layers that would have failed next."""
    model: nn.Module = Forward(way, **faults())
    prefix = ""
    if nested:
        model, prefix = Forward(lambda self, x: self.inner(x), inner=model), "inner."
    kinds = [(kind, module.removeprefix(prefix)) for kind, module in stands(shapes.capture(model, torch.randn(4, 8)))]
    assert kinds[0] == (WAYS[way], prefix.removesuffix("."))
    assert kinds[1:] == BOTH


def test_a_fix_of_each_completes_the_run() -> None:
    """The re-run goes the way of the repaired input, not that of the stand-in."""
    capture = shapes.capture(Forward(_input_without_a_batch, **faults()), torch.randn(4, 8))
    assert [any(fix.verified for fix in finding.fixes) for finding in capture.findings] == [True, True, True]
    assert "args[0].unsqueeze(0)" in [fix.text for fix in capture.findings[0].fixes]


def test_what_ran_before_is_told_as_it_ran() -> None:
    """The op whose output was taken apart keeps its true type; behind it stands what was assumed, marked so."""
    capture = shapes.capture(Forward(_one_row_of_it, **faults()), torch.randn(4, 8))
    told = [(op.name.rpartition(".")[2], [(shape.shape, shape.assumed) for shape in op.outputs]) for op in capture.ops]
    assert told[:4] == [
        ("unsqueeze", [((1, 4, 8), False)]),
        ("linear", [((1, 4, 16), False)]),
        ("__getitem__", [((1, 16), False)]),
        ("unpack", [((1, 1, 16), True)]),
    ]
    assert all(shape.assumed for op in capture.ops[4:] for shape in op.outputs)
    finding = capture.findings[0]
    assert finding.origin is not None and finding.origin.op == "torch.Tensor.__getitem__"


def _asks_for_what_no_layer_takes(self: Any, x: torch.Tensor) -> torch.Tensor:
    assert x.shape[1] == 3, "expected 3"
    return behind(self, self.fits(x))


def _raises_whatever_it_is_given(self: Any, x: torch.Tensor) -> torch.Tensor:
    hidden = self.fits(x)
    raise ValueError(f"no luck with {hidden.shape}")


@pytest.mark.parametrize("way", [_asks_for_what_no_layer_takes, _raises_whatever_it_is_given])
def test_where_no_other_input_leads_on_nothing_is_guessed(way: Any) -> None:
    """The run ends there, and tells what ran up to there once."""
    capture = shapes.capture(Forward(way, **faults()), torch.randn(4, 8))
    assert stands(capture) == [("user_error", "")]
    assert not any(shape.assumed for op in capture.ops for shape in op.outputs)


class Counts(nn.Module):
    """Writes to a buffer, and calls layers that are registered nowhere, before what fails."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(16))
        self.layers = [nn.Linear(16, 16)]
        self.first, self.second = nn.Linear(17, 4), nn.Linear(5, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.seen.add_(x.sum(0))
        hidden = self.layers[0](x)
        _batch, _time, _width = hidden.shape
        return behind(self, hidden + self.seen)


def test_what_was_written_and_met_in_the_first_call_is_told_once() -> None:
    """A buffer stays that buffer, a plain list's layer that layer, and the user's own are as they were."""
    model = Counts()
    capture = shapes.capture(model, torch.randn(4, 16))
    assert stands(capture)[1:] == BOTH
    assert [module.path for module in capture.modules] == ["", "layers[0]", "first", "second"]
    assert [op.name.rpartition(".")[2] for op in capture.ops[:4]] == ["sum", "add_", "linear", "unpack"]
    assert model.seen.eq(0).all()


def _cuts(self: Any, x: torch.Tensor) -> torch.Tensor:
    left = x.view(-1, 2)
    hidden = self.fits(x.view(-1, 8))
    _batch, _time, _width = hidden.shape
    return hidden.view(2, 4, 4) + left.sum()


def test_calls_are_counted_as_one_run_makes_them() -> None:
    """A change of the third view is one of the third, although the first call made two before."""
    capture = shapes.capture(Forward(_cuts, fits=nn.Linear(8, 16)), torch.randn(4, 8))
    changes = [change for finding in capture.findings for fix in finding.fixes for change in fix.changes if change.get("call") == "view"]
    assert {change["index"] for change in changes} == {2}
