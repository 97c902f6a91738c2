"""``tb-shapes check``: one line a model, the whole of one in which something was found; fails on errors."""

from argparse import ArgumentParser, Namespace

from tb_shapeplugin.api.captures import Capture
from tb_shapeplugin.cli.target import add_target, captures

HELP = "exit with 1 when a model doesn't run or an error is found"


def add_options(parser: ArgumentParser) -> None:
    """The command's arguments."""
    add_target(parser)


def run(options: Namespace) -> int:
    """Prints what was found; 1 when a capture didn't complete or holds an error, else 0."""
    found = captures(options)
    for capture in found:
        if capture.findings or not capture.completed:
            print(capture, end="\n\n")
    for capture in found:
        print(_verdict(capture))
    return int(any(_fails(capture) for capture in found))


def _fails(capture: Capture) -> bool:
    return not capture.completed or any(finding.severity == "error" for finding in capture.findings)


def _verdict(capture: Capture) -> str:
    counts = {word: sum(finding.severity == word for finding in capture.findings) for word in ("error", "warning", "note")}
    told = ", ".join(f"{count} {word if count == 1 else word + 's'}" for word, count in counts.items() if count)
    return f"{'✕' if _fails(capture) else '✓'} {capture.name}: {'completed' if capture.completed else 'failed'}, {told or 'nothing found'}"
