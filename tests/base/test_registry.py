"""Ordered tables that refuse a name twice."""

import pytest

from tb_shapeplugin.base.errors import InternalError
from tb_shapeplugin.base.registry import Registry


def test_entries_are_found_under_every_name_in_order() -> None:
    """One rule often serves several ops."""
    rules: Registry[int] = Registry("rule")
    assert rules.register("two", "zwei")(2) == 2
    rules.register("one")(1)
    assert list(rules) == ["two", "zwei", "one"] and len(rules) == 3
    assert (rules.get("zwei"), rules.get("one"), rules.get("three")) == (2, 1, None)


def test_a_name_taken_is_refused_and_the_first_entry_stays() -> None:
    """Silently replacing a rule would change other models' findings."""
    rules: Registry[int] = Registry("rule")
    rules.register("one")(1)
    with pytest.raises(InternalError, match="rule 'one' is registered twice"):
        rules.register("one")(2)
    assert rules.get("one") == 1
