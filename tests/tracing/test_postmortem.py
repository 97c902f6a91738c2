"""A traceback's frames as programs that can be examined: what is run again, what never is, and what else the frames know."""

import ast
import linecache
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tb_shapeplugin.tracing.bare_failure import bare_failure
from tb_shapeplugin.tracing.lookups import Unresolvable, assigns_parameters, attribute_of, only_computes, value_of
from tb_shapeplugin.tracing.postmortem import Crash, Scene
from tb_shapeplugin.tracing.statements import Stop, contexts_around, earlier_statements, failing_parts, statement_of


class Holder:
    """Holds things in every way that Python has."""

    shared = 3

    def __init__(self) -> None:
        self.plain = torch.ones(2)
        self.table = {"a": [1, torch.zeros(3)]}
        self.asked: list[str] = []

    @property
    def counted(self) -> int:
        """Tells that it was asked."""
        self.asked.append("counted")
        return 1

    def __getattr__(self, name: str) -> Any:
        if name == "asked":
            raise AttributeError(name)
        self.asked.append(name)
        return 2


def crash_of(run: Callable[[], Any], model: Any = None) -> Crash:
    """The crash of a call."""
    try:
        run()
    except Exception as error:
        return Crash(error, model if model is not None else nn.Identity(), "model")
    raise AssertionError("nothing was raised")


def looked_up(text: str, **names: Any) -> Any:
    """The value of an expression in a frame with those locals."""
    frame = sys._getframe()
    return value_of(ast.parse(text, mode="eval").body, frame)


def run(scene: Scene) -> Any:
    """What the scene gives on the very values."""
    return scene.subject.model(*scene.subject.args, **scene.subject.kwargs)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("names['holder'].table['a'][0]", 1),
        ("names['holder'].shared", 3),
        ("(1, -2)", (1, -2)),
        ("names['sizes'][0] * 3 - 1", 11),
        ("names['layers'][1]", nn.ReLU),
        ("names['layers'].weight_of", Unresolvable),
        ("torch.nn.functional.relu", F.relu),
        ("len", len),
    ],
)
def test_names_attributes_and_items_are_looked_up(text: str, value: Any) -> None:
    """As Python would, where no code of the user's stands between."""
    names = {"holder": Holder(), "sizes": torch.Size([4, 2]), "layers": nn.Sequential(nn.Linear(2, 2), nn.ReLU())}
    if value is Unresolvable:
        with pytest.raises(Unresolvable):
            looked_up(text, **names)
    else:
        found = looked_up(text, **names)
        assert isinstance(found, value) if isinstance(value, type) else found == value


@pytest.mark.parametrize(
    "text", ["names['holder'].counted", "names['holder'].made_up", "names['holder'].plain.T", "missing", "print(1)", "1 / 0"]
)
def test_what_would_run_code_is_not_looked_up(text: str) -> None:
    """A property, a ``__getattr__``, a call: nobody is asked."""
    holder = Holder()
    with pytest.raises(Unresolvable):
        looked_up(text, holder=holder)
    assert holder.asked == []


def test_only_what_computes_is_called() -> None:
    """Torch's functions, but none that reaches for files, processes or other ranks."""
    for function in (torch.stack, F.cross_entropy, nn.Linear, torch.optim.Adam.step, F.gelu):
        assert only_computes(function), function
    for function in (torch.load, torch.save, torch.distributed.all_reduce, torch.utils.data.DataLoader, crash_of, print, torch.manual_seed):
        assert not only_computes(function), function
    assert attribute_of(torch.nn.functional, "relu") is F.relu


def test_a_function_that_assigns_to_its_parameters_is_known() -> None:
    """Its frame doesn't hold any more what it was called with."""

    def keeps(x: Any, y: Any) -> Any:
        z = x + y
        return z, x

    def changes(x: Any, y: Any = 1) -> Any:
        x = x + y
        return x, y

    def closes_over(x: Any) -> Any:
        def inner() -> Any:
            nonlocal x
            x = 1
            return x

        x = inner
        return x

    assert [assigns_parameters(function.__code__) for function in (keeps, changes, closes_over)] == [False, True, True]


def test_a_program_holds_what_made_the_operands_in_the_order_of_the_file() -> None:
    """Writes in place come where they came, unpacked results are told apart, the rest of the loop is left out."""
    linear = nn.Linear(3, 4)
    log: list[str] = []

    def loop() -> None:
        x = torch.ones(2, 3)
        log.append("never again")
        out = linear(x)
        first, second = out.detach().split(2, dim=1)
        first += 1
        doubled = first * 2
        doubled.mul_(3)
        _ = second.sum()
        F.mse_loss(doubled, torch.zeros(2, 5)).item()

    crash = crash_of(loop, linear)
    (first, *_) = list(crash.scenes())
    log.clear()
    lines = [max(line for *_, line in code.co_lines() if line) for code in first.subject.model._codes]
    assert lines == sorted(lines) and len(lines) == 7
    with pytest.raises(RuntimeError, match=r"size of tensor a \(2\) must match the size of tensor b \(5\)"):
        run(first)
    assert log == []
    assert list(first.subject.kwargs) == ["linear"]


