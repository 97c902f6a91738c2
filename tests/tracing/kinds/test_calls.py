"""Ways to call modules: lazily, many times, by ``.forward``, out of plain containers, as functions of many kinds."""

import functools
from typing import Any

import pytest
import torch
from torch import nn

from tests.tracing.kinds.checking import checked, places
from tests.tracing.kinds.small import TwoLayers, batch

TWO_LAYERS = [("linear", "first"), ("relu", ""), ("linear", "second")]


def calls(capture: Any) -> list[tuple[str, int]]:
    """Every module call with its number, in the order in which they begin."""
    return [(row.path, row.call) for row in capture.modules if row.called]


LAZY = {
    "linear": lambda: nn.LazyLinear(5),
    "conv": lambda: nn.Sequential(nn.Unflatten(1, (1, 4)), nn.LazyConv1d(5, 3)),
    "batch_norm": lambda: nn.LazyBatchNorm1d(),
    "instance_norm": lambda: nn.Sequential(nn.Unflatten(1, (2, 2)), nn.LazyInstanceNorm1d(affine=True)),
}


@pytest.mark.parametrize("name", LAZY)
def test_a_lazy_layer_stays_lazy_and_its_output_is_known(name: str) -> None:
    """The user's own is never materialised; what comes out is what a first call would give."""
    capture = checked(LAZY[name](), (batch(),))
    assert any(row.lazy for row in capture.modules)
    assert capture.totals.params is None


