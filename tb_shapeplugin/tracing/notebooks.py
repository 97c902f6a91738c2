"""Which cell of a notebook a file stands for: IPython keeps cells under made-up file names."""

import sys
from typing import Any


def cell_number(filename: str) -> int | None:
    """The number of the cell whose code has that file name; None for any other file.

    Example:
        >>> cell_number("<ipython-input-12-0123456789ab>")
        12
    """
    if filename.startswith("<ipython-input-"):
        number = filename.removeprefix("<ipython-input-").partition("-")[0]
        return int(number) if number.isdecimal() else None
    if "ipykernel_" not in filename:
        return None
    shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    known = getattr(getattr(shell, "compile", None), "_filename_map", {})  # written by IPython's own compiler, from 7.21
    number_of_cell = known.get(filename) if isinstance(known, dict) else None
    return number_of_cell if isinstance(number_of_cell, int) else None