def test_a_value_that_was_assigned_over_is_taken_as_it_is() -> None:
    """``x = x.relu()``: what x was before is gone, so its value now stands for it."""

    def loop() -> None:
        x = torch.ones(2, 3)
        x = x.view(3, 2)
        x @ torch.ones(5, 4)

    (first, *_) = list(crash_of(loop).scenes())
    with pytest.raises(RuntimeError, match="3x2 and 5x4"):
        run(first)


def test_what_was_filled_after_it_was_made_is_taken_as_it_is() -> None:
    """``outs = []`` and ``total = 0.0`` are not what made three tensors and a sum."""
    linear = nn.Linear(3, 4)

    def filled() -> None:
        x = torch.ones(2, 3)
        outs = []
        for _ in range(2):
            outs.append(linear(x))  # noqa: PERF401  it is this that is looked at
        torch.cat([*outs, torch.ones(2, 9)])

    def summed() -> None:
        x = torch.ones(2, 3)
        total = 0.0
        for _ in range(2):
            total += linear(x).sum()
        (total / 2).view(3)

    for loop, said in ((filled, "Sizes of tensors must match"), (summed, "is invalid for input of size 1")):
        (first, *_) = list(crash_of(loop, linear).scenes())
        with pytest.raises(RuntimeError, match=said):
            run(first)


def test_of_several_statements_on_a_line_the_one_that_ran_is_taken() -> None:
    """Behind a semicolon, or in the head of a loop whose body stands on its line."""

    texts = ("x = torch.ones(2, 3); y = x.view(5, 5); x.sum()\n", "while torch.ones(2, 3).view(5, 5).sum() < 1: pass\n")
    found = []
    for number, text in enumerate(texts):
        filename = f"/one/line/{number}.py"
        linecache.cache[filename] = (len(text), None, [text], filename)
        place = crash_of(partial(exec, compile(text, filename, "exec"), {"torch": torch})).place
        found.append(statement_of(place) if place is not None else None)
    if sys.version_info >= (3, 11):  # before, nobody knows
        assert [ast.unparse(statement).partition(":")[0] for statement in found if statement is not None] == [
            *("y = x.view(5, 5)", "while torch.ones(2, 3).view(5, 5).sum() < 1")
        ]


def test_a_function_of_the_users_is_never_called_again() -> None:
    """It may do anything: the value that it gave is what counts."""
    called: list[int] = []

    def load() -> torch.Tensor:
        called.append(1)
        return torch.ones(2, 3)

    def loop() -> None:
        x = load()
        x @ torch.ones(5, 4)

    def directly() -> None:
        load() @ torch.ones(5, 4)

    for function in (loop, directly):
        for scene in crash_of(function).scenes():
            with pytest.raises(RuntimeError):
                run(scene)
    assert len(called) == 2


def test_an_argument_that_a_function_of_the_users_gave_is_known_from_the_frame_of_what_was_called() -> None:
    """``criterion(model(x), target())``: the model runs again, the target is what it was."""
    linear, criterion = nn.Linear(3, 4), nn.MSELoss()
    called: list[int] = []

    def target() -> torch.Tensor:
        called.append(1)
        return torch.ones(2, 5)

    def module() -> None:
        x = torch.ones(2, 3)
        criterion(linear(x), target())

    def function() -> None:
        x = torch.ones(2, 3)
        F.mse_loss(linear(x), target=target())

    for loop in (module, function) if sys.version_info >= (3, 11) else ():
        (first, *_) = list(crash_of(loop, linear).scenes())
        assert set(first.subject.kwargs) - {"criterion"} == {"linear", "target()"}
        with pytest.raises(RuntimeError, match=r"\(4\) must match the size of tensor b \(5\)"):
            run(first)
    assert len(called) == (2 if sys.version_info >= (3, 11) else 0)


def test_an_identity_across_frames_joins_a_helper_to_its_caller() -> None:
    """The helper's ``scores`` is the caller's ``out['logits'][0]``."""
    linear = nn.Linear(3, 4)

    def helper(scores: torch.Tensor) -> None:
        scores @ torch.ones(5, 2)

    def loop() -> None:
        x = torch.ones(2, 3)
        out = {"logits": [linear(x)]}
        helper(out["logits"][0])

    (first, *_) = list(crash_of(loop, linear).scenes())
    assert list(first.subject.kwargs) == ["linear"]
    assert len(first.subject.model._codes) == 3


