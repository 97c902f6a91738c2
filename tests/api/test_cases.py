"""Several inputs as one capture, a part of a big model, branches that never ran: through the public door."""

from typing import Any

import pytest
import torch
from torch import nn

import tb_shapeplugin as shapes
from tb_shapeplugin.wire.decode import decode
from tb_shapeplugin.wire.encode import encode


class TwoPaths(nn.Module):
    """Text through an embedding, pictures through a convolution, both through one body."""

    def __init__(self, body_width: int = 16) -> None:
        super().__init__()
        self.embed = nn.Embedding(100, 16)
        self.conv = nn.Conv2d(3, 16, 3, 2)
        self.body = nn.Sequential(nn.Linear(body_width, 16), nn.ReLU())
        self.head = nn.Linear(16, 5)
        self.debug = False

    def forward(self, text: torch.Tensor | None = None, image: torch.Tensor | None = None) -> torch.Tensor:
        """Takes one of both."""
        if text is not None:
            x = self.embed(text)
        elif image is not None:
            x = self.conv(image).flatten(2).transpose(1, 2)
        else:
            raise ValueError("nothing given")
        if self.debug:
            print(x)
        return self.head(self.body(x).mean(1))


TEXT = {"text": torch.randint(1, 100, (2, 7))}
IMAGE = {"image": torch.ones(4, 3, 9, 9)}
BOTH = {"text": TEXT, "image": IMAGE}


def names(ops: Any) -> list[str]:
    """The functions' last names."""
    return [op.name.rpartition(".")[2] for op in ops]


@pytest.mark.parametrize("execution", ["auto", "real", "fake"])
def test_the_union_holds_what_each_case_ran(execution: Any) -> None:
    """Ops of both are one; each case tells its own ops with its own shapes, as a capture of it alone does."""
    captured = shapes.capture(TwoPaths(), cases=BOTH, execution=execution)
    assert captured.completed
    assert names(captured.ops) == ["embedding", "conv2d", "flatten", "transpose", "linear", "relu", "mean", "linear"]
    assert set(captured.cases) == {"text", "image"}
    for name, args in BOTH.items():
        alone = shapes.capture(TwoPaths(), args, execution=execution)
        ours = captured.cases[name]
        assert names(ours.ops) == names(alone.ops)
        assert [[str(t) for t in op.outputs] for op in ours.ops] == [[str(t) for t in op.outputs] for op in alone.ops]
        assert [op.module for op in ours.ops] == [op.module for op in alone.ops]
        assert [(op.file, op.line) for op in ours.ops] == [(op.file, op.line) for op in alone.ops]
        assert [str(ours.tensors[end.tensor]) for end in ours.outputs] == [str(alone.tensors[end.tensor]) for end in alone.outputs]
        assert [(end.name, end.literal) for end in ours.inputs] == [(end.name, end.literal) for end in alone.inputs]
        assert captured.totals.params == alone.totals.params


def test_a_shared_op_is_fed_by_every_case() -> None:
    """body's Linear takes the embedding in one case, the transposed picture in the other: both edges are there."""
    captured = shapes.capture(TwoPaths(), cases=BOTH)
    shared = captured.ops[4]
    producers = {captured.ops[tensor.producer].name.rpartition(".")[2] for tensor in shared.inputs if tensor.producer >= 0}
    assert producers == {"embedding", "transpose"}


def test_the_arguments_are_the_case_default() -> None:
    """Further inputs stand beside them."""
    captured = shapes.capture(TwoPaths(), TEXT, cases={"image": IMAGE})
    assert list(captured.cases) == ["default", "image"]
    assert not shapes.capture(TwoPaths(), TEXT).cases


