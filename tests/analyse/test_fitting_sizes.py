"""Which sizes fit, as people say it."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_shapeplugin.analyse.origins.fitting_sizes import closest, reaching, required, roundest


@pytest.mark.parametrize(
    ("now", "runs", "told"),
    [
        (50, lambda size: size % 4 == 0, "a multiple of 4"),
        (37, lambda size: size % 2 == 0, "a multiple of 2"),
        (102, lambda size: size // 2 % 2 == 0, "a multiple of 4"),  # pairs of sizes fit: the roundest rule that is true
        (200, lambda size: size % 32 == 0, "a multiple of 32"),
        (20, lambda size: size >= 32, "32 at least"),
        (40, lambda size: size <= 32, "32 at most"),
        (256, lambda size: size == 224, ""),
        (30, lambda size: 28 <= size < 32, ""),  # it runs already
        (33, lambda size: 28 <= size < 32, ""),  # a single stretch is no rule
        (20, lambda size: 32 <= size < 60, ""),  # nor is one that ends again
        (9, lambda size: False, ""),
    ],
)
def test_a_rule_is_told_where_there_is_one(now: int, runs: Callable[[int], bool], told: str) -> None:
    """At least, at most, a multiple; nothing where sizes fit by chance."""
    assert required(now, runs) == told


def test_a_limit_far_away_is_found_by_the_number_that_is_wanted() -> None:
    """600 tokens against 512 places: nobody tries 88 sizes."""
    assert required(600, lambda size: size <= 512, [512]) == "512 at most"
    assert required(600, lambda size: size <= 512) == ""


def test_the_closest_size_goes_before_the_usual_ones() -> None:
    """Round sizes are tried where nothing near fits."""
    assert closest(30, lambda size: size in (27, 224)) == 27
    assert closest(256, lambda size: size in (224, 32)) == 224
    assert closest(256, lambda size: size == 137) == 0


@given(st.integers(1, 60), st.integers(1, 9), st.integers(1, 40))
def test_the_size_that_reaches_a_number_is_the_smallest(side: int, divisor: int, channels: int) -> None:
    """What channels · (side/divisor)² needs is found by halving."""

    def value(size: int) -> int:
        return channels * (size // divisor) ** 2

    found = reaching(value(side), value)
    assert found <= side
    assert value(found) == value(side)
    assert found == 1 or value(found - 1) < value(side)
    if side >= divisor:
        assert reaching(value(side) * 4 + channels, value) == 0  # four times a square and one more is no square


def test_of_sizes_that_give_the_same_the_one_that_halves_most_is_told() -> None:
    """A floor leaves a stretch: 28 rather than 29."""
    assert roundest(30, lambda size: 28 <= size < 32) == 28
    assert roundest(7, lambda size: size == 7) == 7
    assert roundest(98, lambda size: 97 <= size <= 112) == 112
    assert roundest(248, lambda size: 224 <= size < 256) == 224, "five halvings drop up to 31"
