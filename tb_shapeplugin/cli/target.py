"""What a command looks at: a model that is captured now, or captures saved before; the options that say which."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from tb_shapeplugin.api.captures import Capture
from tb_shapeplugin.api.capturing import capture
from tb_shapeplugin.api.loading import load
from tb_shapeplugin.base.errors import ShapesError
from tb_shapeplugin.cli.model_argument import model_argument, names_model, parse_input


def add_target(parser: ArgumentParser) -> None:
    """Gives a command the argument and the options that ``captures`` reads.

    Example:
        >>> add_target(parser)
        >>> captures(parser.parse_args(["nets.digits:make", "--input", "8x1x28x28"]))
    """
    parser.add_argument("target", help="package.module:factory, or the path of a saved capture, an event file, a run or a logdir")
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="[NAME=]SIZES[:DTYPE]",
        help="an input as 8x3x224x224:float32, or name=8x16:int64 by keyword; once for each",
    )
    parser.add_argument("--backward", action="store_true", help="what a training step takes, the backward too")
    parser.add_argument("--what-if", action="store_true", help="what memory other sizes and other ways to train would take")
    parser.add_argument("--execution", choices=("auto", "fake", "real"), default="auto", help="default: auto")


def captures(options: Namespace) -> list[Capture]:
    """The captures of the target, at least one; ShapesError where there is none."""
    target: str = options.target
    if Path(target).exists():
        given_too = [f"--input {given}" for given in options.input] + ["--backward"] * options.backward + ["--what-if"] * options.what_if
        if given_too:
            raise ShapesError(f"{target} holds what was captured before, so {given_too[0]} has no use. Leave it out.")
        return load(target) or _nothing(f"{target} holds no captures. Write some with add_shapes or Capture.save.")
    if not names_model(target):
        return _nothing(f"{target} is no path that exists, and no model. Name a model as package.module:factory.")
    given = model_argument(target, tuple(map(parse_input, options.input)))
    name = getattr(given.model, "__name__", type(given.model).__name__)
    asked = {"execution": options.execution, "backward": options.backward, "what_if": options.what_if}
    return [capture(given.model, given.args, given.kwargs, name=name, **asked)]


def _nothing(message: str) -> list[Capture]:
    raise ShapesError(message)
