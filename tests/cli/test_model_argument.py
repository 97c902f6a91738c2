"""What a command line may say of a model and its inputs, and what is said back when it is wrong."""

import sys
from pathlib import Path

import pytest
import torch

from tb_shapeplugin.base.errors import ShapesError
from tb_shapeplugin.cli.model_argument import InputArgument, model_argument, names_model, parse_input


@pytest.fixture(autouse=True)
def _importable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.parametrize("text, expected", [
    ("8x3x224x224:float32", InputArgument((8, 3, 224, 224), "float32")),
    ("8x3", InputArgument((8, 3), "float32")),
    ("5:int64", InputArgument((5,), "int64")),
    ("0x3:bool", InputArgument((0, 3), "bool")),
    ("scalar:int64", InputArgument((), "int64")),
    ("tokens=8x16:int64", InputArgument((8, 16), "int64", "tokens")),
])  # fmt: skip
def test_inputs_are_read(text: str, expected: InputArgument) -> None:
    """Sizes, a dtype that may be left out, a keyword."""
    assert parse_input(text) == expected


@pytest.mark.parametrize("text", ["", "8,3", "8x", "x8", "-1x3", "8x3:", "1name=3", "=3", "8x3:float32:cpu", "8X3", "name=", "8 x 3"])
def test_an_input_of_another_form_is_refused_with_the_form(text: str) -> None:
    """The sentence shows both forms."""
    with pytest.raises(ShapesError, match="8x3x224x224:float32, a keyword as name=8x16:int64"):
        parse_input(text)


def test_an_unknown_dtype_is_named() -> None:
    """A short name is not one of torch's."""
    with pytest.raises(ShapesError, match=r"f32 is no dtype\. .*float32"):
        parse_input("8x3:f32")


@pytest.mark.parametrize("text, is_model", [
    ("pkg.module:factory", True), ("m:Net.build", True), ("runs/digits", False), ("runs", False), ("./m:f", False), ("m:", False),
])  # fmt: skip
def test_a_model_is_told_from_a_path(text: str, is_model: bool) -> None:
    """By the colon between two dotted names."""
    assert names_model(text) is is_model


def test_a_factory_may_give_a_model_its_args_and_its_kwargs() -> None:
    """A function, a class, a built module; with args; with kwargs."""
    for name in ("alone", "Net", "built"):
        made = model_argument(f"user_nets.digits:{name}")
        assert type(made.model).__name__ == "Net" and made.args == () and made.kwargs == {}
    assert made.model is sys.modules["user_nets.digits"].built
    assert model_argument("user_nets.digits:with_args").args[0].shape == (4, 1, 28, 28)
    assert list(model_argument("user_nets.digits:with_kwargs").kwargs) == ["ids"]


def test_inputs_replace_the_factorys() -> None:
    """Positional ones all together, keywords by name."""
    made = model_argument("user_nets.digits:with_args", (parse_input("9x1x28x28:float64"),))
    assert [(given.shape, given.dtype) for given in made.args] == [((9, 1, 28, 28), torch.float64)]
    made = model_argument("user_nets.digits:with_kwargs", (parse_input("mask=2x3:bool"),))
    assert sorted(made.kwargs) == ["ids", "mask"] and made.kwargs["mask"].dtype == torch.bool
    made = model_argument("user_nets.digits:with_kwargs", (parse_input("ids=5x6:int64"),))
    assert made.kwargs["ids"].shape == (5, 6)


@pytest.mark.parametrize("text, words", [
    ("no_such_package:make", ("There is no module no_such_package", "directory that holds it")),
    ("user_nets.none:make", ("There is no module user_nets.none",)),
    ("user_nets.torn:make", ("Importing user_nets.torn raised ModuleNotFoundError", "torn.py:1", "a_package_that_is_not_there")),
    ("user_nets.digits:absent", ("user_nets.digits has no absent", "alone", "package.module:factory")),
    ("user_nets.digits:Net.absent", ("has no Net.absent",)),
    ("user_nets.digits:number", ("gave 7", "(model, args, kwargs)")),
    ("user_nets.digits:nothing", ("gave None",)),
    ("user_nets.digits:wrong_tuple", ("a tuple of Net, tuple, dict, str",)),
    ("user_nets.digits:wrong_kwargs", ("a tuple of Net, tuple, list",)),
    ("user_nets.digits:raises", ("raised ValueError", "digits.py:", "no weights here", "Mend it")),
    ("user_nets.digits:leaves", ("raised SystemExit", "bye")),
])  # fmt: skip
def test_what_is_wrong_is_told_in_one_sentence_with_the_way_out(text: str, words: tuple[str, ...]) -> None:
    """What, where, the values."""
    with pytest.raises(ShapesError) as raised:
        model_argument(text)
    assert "\n" not in str(raised.value)
    assert all(word in str(raised.value) for word in words), str(raised.value)
