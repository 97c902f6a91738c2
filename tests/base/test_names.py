"""Tags and what they say."""

import pytest

from tb_shapeplugin.base.names import GRAPH_TAG_PREFIX, graph_tag, model_of_tag


@pytest.mark.parametrize("name", ["model", "Net", "a@b", "group/model", ""])
def test_a_tag_gives_its_model_back(name: str) -> None:
    """Also where the name itself holds the tag's signs."""
    tag = graph_tag(name, "0123456789abcdef")
    assert tag == f"{GRAPH_TAG_PREFIX}{name}@01234567"
    assert model_of_tag(tag) == (name or tag)


def test_a_tag_of_another_form_is_its_own_name() -> None:
    """Someone else's tag is shown as it is."""
    assert model_of_tag("scalars/loss") == "scalars/loss"