def test_the_same_module_called_more_often_in_one_case() -> None:
    """Calls are told apart by what was called in order; a loop's later turns belong to the longer case alone."""

    class Loop(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.cell = nn.Linear(4, 4)

        def forward(self, x: torch.Tensor, turns: int) -> torch.Tensor:
            for _ in range(turns):
                x = self.cell(x).relu()
            return x

    captured = shapes.capture(Loop(), (torch.ones(2, 4), 2), cases={"long": (torch.ones(2, 4), 5)})
    assert [len(captured.cases[name].ops) for name in ("default", "long")] == [4, 10]
    assert len(captured.ops) == 10
    assert [row.call for row in captured.modules if row.path == "cell"] == [1, 2, 3, 4, 5]


def test_findings_say_which_cases_have_them() -> None:
    """A wrong width met by both is one finding; one of a single path is that case's; the rest stays as it was."""
    both = shapes.capture(TwoPaths(body_width=17), cases=BOTH)
    assert [(finding.kind, finding.cases) for finding in both.findings] == [("linear_in_features", ("text", "image"))]
    assert not both.completed
    assert any(fix.verified for fix in both.findings[0].fixes)
    model = TwoPaths()
    model.conv = nn.Conv2d(4, 16, 3)
    one = shapes.capture(model, cases=BOTH)
    assert [(finding.kind, finding.cases) for finding in one.findings] == [("conv_channels", ("image",))]
    assert [one.cases[name].completed for name in BOTH] == [True, False]
    op = one.ops[one.findings[0].op_index]
    assert op.failed
    assert op.name == "torch.nn.functional.conv2d"


def test_branches_that_no_case_took_are_listed_with_file_and_line() -> None:
    """What either case ran is no such branch."""
    captured = shapes.capture(TwoPaths(), cases=BOTH)
    assert captured.branches is not None
    assert [branch.code for branch in captured.branches] == ["else:", "if self.debug:"]
    lines = [(branch.file, branch.line, branch.end_line) for branch in captured.branches]
    first = TwoPaths.forward.__code__.co_firstlineno
    assert lines == [("tests/api/test_cases.py", first + 6, first + 7), ("tests/api/test_cases.py", first + 8, first + 9)]
    only_text = shapes.capture(TwoPaths(), TEXT, thorough=True)
    assert only_text.branches is not None
    assert [branch.code for branch in only_text.branches] == ["elif image is not None:", "if self.debug:"]
    assert shapes.capture(TwoPaths(), TEXT).branches is None


def test_a_union_comes_back_from_its_bytes() -> None:
    """With cases, branches and values."""
    captured = shapes.capture(TwoPaths(), cases=BOTH)
    assert decode(encode(captured.record)) == captured.record


def test_the_console_tells_of_cases_and_branches() -> None:
    """Which case ran how much, and what never ran."""
    told = str(shapes.capture(TwoPaths(), cases=BOTH))
    assert "text: 5 of 8 ops" in told
    assert "image: 7 of 8 ops" in told
    assert "if self.debug:" in told


@pytest.mark.parametrize("cases", [{}, [TEXT], {1: TEXT}, {"": TEXT}])
def test_cases_are_a_dict_of_named_inputs(cases: Any) -> None:
    """Anything else is a wrong call, told with what to give."""
    with pytest.raises(shapes.ShapesError, match="dict of inputs by their names"):
        shapes.capture(TwoPaths(), cases=cases)


def test_a_case_may_not_be_called_as_the_arguments_are() -> None:
    """Or two would have one name."""
    with pytest.raises(shapes.ShapesError, match="'default'"):
        shapes.capture(TwoPaths(), TEXT, cases={"default": IMAGE})


@pytest.mark.parametrize("execution", ["auto", "real", "fake"])
def test_only_captures_a_part_with_the_inputs_that_it_gets_in_the_whole(execution: Any) -> None:
    """Ops, calls and modules of the part alone; its inputs are what came from outside."""
    whole = shapes.capture(TwoPaths(), TEXT, execution=execution)
    captured = shapes.capture(TwoPaths(), TEXT, only="body", execution=execution)
    assert names(captured.ops) == ["linear", "relu"]
    assert [row.path for row in captured.modules] == ["body", "body.0", "body.1"]
    assert [op.module for op in captured.ops] == ["body.0", "body.1"]
    assert [(end.name, str(captured.tensors[end.tensor])) for end in captured.inputs] == [("input", "f32[2,7,16]")]
    assert [str(captured.tensors[end.tensor]) for end in captured.outputs] == ["f32[2,7,16]"]
    assert captured.totals.params == next(row.params for row in whole.modules if row.path == "body")
    assert captured.completed
    assert decode(encode(captured.record)) == captured.record


def test_only_leaves_out_what_is_wrong_elsewhere() -> None:
    """A finding belongs to the part in which it stands."""
    model = TwoPaths(body_width=17)
    assert shapes.capture(model, TEXT, only="embed").completed
    assert [finding.module for finding in shapes.capture(model, TEXT, only="body").findings] == ["body.0"]
    assert not shapes.capture(model, TEXT, only="head").findings


def test_only_of_a_part_that_is_never_called_is_empty() -> None:
    """It has modules and no ops."""
    captured = shapes.capture(TwoPaths(), TEXT, only="conv")
    assert not len(captured.ops)
    assert [row.path for row in captured.modules] == ["conv"]


def test_only_must_name_a_submodule() -> None:
    """The nearest paths are told."""
    with pytest.raises(shapes.ShapesError, match=r"only='bodi'.*'body'"):
        shapes.capture(TwoPaths(), TEXT, only="bodi")
    with pytest.raises(shapes.ShapesError, match="only is 3"):
        shapes.capture(TwoPaths(), TEXT, only=3)  # type: ignore[arg-type]  # the wrong call is the point


def test_only_goes_with_cases() -> None:
    """The part of each."""
    captured = shapes.capture(TwoPaths(), cases=BOTH, only="body")
    assert names(captured.ops) == ["linear", "relu"]
    assert [str(captured.cases[name].ops[0].outputs[0]) for name in BOTH] == ["f32[2,7,16]", "f32[4,16,16]"]
