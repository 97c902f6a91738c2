"""``tb-shapes show``: the table of layers, the totals and the findings."""

from argparse import ArgumentParser, Namespace

from tb_shapeplugin.cli.target import add_target, captures

HELP = "print the table of layers, the totals and what is wrong"


def add_options(parser: ArgumentParser) -> None:
    """The command's arguments."""
    add_target(parser)
    parser.add_argument("--columns", help="names of columns of the table, with commas between them: path,flops,saved_bytes")
    parser.add_argument("--depth", type=int, help="deepest level of the module tree that is shown")


def run(options: Namespace) -> int:
    """Prints every capture of the target; 0, whatever they found."""
    columns = options.columns.split(",") if options.columns is not None else None
    print("\n\n".join(one.table(depth=options.depth, columns=columns) for one in captures(options)))
    return 0
