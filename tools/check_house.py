"""Checks the rules of the house in both halves; prints each broken one with its way out, exits 1 if there is any.

Run it as ``python tools/check_house.py [top of a checkout]``. It needs the standard library only.
"""

import sys
from itertools import chain
from pathlib import Path

from house.every_file import check_every_file, check_name, list_files
from house.frontend_rooms import check_frontend, frontend_spans, read_sources
from house.lengths import check_lengths
from house.problem import Problem
from house.python_rooms import check_python, class_names, parse, python_spans


def check_house(root: Path) -> list[Problem]:
    """Every broken rule in the checkout at root, in the order of files and lines.

    Example:
        >>> check_house(Path("an/empty/folder"))
        []
    """
    paths = list_files(root)
    modules = parse(root, paths)
    sources = read_sources(root, paths)
    problems = chain(
        check_every_file(root, paths),
        check_python(modules),
        check_frontend(root, sources, paths),
        check_lengths(chain(python_spans(root, modules), frontend_spans(sources))),
        *(check_name(path, line, name, "class") for path, line, name in class_names(modules)),
    )
    return sorted(set(problems))


def main(arguments: list[str]) -> int:
    """Prints the broken rules of the checkout named by the first argument, else of this one; 1 if there are any."""
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parents[1]
    problems = check_house(root)
    for problem in problems:
        print(problem)
    print(f"house: {len(problems)} broken rules" if problems else f"house: {len(list_files(root))} files in order")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
