"""The number that the code states, as it stands there."""

import pytest

from tb_shapeplugin.analyse.origins.stated import expression, stated
from tests.traces import TraceBuilder


@pytest.mark.parametrize(
    ("code", "call", "position", "told"),
    [
        ("h = self.q(x).view(b, t, self.heads, -1)", "view", 2, "self.heads"),
        ("h = self.q(x).view(b, t, self.heads, -1)", "view", 3, ""),
        ("h = self.q(x).view(b, t, self.heads, -1)", "view", 4, ""),
        ("h = x.reshape((4, size // 2))", "reshape", 1, "size // 2"),
        ("h = torch.reshape(x, (4, size))", "reshape", 1, "size"),
        ("h = torch.zeros(2, self.width)", "zeros", 1, "self.width"),
        ("h = x.view(*shape, 4)", "view", 1, ""),
        ("q = a.view(1, heads), b.view(1, parts)", "view", 1, ""),  # which of the two ran?
        ("q = a.view(1, heads), b.view(1, heads)", "view", 1, "heads"),
        ("a, b = x.split([first, 8], 1)", "split", 0, "first"),
        ("if x.view(4, width).sum() > 0:", "view", 1, ""),  # the head of a block is no whole statement
        ("h = x.permute(0, 2, 1)", "permute", 1, ""),
        ("h = x.view(4, -", "view", 1, ""),
    ],
)
def test_the_expression_in_that_place_is_told_where_it_is_certain(code: str, call: str, position: int, told: str) -> None:
    """Read off the statement, never guessed."""
    assert expression(code, call, position) == told


def test_a_size_that_only_stands_among_the_arguments_is_stated_there() -> None:
    """Without a statement to read, the op is all there is to name."""
    build = TraceBuilder()
    build.op("torch.zeros", [], (3, 7), arguments=(("0", "3"), ("1", "7")))
    build.op("torch.cumprod_of_something", [], (3, 7))
    trace = build.trace()
    assert stated(trace, trace.ops[0], 7) == "7 is stated in zeros"
    assert stated(trace, trace.ops[1], 7) == "7 is what cumprod_of_something gives"
