"""Our own code fails anywhere: the user gets one warning and a partial capture, and finds everything as it was."""

import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest
import torch
from torch import nn

import tb_shapeplugin as shapes
from tests.tracing.pictures import picture, process_picture

OURS = str(Path(shapes.__file__).parent)
# They read the call that the user made: a fault there comes before anything began, and is told as it is.
BEFORE = {"capture", "_check_options", "_inputs", "_arguments", "_refuse_sizes", "_is_size", "_signature", "__getattr__"}
# They hand the user's calls on, or take up faults, and hold nothing before their guards: what fails as they are entered,
# nobody could catch.
HANDING_ON = {"__torch_function__", "__torch_dispatch__", "call", "_call", "_script", "_forward", "_entered", "_followed", "_called"}
HANDING_ON |= {"_invoke", "invoke", "follow", "step", "<lambda>", "_spared", "guarded", "tell", "note", "surely", "run"}


LAST = {"Capture.__init__", "Faults.__init__", "_Rows.__init__"}  # they make what is given in the end


class Net(nn.Module):
    """Has a buffer that a run writes, dropout, a read of a value, a branch, and a layer whose width may be wrong."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.5))
        self.head = nn.Linear(width, 2)
        self.seen = 0

    def forward(self, x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        """Writes an attribute and reads a value."""
        self.seen += 1
        x = self.body(x)[index]
        if index.max() > 1:
            x = x * torch.rand(4)
        return self.head(x)


def arguments() -> tuple[torch.Tensor, torch.Tensor]:
    """A batch and an index into it."""
    return torch.ones(3, 4), torch.tensor([0, 2])


class Planted(Exception):
    """Stands for a bug of ours."""


def called(run: Callable[[], Any]) -> Counter[CodeType]:
    """How often each function of ours is entered."""
    counts: Counter[CodeType] = Counter()

    def count(frame: FrameType, event: str, arg: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(OURS):
            counts[frame.f_code] += 1

    sys.setprofile(count)
    try:
        run()
    finally:
        sys.setprofile(None)
    return counts


def with_fault(run: Callable[[], Any], code: CodeType, number: int) -> tuple[Any, int]:
    """What ``run`` gives when that function raises as it is entered for that time, and how often it warned."""
    left = [number]

    def plant(frame: FrameType, event: str, arg: Any) -> None:
        if event == "call" and frame.f_code is code:
            left[0] -= 1
            if left[0] == 0:
                raise Planted("planted")

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        sys.setprofile(plant)
        try:
            result = run()
        finally:
            sys.setprofile(None)
    return result, sum("Shapes met a fault of its own" in str(warning.message) for warning in told)


def subject(execution: Any, width: int, **options: Any) -> tuple[Net, Any, Callable[[], Any]]:
    """A model, its arguments, and a capture of it."""
    model, args = Net(width), arguments()
    return model, args, lambda: shapes.capture(model, args, execution=execution, **options)


def sites(run: Callable[[], Any]) -> Iterator[tuple[CodeType, int]]:
    """The middle call of each function of ours: what came before is written, what comes after isn't."""
    run()  # what is cached for good is no part of it
    for code, count in called(run).items():
        if code.co_qualname.partition(".")[0] not in BEFORE and code.co_name not in HANDING_ON and code.co_qualname not in LAST:
            yield code, (count + 1) // 2


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # planted in a generator that ends unread
@pytest.mark.parametrize(("execution", "width"), [("auto", 4), ("auto", 5), ("real", 4), ("fake", 5)])
def test_a_fault_anywhere_in_our_code_is_one_warning_and_a_capture(execution: Any, width: int) -> None:
    """Each function of ours raises in the middle of the run: nothing reaches the user, nothing is left behind."""
    model, args, run = subject(execution, width, thorough=True, verify_fixes=False)  # hundreds of searches would take minutes
    warned = planted = 0
    complaints: list[str] = []
    for code, number in list(sites(run)):
        before, process = picture(model, args), process_picture()
        try:
            captured, warnings_given = with_fault(run, code, number)
        except BaseException as error:
            if execution == "fake" and "needs a copy of the model" in str(error):
                continue  # as of any model that can't be copied: the way out is told
            complaints.append(f"{code.co_qualname} call {number}: raised {error!r}")
            continue
        differences = process.differences(process_picture()) + before.differences(picture(model, args))
        if differences:
            complaints.append(f"{code.co_qualname} call {number}: changed {differences[:3]}")
        if not isinstance(captured, shapes.Capture) or not str(captured):
            complaints.append(f"{code.co_qualname} call {number}: gave {captured!r}")
        elif warnings_given > 1:
            complaints.append(f"{code.co_qualname} call {number}: warned {warnings_given} times")
        elif warnings_given and not any("Planted" in text for text in captured.unchecked):
            complaints.append(f"{code.co_qualname} call {number}: doesn't say what is missing")
        warned += warnings_given
        planted += 1
    assert not complaints, "\n".join(complaints)
    assert warned > planted / 3, "hardly any fault was told: were they planted at all?"