def test_modes_of_torch_around_a_statement_are_entered_again() -> None:
    """``with autocast``, ``with no_grad``, also of a caller; other contexts are not."""
    entered: list[str] = []

    class Mine:
        def __enter__(self) -> None:
            entered.append("mine")

        def __exit__(self, *_: Any) -> None:
            """Nothing to do."""

    def inner(x: torch.Tensor) -> None:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = x @ torch.ones(3, 2)
        y @ torch.ones(2, 2)

    def loop() -> None:
        with Mine(), torch.no_grad():
            inner(torch.ones(2, 3, requires_grad=True))

    (first, *_) = list(crash_of(loop).scenes())
    entered.clear()
    with pytest.raises(RuntimeError, match="same dtype"):
        run(first)
    assert entered == []
    assert not torch.is_autocast_enabled("cpu") and torch.is_grad_enabled()


def test_before_python_3_11_the_parts_of_a_statement_are_tried_in_their_order() -> None:
    """Without columns nobody knows which call of a line failed: all of them, innermost first."""

    def loop() -> None:
        x = torch.ones(2, 3)
        torch.relu(x.view(5, 5)) + x.sum()

    crash = crash_of(loop)
    assert crash.place is not None
    told = crash.place
    statement = statement_of(told)
    assert statement is not None
    unknown = Stop(told.frame, told.line, -1)
    texts = [ast.unparse(part) for part in failing_parts(unknown, statement)]
    assert texts == ["x.view(5, 5)", "torch.relu(x.view(5, 5))", "x.sum()", "torch.relu(x.view(5, 5)) + x.sum()"]
    if sys.version_info >= (3, 11):
        assert [ast.unparse(part) for part in failing_parts(told, statement)] == ["x.view(5, 5)"]


def test_statements_before_a_line_are_those_that_surely_ran() -> None:
    """Those of the same block and of the blocks around it, the nearest first; a branch beside it may not have run."""

    def loop(flag: bool) -> None:
        a = 1
        if flag:
            a = 2
        else:
            a = 3
        with torch.no_grad():
            d = 4
        for e in [5]:
            f = a + d + e
            if f:
                raise RuntimeError

    crash = crash_of(lambda: loop(True))
    assert crash.place is not None
    assert [ast.unparse(node) for node in earlier_statements(crash.place)] == ["f = a + d + e", "d = 4", "a = 1"]
    assert contexts_around(crash.place, crash.place.line) == []


def test_the_last_line_of_a_with_is_inside_it() -> None:
    """Its head is not."""

    def loop() -> None:
        with torch.no_grad():
            raise RuntimeError

    crash = crash_of(loop)
    assert crash.place is not None
    assert [ast.unparse(node) for node in contexts_around(crash.place, crash.place.line)] == ["torch.no_grad()"]
    assert contexts_around(crash.place, crash.place.line - 1) == []


def test_a_bare_failure_has_the_operands_that_the_frame_still_holds() -> None:
    """Where nothing could be run again: the op by the statement, its operands by their names, eager's words."""
    x = torch.ones(2, 3)

    def method() -> None:
        x.view(5, 5)

    def function() -> None:
        torch.cat([x, torch.ones(1)])

    def operator() -> None:
        x @ x

    def item() -> None:
        x[7]

    names = {}
    for loop in (method, function, operator, item):
        trace = bare_failure(crash_of(loop), None)
        (failure,) = trace.failures
        names[loop.__name__] = failure.call.name, [operand.shape for operand in failure.call.operands()]
        assert trace.ops[failure.op].failed and trace.sources[trace.ops[failure.op].source].code
    assert names == {
        "method": ("torch.Tensor.view", [(2, 3)]),
        "function": ("torch.cat", []),
        "operator": ("torch.Tensor.matmul", [(2, 3), (2, 3)]),
        "item": ("torch.Tensor.__getitem__", [(2, 3)]),
    }


def test_the_source_of_a_bare_failure_is_called_from_the_loop() -> None:
    """Each statement by the one before it, from the guard's frame on; nothing of who called that."""

    def inner() -> None:
        raise RuntimeError

    def loop() -> None:
        inner()

    trace = bare_failure(crash_of(loop), None)
    chain = []
    at = trace.ops[-1].source
    while at >= 0:
        chain.append(trace.sources[at].function.rpartition(".")[2])
        at = trace.sources[at].caller
    assert chain == ["inner", "loop", "crash_of"]
