"""What collectives require: one place for each rank's part, all of one shape."""

import pytest

from tb_shapeplugin.ops.collectives import EXCHANGED, GATHERED, GATHERED_WHOLE, SCATTERED, SCATTERED_WHOLE, collective_clash
from tb_shapeplugin.ops.rules import requires
from tb_shapeplugin.record.values import OpCall, Operand, Shape


def call(form: str, places: list[Shape], parts: list[Shape], ranks: int) -> OpCall:
    """A collective on float32 tensors of those shapes."""
    operands = [Operand(index, shape, "float32") for index, shape in enumerate([*places, *parts])]
    told = {"form": form, "ranks": ranks}
    return OpCall("torch.distributed.some", (tuple(operands[: len(places)]), tuple(operands[len(places) :])), told)


REFUSED = {
    "one place is smaller": (call(GATHERED, [(5, 3), (4, 3)], [(5, 3)], 2), {"rows": 5}, {"rows": 4}),
    "all places are smaller": (call(GATHERED, [(4, 3), (4, 3)], [(5, 3)], 2), {"rows": 5}, {"rows": 4}),
    "another width": (call(GATHERED, [(5, 2)], [(5, 3)], 1), {"size": 3}, {"size": 2}),
    "another number of axes": (call(GATHERED, [(5,)], [(5, 1)], 1), {"ndim": 2}, {"ndim": 1}),
    "a place too many": (call(GATHERED, [(5, 3)] * 3, [(5, 3)], 2), {"tensors": 3}, {"ranks": 2}),
    "parts of two sizes": (call(SCATTERED, [(4, 3)], [(4, 3), (5, 3)], 2), {"rows": 5}, {"rows": 4}),
    "a whole too small": (call(GATHERED_WHOLE, [(8, 3)], [(5, 3)], 2), {"rows": 10}, {"rows": 8}),
    "a whole that can't be cut": (call(SCATTERED_WHOLE, [(4, 3)], [(9, 3)], 2), {"rows": 9}, {"rows": 8}),
    "a whole of another width": (call(GATHERED_WHOLE, [(8, 2)], [(4, 3)], 2), {"numel": 24}, {"numel": 16}),
    "an exchange of two sizes": (call(EXCHANGED, [(4, 3), (4, 3)], [(4, 3), (5, 3)], 2), {"rows": 5}, {"rows": 4}),
}
ACCEPTED = {
    "equal parts": call(GATHERED, [(5, 3), (5, 3)], [(5, 3)], 2),
    "a whole": call(GATHERED_WHOLE, [(10, 3)], [(5, 3)], 2),
    "a whole seen flat": call(GATHERED_WHOLE, [(30,)], [(5, 3)], 2),
    "cut": call(SCATTERED_WHOLE, [(4, 3)], [(8, 3)], 2),
    "no form that is known": call("", [(4, 3)], [(5, 3)], 2),
    "nothing to gather into, as on ranks that only send": call(GATHERED, [], [(5, 3)], 2),
}


@pytest.mark.parametrize("name", REFUSED)
def test_parts_that_dont_fit_are_told_with_both_sizes(name: str) -> None:
    """The faulty side is this rank's part; both numbers are in the words."""
    refused, got, want = REFUSED[name]
    clash = requires(refused)
    assert clash is not None
    assert (clash.kind, dict(clash.got), dict(clash.want)) == ("collective", got, want)
    assert all(str(number) in clash.words for number in (*got.values(), *want.values()) if "ndim" not in got)


@pytest.mark.parametrize("name", ACCEPTED)
def test_parts_that_fit_are_let_alone(name: str) -> None:
    """Nothing is said of them."""
    assert collective_clash(ACCEPTED[name]) is None


def test_a_collective_is_no_op_of_tensors_of_the_same_name() -> None:
    """torch.distributed.gather is not torch.gather."""
    assert (
        requires(OpCall("torch.distributed.gather", call(GATHERED, [(4, 3)], [(5, 3)], 1).args, {"form": GATHERED, "ranks": 1})) is not None
    )
    assert requires(OpCall("torch.distributed.barrier", ((),), {"form": "", "ranks": 2})) is None
