"""load: the captures in a saved file, an event file, a run or a whole logdir. Needs no torch."""

import os

from tb_shapeplugin.api.captures import Capture
from tb_shapeplugin.base.errors import RecordError, ShapesError
from tb_shapeplugin.read.event_files import stored_records


def load(path: str | os.PathLike[str]) -> list[Capture]:
    """Every capture under a path, runs in the order of their names, records in the order in which they were written.

    Args:
        path: a file written by ``Capture.save``, an event file, a run's directory or a logdir.

    Raises:
        ShapesError: nothing is there, or a file is damaged or no record; every such file is named.

    Example:
        >>> [captured.name for captured in shapes.load("runs")]  # doctest: +SKIP
        ['model']
    """
    try:
        return [Capture(stored.open()) for stored in stored_records(path)]
    except RecordError as error:
        raise ShapesError(str(error)) from error
