"""The tables that the rules read: rooms, limits, names, and the exceptions that may only shrink."""

from dataclasses import dataclass
from pathlib import Path

MOST_FILE_LINES = 500
MOST_FUNCTION_LINES = 60

# Files and functions ("path::name", "path::Class.name") that are longer today, with their length. A shorter one gets its new number or is
# struck out; none may be added: tests/house holds how many there are.
LONGER: dict[str, int] = {}

# Made by a program, measured by nobody.
GENERATED = (Path("frontend/src/wire/gen"),)

# A word that says nothing about what is inside.
EMPTY_WORDS = frozenset({"util", "utils", "helper", "helpers", "common", "manager", "managers"})

# A module of that name would replace the function on first import.
PUBLIC_FUNCTIONS = frozenset({"capture", "summary", "add_shapes", "guard", "watch", "load", "diff", "spec"})


@dataclass(frozen=True)
class Room:
    """What the code of a room may import besides its own room (and, in Python, the standard library)."""

    rooms: frozenset[str]
    libraries: frozenset[str]


def room(rooms: str = "", libraries: str = "") -> Room:
    """A Room of two lists of words.

    Example:
        >>> room("base record", "numpy").libraries
        frozenset({'numpy'})
    """
    return Room(frozenset(rooms.split()), frozenset(libraries.split()))


# numpy comes with every room that may hold a record: its columns are arrays. "google" is protobuf: events are messages of it.
PYTHON_ROOMS = {
    "base": room(),
    "record": room("base", "numpy"),
    "ops": room("base record"),
    "wire": room("base record", "numpy google"),
    "tracing": room("base record ops", "numpy torch"),
    "analyse": room("base record ops", "numpy"),
    "fixes": room("base record ops analyse"),
    "write": room("base record wire", "numpy google tensorboard tensorboardX"),
    "read": room("base record wire", "numpy google tensorboard"),
    "serve": room("base record wire read", "numpy werkzeug tensorboard"),
    "report": room("base record wire", "numpy"),
    "bridges": room("base record ops", "numpy torch onnx"),
    "training": room("base record tracing analyse write", "numpy torch"),
    "api": room("base record ops wire tracing analyse fixes write read report bridges training", "numpy torch"),
    "cli": room("base api"),
    "__main__": room("cli"),
}

_DRAWING = "preact @preact/signals"
FRONTEND_ROOMS = {
    "base": room(),
    "theme": room("base"),
    "model": room("base"),
    "layout": room("base model", "d3-hierarchy"),
    "render": room("base theme layout model"),
    "state": room("base model", "@preact/signals"),
    "widgets": room("base theme", f"{_DRAWING} @tanstack/virtual-core uplot"),
    "wire": room("base model", "@bufbuild/protobuf"),
    "panels": room("base theme model layout render state widgets", _DRAWING),
    "main": room("base theme model layout render state widgets wire panels", _DRAWING),
    "layout_worker": room("base theme model layout render state widgets wire panels"),
}

# Every panel may know the interface; the table of panels knows every panel.
PANEL_INTERFACE, PANEL_TABLE = "panel", "index"
