"""The program ``tb-shapes``: picks the command, turns a wrong call into one sentence and exit code 2."""

import os
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Final

from tb_shapeplugin.base.errors import ShapesError
from tb_shapeplugin.base.names import VERSION
from tb_shapeplugin.cli import check, export, show

_COMMANDS: Final = {"show": show, "check": check, "export": export}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code: 0, 1 where ``check`` finds an error, 2 for wrong use.

    Example:
        >>> main(["check", "nets.digits:make", "--input", "8x1x28x28"])
        0
    """
    options = _parser().parse_args(arguments)
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # the user's package lies where the command is given, as with python -m
    _let_any_terminal_print()
    try:
        return int(options.run(options))
    except ShapesError as error:
        print(f"tb-shapes: {error}", file=sys.stderr)
        return 2


def _parser() -> ArgumentParser:
    parser = ArgumentParser(prog="tb-shapes", description="The shapes of a PyTorch model, and why its forward fails.")
    parser.add_argument("--version", action="version", version=f"tb-shapes {VERSION}")
    commands = parser.add_subparsers(required=True, metavar="command")
    for name, command in _COMMANDS.items():
        sub = commands.add_parser(name, help=command.HELP, description=f"{command.HELP[0].upper()}{command.HELP[1:]}.")
        command.add_options(sub)
        sub.set_defaults(run=command.run)
    return parser


def _let_any_terminal_print() -> None:
    """A terminal whose encoding lacks ✕ shows a ? there."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")
