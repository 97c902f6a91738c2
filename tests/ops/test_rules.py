"""Every rule against torch itself on the meta device: what fits gives torch's shapes, what doesn't is told as a clash."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from tb_shapeplugin.ops.rules import gives, requires
from tests.ops.failing_calls import FAILS, READINGS
from tests.ops.fitting_calls import FITS
from tests.ops.observed import blank as M
from tests.ops.observed import mask, observe


@pytest.mark.parametrize(("family", "run"), [(family, run) for family, runs in FITS.items() for run in runs])
def test_a_call_that_fits_gives_torchs_shapes_and_breaks_no_requirement(family: str, run: Callable[[], Any]) -> None:
    """The most plausible output of a call that runs is the one that torch gives."""
    seen = observe(run)
    assert seen.error is None
    assert requires(seen.call) is None, seen.call
    assert gives(seen.call)[0] == seen.shapes, (family, seen.call)


@pytest.mark.parametrize(("kind", "got", "want", "run"), FAILS)
def test_a_call_that_torch_refuses_is_told_with_its_numbers(
    kind: str, got: dict[str, int], want: dict[str, int], run: Callable[[], Any]
) -> None:
    """What torch raises on is a clash of the right kind, with the faulty side's number and the one that is needed."""
    seen = observe(run, "cpu")
    clash = requires(seen.call)
    assert clash is not None, seen.call
    assert (clash.kind, dict(clash.got), dict(clash.want)) == (kind, got, want)
    if kind != "dtype":  # told by its name, not by its bits
        assert all(str(number) in clash.words for number in (*got.values(), *want.values())), clash.words


@pytest.mark.parametrize(("kind", "got", "want", "run"), FAILS)
def test_what_is_told_as_a_clash_really_fails(kind: str, got: dict[str, int], want: dict[str, int], run: Callable[[], Any]) -> None:
    """Torch refuses each of those calls too, on the CPU, where it checks all that it ever does."""
    assert observe(run, "cpu").error is not None


@pytest.mark.parametrize(("run", "readings"), READINGS)
def test_a_failing_call_offers_the_outputs_that_it_may_have_been_meant_to_give(
    run: Callable[[], Any], readings: list[tuple[tuple[int, ...], ...]]
) -> None:
    """In the order of their plausibility; going on chooses among them."""
    seen = observe(run, "cpu")
    assert seen.error is not None
    assert list(gives(seen.call)) == readings


def test_the_marked_dims_carry_the_numbers_that_are_told() -> None:
    """A clash's operands and dims point at its numbers."""
    for kind, got, want, run in FAILS:
        call = observe(run, "cpu").call
        clash = requires(call)
        assert clash is not None
        operands = {operand.id: operand for operand in call.operands()}
        if clash.operand >= 0 and clash.dim >= 0 and kind not in ("conv_kernel", "norm_batch_one", "pad_size", "index_range"):
            assert operands[clash.operand].shape[clash.dim] in got.values() or "numel" in got, clash
        if clash.other >= 0 and clash.other_dim >= 0 and kind != "conv_channels":
            assert operands[clash.other].shape[clash.other_dim] in want.values(), clash


def test_a_rule_gives_up_on_arguments_that_it_does_not_know() -> None:
    """A view to another dtype, an index by a mask: nothing is said, nothing raised."""
    for run in (lambda: M(4, 6).view(torch.int32), lambda: M(4, 6)[mask(4)]):
        try:
            call = observe(run).call
        except Exception as error:
            raise AssertionError("the call itself has to be observed") from error
        assert requires(call) is None
        assert gives(call) == ()
