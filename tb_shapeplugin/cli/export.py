"""``tb-shapes export``: a capture's numbers as CSV, JSON or Markdown."""

import sys
from argparse import ArgumentParser, Namespace
from typing import TextIO

from tb_shapeplugin.api.captures import Capture
from tb_shapeplugin.base.errors import ShapesError
from tb_shapeplugin.cli.target import add_target, captures

HELP = "write the numbers as CSV, JSON or Markdown"


def add_options(parser: ArgumentParser) -> None:
    """The command's arguments."""
    add_target(parser)
    parser.add_argument("--format", choices=("csv", "json", "markdown"), default="markdown", help="default: %(default)s")
    parser.add_argument("--table", default="modules", help="of CSV: modules, ops, tensors, memory or allocations (default: %(default)s)")
    parser.add_argument("--out", help="the file; without one it is printed")


def run(options: Namespace) -> int:
    """Writes the one capture of the target; 0."""
    found = list(captures(options))
    if len(found) != 1:
        names = ", ".join(repr(one.name) for one in found) or "none"
        raise ShapesError(f"export takes one capture, the target holds {len(found)}: {names}. Name the file of one of them.")
    if options.out is None:
        _write(found[0], options, sys.stdout)
        return 0
    try:
        with open(options.out, "w", encoding="utf-8", newline="") as file:
            _write(found[0], options, file)
    except OSError as error:
        raise ShapesError(f"{options.out!r} can't be written: {error.strerror or error}. Choose a file in a directory that can.") from error
    return 0


def _write(capture: Capture, options: Namespace, file: TextIO) -> None:
    if options.format == "csv":
        capture.to_csv(file, options.table)
    else:
        file.write(capture.to_json() + "\n" if options.format == "json" else capture.to_markdown())
