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
BEFORE = {
    "capture",
    "_check_options",
    "_check_training",
    "refuse_no_model",
    "_inputs",
    "_arguments",
    "_refuse_sizes",
    "_is_size",
    "_signature",
    "__getattr__",
}
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


# What a guard adds to a capture; the rest of our code is planted below.
GUARDS_OWN = ("api/guarding", "api/crashes", "bare_failure", "lookups", "postmortem", "replay", "rewriting", "statements")


def crash(model: Net, args: Any, guard: Any) -> tuple[BaseException, Any]:
    """What a guarded loop ends with, and how everything was when its own exception came."""
    found: list[Any] = []
    try:
        with guard:
            try:
                out = model(*args)
                torch.nn.functional.cross_entropy(out, torch.zeros(3, dtype=torch.long))
            finally:
                found.append((picture(model, args), process_picture()))
    except BaseException as error:
        return error, found[0]
    raise AssertionError("the loop went through")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # planted in a generator that ends unread
def test_a_fault_in_a_guard_leaves_the_users_exception(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each function that a guard adds raises in the middle: the loop's own exception goes on, with one warning at most."""
    monkeypatch.setattr("tb_shapeplugin.api.crashes.repaired", lambda found, *_: found)  # searches are planted elsewhere
    model, args = Net(4), arguments()
    complaints: list[str] = []
    warned = planted = 0
    with shapes.ShapeWriter(tmp_path) as writer:
        guard = shapes.guard(writer, model)

        def run() -> tuple[BaseException, Any]:
            writer.sink.ledger.tags.clear()
            return crash(model, args, guard)

        for code, number in list(sites(run)):
            if not any(own in code.co_filename for own in GUARDS_OWN) or code.co_qualname in ("Guard.__enter__", "Guard.__exit__"):
                continue  # these two hold nothing before their guards
            (error, (before, process)), warnings_given = with_fault(run, code, number)
            where = f"{code.co_qualname} call {number}"
            if not isinstance(error, ValueError) or "Expected input batch_size" not in str(error):
                complaints.append(f"{where}: {error!r} came out")
            differences = process.differences(process_picture()) + before.differences(picture(model, args))
            differences = [what for what in differences if what != "warnings' filters"]  # with_fault has its own meanwhile
            complaints += [f"{where}: changed {differences[:3]}"] * bool(differences)
            complaints += [f"{where}: warned {warnings_given} times"] * (warnings_given > 1)
            warned += warnings_given
            planted += 1
    assert not complaints, "\n".join(complaints)
    assert planted > 50 and warned > planted / 3, "hardly any fault was told: were they planted at all?"


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
