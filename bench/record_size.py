"""Bytes an op of a record, and how many times smaller it is than add_graph's event of the same model."""

import argparse
import contextlib
import io
import json
import tempfile
import warnings
from pathlib import Path
from typing import Any

from models import MODELS, QUICK, Subject, conditions, of_subject, subjects
from torch import nn
from torch.utils.tensorboard import SummaryWriter

import tb_shapeplugin as shapes


def add_graph_bytes(model: nn.Module, args: tuple[Any, ...]) -> int | None:
    """Bytes that add_graph adds to an event file; None where it fails."""
    with tempfile.TemporaryDirectory() as folder:
        writer = SummaryWriter(folder)
        writer.flush()
        (events,) = Path(folder).iterdir()
        before = events.stat().st_size
        try:
            with contextlib.redirect_stdout(io.StringIO()):  # it prints its failures
                writer.add_graph(model, args)
        except Exception:
            return None
        finally:
            writer.close()
        return events.stat().st_size - before


def add_shapes_bytes(subject: Subject, **options: Any) -> tuple[int, int]:
    """Ops of the record, and the bytes that add_shapes adds to an event file."""
    with tempfile.TemporaryDirectory() as folder:
        writer = SummaryWriter(folder)
        writer.flush()
        (events,) = Path(folder).iterdir()
        before = events.stat().st_size
        captured = shapes.add_shapes(writer, subject.model, subject.args, subject.kwargs, **options)
        writer.close()
        return len(captured.ops), events.stat().st_size - before


def measured(subject: Subject) -> dict[str, Any]:
    """One row; where add_graph fails on the model as people call it, it gets one that takes and gives tensors by position."""
    ops, event = add_shapes_bytes(subject)
    graph = None if subject.kwargs else add_graph_bytes(subject.model, subject.args)  # it takes no keywords
    wrapped = graph is None
    if wrapped:
        graph = add_graph_bytes(*subject.for_add_graph())
    return {
        **of_subject(subject),
        "ops": ops,
        "event_bytes": event,
        "bytes_per_op": round(event / ops, 2),
        "add_graph_event_bytes": graph,
        "add_graph_needs_wrapper": wrapped,
        "times_smaller": round(graph / event, 1) if graph else None,
    }


def main() -> None:
    """Prints one row a model, and all of it as JSON in the last line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one model only")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    told = conditions()
    for name, value in told.items():
        print(f"{name}: {value}")
    print(f"\n{'model':13} {'ops':>5} {'event':>9} {'bytes/op':>9} {'add_graph':>10} {'smaller':>8}")
    rows = {}
    for subject in subjects(QUICK if options.quick else tuple(MODELS)):
        row = rows[subject.name] = measured(subject)
        graph, times = row["add_graph_event_bytes"], row["times_smaller"]
        sign = "*" if row["add_graph_needs_wrapper"] and graph else ""
        figures = f"{graph or 'fails':>10} {f'{times}×' if times else '–':>8} {sign}"
        print(f"{subject.name:13} {row['ops']:5} {row['event_bytes']:9} {row['bytes_per_op']:9.2f} {figures}")
    print(
        "* add_graph fails on the model as it is called; measured on a wrapper of positional tensors. "
        "'event' is the whole event, header included.\n"
    )
    print(json.dumps({"bench": "record_size", "conditions": told, "rows": rows}))


if __name__ == "__main__":
    main()
