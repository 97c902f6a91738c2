"""``tb-shapes show``: the table of layers, the totals and the findings."""

from argparse import ArgumentParser, Namespace

from tb_shapeplugin.cli.target import add_target, captures

HELP = "print the table of layers, the totals and what is wrong"


def add_options(parser: ArgumentParser) -> None:
    """The command's arguments."""
    add_target(parser)


def run(options: Namespace) -> int:
    """Prints every capture of the target; 0, whatever they found."""
    print("\n\n".join(map(str, captures(options))))
    return 0
