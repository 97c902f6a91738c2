"""What is no mismatch is told as what it is: the user's own error, at its line, with no invented fix; a fault of ours never as theirs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import tb_shapeplugin as shapes

X = torch.ones(2, 5)


class Boom(Exception):
    """Nothing that a diagnosis knows."""


class Model(nn.Module):
    """A layer that fits, something of the user's, a layer that fits."""

    def __init__(self, own: Callable[[torch.Tensor], Any]) -> None:
        super().__init__()
        self.first, self.own, self.last = nn.Linear(5, 5), own, nn.Linear(5, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.first(x)
        self.own(x)
        return self.last(x)


def _a_missing_key(x: torch.Tensor) -> Any:
    return {"image": x}["mask"]


def _a_missing_attribute(x: torch.Tensor) -> Any:
    return x.no_such_attribute


def _a_division_by_zero(x: torch.Tensor) -> Any:
    return 1 // (x.shape[0] - 2)


def _an_assertion_about_a_shape(x: torch.Tensor) -> Any:
    assert x.shape[1] == 3, f"expected 3 channels, got {x.shape[1]}"


def _an_exception_of_ones_own(x: torch.Tensor) -> Any:
    raise Boom("on purpose")


def _an_exception_without_words(x: torch.Tensor) -> Any:
    raise NotImplementedError


def _an_unknown_name(x: torch.Tensor) -> Any:
    return undefined_name  # type: ignore[name-defined]  # noqa: F821  that is what is tried


def _an_empty_iterator(x: torch.Tensor) -> Any:
    return next(iter(()))


OWN = {
    _a_missing_key: "KeyError",
    _a_missing_attribute: "AttributeError",
    _a_division_by_zero: "ZeroDivisionError",
    _an_assertion_about_a_shape: "AssertionError",
    _an_exception_of_ones_own: "Boom",
    _an_exception_without_words: "NotImplementedError",
    _an_unknown_name: "NameError",
    _an_empty_iterator: "StopIteration",
}


@pytest.mark.parametrize("nested", [False, True], ids=("at the root", "in a submodule"))
@pytest.mark.parametrize("own", OWN, ids=lambda own: own.__name__)
def test_an_error_of_the_user_is_reported_as_exactly_that(own: Any, nested: bool) -> None:
    """At its line, by its type, with its words; nothing is invented to mend it."""
    model: nn.Module = nn.Sequential(Model(own)) if nested else Model(own)
    with pytest.raises(Exception) as raised:
        model(X)
    capture = shapes.capture(model, X)
    (finding,) = capture.findings
    assert not capture.completed
    assert (finding.kind, finding.module, finding.fixes) == ("user_error", "0" if nested else "", ())
    assert (Path(finding.file).name, finding.line) == (Path(__file__).name, own.__code__.co_firstlineno + 1)
    assert OWN[own] in finding.message
    assert finding.torch_message == str(raised.value)


def test_a_mismatch_in_front_of_a_users_error_is_told_beside_it() -> None:
    """Both stand by themselves: neither explains the other."""
    model = nn.Sequential(nn.Linear(6, 5), Model(_a_missing_key))
    assert [(finding.kind, finding.caused_by) for finding in shapes.capture(model, X).findings] == [
        ("linear_in_features", None),
        ("user_error", None),
    ]


def test_a_fault_of_ours_is_never_reported_as_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    """The grouping of findings breaks: one warning, no finding, and the error of the run is still the user's."""

    def broken(*_: Any) -> Any:
        raise KeyError("ours")

    monkeypatch.setattr("tb_shapeplugin.analyse.findings.groups", broken)
    with pytest.warns(UserWarning, match="KeyError: 'ours'"):
        capture = shapes.capture(nn.Linear(6, 5), X)
    assert capture.findings == ()
    assert not capture.completed
    assert str(capture.error).startswith("RuntimeError: mat1 and mat2")
    assert any("ours" in text for text in capture.unchecked)
