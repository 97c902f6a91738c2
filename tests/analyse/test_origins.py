"""Where a wrong number comes from, and why it is that number: told of real models, and of random chains of ops."""

import math
import re
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import nn

import tb_shapeplugin as shapes
from tb_shapeplugin.record.finding import Finding
from tests.analyse.origin_of_axes import AXES, VALUES
from tests.analyse.origin_of_models import MODELS
from tests.analyse.origin_of_sizes import SIZES
from tests.analyse.origin_rows import Net, Row

ROWS = {**SIZES, **AXES, **VALUES, **MODELS}
_PLACE = re.compile(r" of \S+\.py:\d+")


def found(row: Row) -> Finding:
    """The one finding of a row's model."""
    model, inputs = row.build()
    findings = shapes.capture(model, inputs, verify_fixes=False).findings
    assert [finding.kind for finding in findings if finding.caused_by is None] == [findings[0].kind]
    return findings[0]


@pytest.mark.parametrize("name", ROWS)
def test_the_origin_and_its_arithmetic_are_those_that_a_person_would_name(name: str) -> None:
    """One model a row: the words, the op that made the number, and its line."""
    row = ROWS[name]
    finding = found(row)
    assert _PLACE.sub("", finding.why) == row.why
    assert finding.origin is not None
    if row.made_by.partition(" ")[0] in ("input", "parameter", "buffer", "constant"):
        assert (finding.origin.op, finding.origin.op_index) == (row.made_by, -1)
    else:
        assert finding.origin.op.rpartition(".")[2] == row.made_by
        assert finding.origin.file.rpartition("/")[2].startswith("origin_of_")
        assert row.at in finding.origin.code


def value_of(text: str) -> float:
    """What an arithmetic that is told gives.

    Example:
        >>> value_of("⌊(15 − 3)/2⌋ + 1"), value_of("2 directions · 24 (rnn's hidden_size)")
        (7, 48)
    """
    plain = re.sub(r"(?<=[\w²]) \([^()]*[a-z][^()]*\)", "", text)  # a remark stands behind a word
    plain = re.sub(r"\b[a-z_]+\b", "", plain)
    for sign, python in (("⌊", "floor("), ("⌋", ")"), ("⌈", "ceil("), ("⌉", ")"), ("·", "*"), ("×", "*"), ("−", "-"), ("²", "**2")):
        plain = plain.replace(sign, python)
    result: float = eval(plain, {"__builtins__": {}, "floor": math.floor, "ceil": math.ceil})
    return result


@pytest.mark.parametrize("name", ROWS)
def test_every_equation_that_is_told_is_true(name: str) -> None:
    """Whatever stands on the two sides of an equals sign in the rows' words is the same number."""
    for clause in re.split(r"[;,] ", _PLACE.sub("", ROWS[name].why)):
        if equation := re.match(r"(\d+) = (.*?)(?: is .*| would .*|: .*)?$", clause):
            assert value_of(equation[2]) == int(equation[1])


Step = Callable[[torch.Tensor], torch.Tensor]