def test_a_lazy_layer_that_is_called_twice() -> None:
    """The second call finds what the first one made."""

    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.LazyLinear(4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.layer(self.layer(x))

    assert places(checked(Twice(), (batch(),))) == [("linear", "layer"), ("linear", "layer")]


def test_one_module_called_many_times() -> None:
    """Fifty calls of one layer are fifty numbered calls."""

    class Repeats(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            for _ in range(50):
                x = self.layer(x)
            return x

    capture = checked(Repeats(), (batch(),))
    assert [op.call for op in capture.ops] == list(range(1, 51))
    assert calls(capture) == [("", 1), *(("layer", number) for number in range(1, 51))]


def test_a_module_that_calls_itself() -> None:
    """Recursion over a depth: each level is a call of the same module."""

    class Folds(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, x: torch.Tensor, depth: int = 3) -> torch.Tensor:
            return self.layer(x) if depth == 0 else self(x, depth - 1) + 1

    capture = checked(Folds(), (batch(),))
    assert [path for path, _ in calls(capture)].count("") == 4


class ByForward(nn.Module):
    """Calls its parts by .forward, as people do to skip hooks."""

    def __init__(self) -> None:
        super().__init__()
        self.net = TwoLayers()
        self.head = nn.Linear(2, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head.forward(self.net.forward(x)) + 1


def test_a_call_by_forward_is_a_call_of_that_module() -> None:
    """Its ops stand at its place, its inputs and outputs in the table, as if it had been called."""
    capture = checked(ByForward(), (batch(),))
    assert places(capture) == [("linear", "net.first"), ("relu", "net"), ("linear", "net.second"), ("linear", "head"), ("add", "")]
    assert calls(capture) == [("", 1), ("net", 1), ("net.first", 1), ("net.second", 1), ("head", 1)]


def test_a_module_called_by_its_forward_of_a_parent_class() -> None:
    """``super().forward(x)`` is the same call, not another one."""

    class Child(TwoLayers):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return super().forward(x) * 2

    capture = checked(Child(), (batch(),))
    assert calls(capture) == [("", 1), ("first", 1), ("second", 1)]


def test_the_models_own_forward_as_the_model() -> None:
    """``capture(model.forward, x)``: a bound method whose module is the root."""
    capture = checked(TwoLayers().forward, (batch(),))
    assert places(capture) == TWO_LAYERS
    assert calls(capture)[0] == ("", 1)


def test_a_forward_set_on_the_instance() -> None:
    """Libraries (accelerate, quantisers) replace forward by a function of their own."""
    model = TwoLayers()
    model.first.forward = functools.partial(lambda inner, x: inner(x) * 2, model.first.forward)
    capture = checked(model, (batch(),))
    assert ("mul", "first") in places(capture)


def test_layers_in_plain_containers_have_the_names_that_python_gives() -> None:
    """A list, a tuple, a dict, and a list inside a list."""

    class Plain(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.row = [nn.Linear(4, 4), nn.Linear(4, 4)]
            self.pair = (nn.Linear(4, 4),)
            self.named = {"head": nn.Linear(4, 4)}
            self.grid = [[nn.Linear(4, 4)], [nn.Linear(4, 2)]]

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            for layer in (*self.row, *self.pair, self.named["head"], self.grid[0][0], self.grid[1][0]):
                x = layer(x)
            return x

    capture = checked(Plain(), (batch(),))
    assert [path for _, path in places(capture)] == ["row[0]", "row[1]", "pair[0]", "named['head']", "grid[0][0]", "grid[1][0]"]


def test_a_module_made_inside_a_forward() -> None:
    """It is held by a variable only: its name is the variable's. What its constructor calls are ops, too."""

    class Makes(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            layer = nn.Linear(4, 2)
            return layer(x)

    assert places(checked(Makes(), (batch(),)))[-1] == ("linear", "layer")


class Callable:
    """Not a module, but callable, holding modules and tensors."""

    def __init__(self) -> None:
        self.net = TwoLayers()
        self.scale = torch.ones(2)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return self.net(x) * self.scale

    def method(self, x: torch.Tensor) -> torch.Tensor:
        return self(x) + 1

    @classmethod
    def of_class(cls, x: torch.Tensor) -> torch.Tensor:
        return x.relu()

    @staticmethod
    def static(x: torch.Tensor) -> torch.Tensor:
        return x.relu()


def plain(x: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
    """A function of a script."""
    return x * scale


FUNCTIONS: dict[str, tuple[Any, list[str]]] = {
    "function": (plain, ["mul"]),
    "lambda": (lambda x: x.relu() + 1, ["relu", "add"]),
    "partial": (functools.partial(plain, scale=3.0), ["mul"]),
    "partial_of_a_module": (functools.partial(TwoLayers()), ["linear", "relu", "linear"]),
    "callable_object": (Callable(), ["linear", "relu", "linear", "mul"]),
    "bound_method": (Callable().method, ["linear", "relu", "linear", "mul", "add"]),
    "class_method": (Callable.of_class, ["relu"]),
    "static_method": (Callable.static, ["relu"]),
    "torch_function": (torch.relu, ["relu"]),
    "functional": (nn.functional.softplus, ["softplus"]),
    "torch_method": (torch.Tensor.relu, ["relu"]),
    "wrapped": (functools.wraps(plain)(lambda *args: plain(*args)), ["mul"]),
    "cached": (functools.lru_cache(maxsize=2)(plain), ["mul"]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_many_kinds_are_models(name: str) -> None:
    """Whatever can be called with tensors."""
    function, expected = FUNCTIONS[name]
    if hasattr(function, "cache_clear"):
        function.cache_clear()
    assert [op for op, _ in places(checked(function, (batch(),)))] == expected


def test_modules_of_a_callable_object_have_their_place() -> None:
    """Its attributes name them."""
    assert [path for _, path in places(checked(Callable(), (batch(),)))] == ["net.first", "net", "net.second", ""]


def test_a_model_inside_the_arguments() -> None:
    """In a list, in a dict, and as keyword: ensembles, teachers and losses."""

    def distil(students: list[nn.Module], x: torch.Tensor, *, teachers: dict[str, nn.Module], loss: nn.Module) -> torch.Tensor:
        return sum(loss(student(x), teachers["big"](x)) for student in students)

    students, teachers = [TwoLayers(), TwoLayers()], {"big": TwoLayers()}
    capture = checked(distil, (students, batch()), {"teachers": teachers, "loss": nn.MSELoss()})
    paths = {path for _, path in places(capture)}
    assert {"students[0].first", "students[1].first", "teachers['big'].first", "loss"} <= paths


def test_a_module_given_to_a_modules_forward() -> None:
    """The root is a module and one of its arguments is one too: it has the argument's name."""

    class Applies(nn.Module):
        def forward(self, x: torch.Tensor, head: nn.Module) -> torch.Tensor:
            return head(x)

    assert places(checked(Applies(), (batch(), nn.Linear(4, 1)))) == [("linear", "head")]


def test_containers_of_modules_and_parameters() -> None:
    """ModuleList, ModuleDict, ParameterList and ParameterDict."""

    class Holds(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])
            self.heads = nn.ModuleDict({"a": nn.Linear(4, 2)})
            self.scales = nn.ParameterList([torch.ones(4), torch.ones(4)])
            self.shifts = nn.ParameterDict({"a": torch.zeros(2)})

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            for layer, scale in zip(self.layers, self.scales, strict=True):
                x = layer(x) * scale
            return self.heads["a"](x) + self.shifts["a"]

    capture = checked(Holds(), (batch(),))
    assert [path for name, path in places(capture) if name == "linear"] == ["layers.0", "layers.1", "heads.a"]
    assert {"scales.0", "scales.1", "shifts.a"} <= {tensor.name for op in capture.ops for tensor in op.inputs}