# Each step keeps a map a map: [batch, channels, height, width].
_STEPS: dict[str, Callable[[int], Step]] = {
    "relu": lambda _: F.relu,
    "conv": lambda n: lambda x: F.conv2d(x, torch.zeros(n + 2, x.shape[1], 3, 3), stride=1 + n % 2, padding=n % 3),
    "transposed conv": lambda n: lambda x: F.conv_transpose2d(x, torch.zeros(x.shape[1], n + 1, 2 + n % 3, 2 + n % 3), stride=2),
    "max pool": lambda n: lambda x: F.max_pool2d(x, 2 + n % 2),
    "average pool": lambda n: lambda x: F.avg_pool2d(x, 3, stride=2, padding=n % 2),
    "adaptive pool": lambda n: lambda x: F.adaptive_avg_pool2d(x, (n + 1, n + 2)),
    "enlarge": lambda n: lambda x: F.interpolate(x, scale_factor=1 + n % 3),
    "pad": lambda n: lambda x: F.pad(x, (n, 1, 0, n)),
    "turn": lambda n: lambda x: x.transpose(2, 3),
    "channels behind and back": lambda n: lambda x: x.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2),
    "beside itself": lambda n: lambda x: torch.cat([x] * (2 + n % 4), 1 + n % 3),
    "half": lambda n: lambda x: x.chunk(2, 2 + n % 2)[0],
    "slice": lambda n: lambda x: x[..., : n + 3],
    "every second": lambda n: lambda x: x[:, :, ::2],
    "repeat": lambda n: lambda x: x.repeat(1, 1 + n % 3, 1, 1),
    "stacked": lambda n: lambda x: torch.stack([x] * (1 + n % 3), 1).flatten(1, 2),
    "in place": lambda n: lambda x: x.clone().add_(1).roll(n, 2),
    "scaled": lambda n: lambda x: x * x.mean((2, 3), keepdim=True),
    "mixed": lambda n: lambda x: torch.einsum("bchw,dc->bdhw", x, torch.zeros(n + 1, x.shape[1])),
    "rows by rows": lambda n: lambda x: x @ x.transpose(2, 3),
}
_ENDS: dict[str, Step] = {
    "flatten": lambda x: x.flatten(1),
    "view": lambda x: x.reshape(x.shape[0], -1),
    "pooled": lambda x: x.mean((2, 3)),
    "tokens": lambda x: x.flatten(2).transpose(1, 2),
    "rows": lambda x: x,
    "all of it": lambda x: x.flatten(),
    "windows": lambda x: F.unfold(x, 2).transpose(1, 2),
    "channels and a side": lambda x: x.permute(0, 2, 1, 3).flatten(2),
}


class Chained(nn.Module):
    """Steps one after the other, then a Linear of another width."""

    def __init__(self, steps: list[Step], width: int) -> None:
        super().__init__()
        self.steps = steps
        self.fc = nn.Linear(width, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for step in self.steps:
            x = step(x)
        result: torch.Tensor = self.fc(x)
        return result


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    names=st.lists(st.tuples(st.sampled_from(sorted(_STEPS)), st.integers(0, 5)), max_size=5),
    end=st.sampled_from(sorted(_ENDS)),
    sides=st.tuples(st.integers(1, 3), st.integers(1, 4), st.integers(9, 20), st.integers(9, 20)),
)
def test_of_any_chain_of_ops_the_arithmetic_gives_the_number(names: list[tuple[str, int]], end: str, sides: tuple[int, ...]) -> None:
    """The first equation gives the number that the Linear meets, each further one a number that stands in the one before."""
    steps = [*(_STEPS[name](n) for name, n in names), _ENDS[end]]
    x = torch.zeros(sides)
    try:
        for step in steps:
            x = step(x)
    except RuntimeError:  # a map too small for a window: no chain
        return
    width = x.shape[-1]
    if x.numel() == 0:
        return
    (finding,) = shapes.capture(Chained(steps, width + 7), (torch.zeros(sides),), verify_fixes=False, execution="fake").findings
    told, _, note = finding.why.partition("; ")
    clauses = [clause for clause in told.split(", ") if " = " in clause]
    known = str(width)
    for clause in clauses:
        number, _, arithmetic = clause.partition(" = ")
        assert number in re.findall(r"\d+", known) or "…" in told, finding.why
        assert value_of(arithmetic) == int(number), finding.why
        known = arithmetic
    if not clauses:
        assert str(width) in re.findall(r"\d+", told), finding.why
    if equation := re.match(r"(\d+) = (.*?) is ", note):
        assert int(equation[1]) == width + 7 and value_of(equation[2]) == width + 7, finding.why


def test_the_arithmetic_is_read_as_people_do() -> None:
    """The reading that the other tests rest on tells a wrong arithmetic from a right one."""
    assert value_of("⌊(15 − 3)/2⌋ + 1") == 7
    assert value_of("2 directions · 24 (rnn's hidden_size)") == 48
    assert value_of("4 tensors × batch 10") == 40
    assert value_of("⌈15/2⌉ + 64/2²") == 24
    assert value_of("(batch 8 × 6)/4") == 12
    assert Net(lambda self, x: x + self.one, {"one": 1})(1) == 2
