"""What a capture costs, beside an eager forward, a real run, add_graph and itself a second time: ratios of CPU time within one run."""

import argparse
import contextlib
import gc
import io
import json
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
import torchinfo
from models import MODELS, QUICK, Subject, conditions, of_subject, subjects
from own_process import row_of_own_process
from record_size import add_shapes_bytes, measured
from scale import WITHOUT_MEMORY
from torch.utils.tensorboard import SummaryWriter

import tb_shapeplugin as shapes
from tb_shapeplugin.tracing.subject import Subject as Recorded
from tb_shapeplugin.tracing.trace import Run

_EAGER, _SHAPE_LEVEL, _RECORDING, _ADD_GRAPH, _AGAIN = "eager", "shape level", "recording", "add_graph", "add_shapes again"
_SCALE = str(Path(__file__).with_name("scale.py"))
_FEWEST_OPS = 300  # of a record whose size is compared: below that a record is mostly names


@contextlib.contextmanager
def contestants(subject: Subject) -> Iterator[dict[str, Callable[[], object]]]:
    """What is timed on one model; the eager forward is the measure of all."""
    model, given = subject.model, (subject.args, subject.kwargs)
    traceable, tensors = subject.for_add_graph()

    def add_graph() -> None:
        with tempfile.TemporaryDirectory() as folder, contextlib.closing(SummaryWriter(folder)) as writer:
            writer.add_graph(traceable, tensors)

    def recording() -> None:
        run = Run(Recorded(subject.name, model, *given), "line")
        run.run()
        run.trace("real")

    def torchinfo_summary() -> None:
        torchinfo.summary(model, input_data=list(subject.args) or subject.kwargs, verbose=0)

    with tempfile.TemporaryDirectory() as folder, contextlib.closing(SummaryWriter(folder)) as writer:
        yield {
            _EAGER: subject.forward,
            _SHAPE_LEVEL: lambda: shapes.capture(model, *given),
            _RECORDING: recording,
            "real": lambda: shapes.capture(model, *given, execution="real"),
            "torchinfo": torchinfo_summary,
            _ADD_GRAPH: add_graph,
            _AGAIN: lambda: shapes.add_shapes(writer, model, *given),
        }


def seconds(run: Callable[[], object]) -> float | None:
    """CPU seconds of one run, quiet, on a process without garbage; None where it fails."""
    gc.collect()
    start = time.process_time()
    try:
        with torch.no_grad(), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            run()
    except Exception:
        return None
    return time.process_time() - start


def least_seconds(subject: Subject, repeats: int) -> dict[str, float | None]:
    """The least CPU time of each contestant; repeats are interleaved, the first one only warms up.

    add_graph comes last: it leaves a class for every module behind, and all that is done with modules takes longer from then on.
    """
    taken: dict[str, list[float | None]] = {}
    with contestants(subject) as runs:
        for among in ([name for name in runs if name != _ADD_GRAPH], [_ADD_GRAPH]):
            for repeat in range(1 + (repeats if _ADD_GRAPH not in among else min(repeats, 2))):
                for name in among:
                    one = seconds(runs[name])
                    if repeat:
                        taken.setdefault(name, []).append(one)
    return {name: None if None in ones else min(one for one in ones if one is not None) for name, ones in taken.items()}


def row_of(subject: Subject, repeats: int) -> dict[str, Any]:
    """Every figure of one model."""
    least = least_seconds(subject, repeats)
    eager, again = least[_EAGER], least[_AGAIN]
    assert eager is not None
    size = measured(subject)
    ops, everything = add_shapes_bytes(subject, name="everything", source="full")
    times = {name: None if one is None else round(one / eager, 2) for name, one in least.items() if name not in (_EAGER, _AGAIN)}
    shape_level, graph = least[_SHAPE_LEVEL], least[_ADD_GRAPH]
    return {
        **of_subject(subject),
        "eager seconds": round(eager, 4),
        "times eager": times,
        "shape level seconds": None if shape_level is None else round(shape_level, 4),
        "times faster than add_graph": None if graph is None or shape_level is None else round(graph / shape_level, 1),
        "again ms": None if again is None else round(again * 1e3, 2),
        "ops": ops,
        "bytes an op": size["bytes_per_op"],
        "bytes an op, everything": round(everything / ops, 2),
        "times smaller than add_graph": size["times_smaller"],
    }


def reach(rows: dict[str, dict[str, Any]], scale: dict[str, dict[str, Any]]) -> list[tuple[str, str, bool]]:
    """What was to be reached, what was, and whether that is enough."""

    def median(values: list[float]) -> float:
        return round(statistics.median(values), 2)

    def known(key: str, among: dict[str, dict[str, Any]] = rows) -> list[float]:
        return [row[key] for row in among.values() if row[key] is not None]

    shape_level = median([row["times eager"][_SHAPE_LEVEL] for row in rows.values()])
    over = {name: row["shape level seconds"] - 5 * row["eager seconds"] for name, row in rows.items()}
    worst = max(over, key=lambda name: over[name])
    recording = median([row["times eager"][_RECORDING] for row in rows.values()])
    faster = known("times faster than add_graph")
    large = {name: row for name, row in rows.items() if row["ops"] >= _FEWEST_OPS}
    lines = [
        ("shape level incl. the copy, median of times an eager forward: at most 1.0", f"{shape_level}", shape_level <= 1),
        ("shape level, worst: at most 5 × eager + 0.5 s", f"{worst}: 5 × eager + {over[worst]:.2f} s", over[worst] <= 0.5),
        ("recording on a real run, median of times the run without: at most 1.25", f"{recording}", recording <= 1.25),
        ("times faster than add_graph, median: at least 10", f"{median(faster)}", median(faster) >= 10),
        ("add_shapes of an unchanged model, second call, worst: at most 5 ms", f"{max(known('again ms'))}", max(known("again ms")) <= 5),
    ]
    if large:
        sizes, whole = known("bytes an op", large), known("bytes an op, everything", large)
        smaller = known("times smaller than add_graph", large)
        lines += [
            (f"record, bytes an op, worst of ≥ {_FEWEST_OPS} ops: at most 20", f"{max(sizes)}", max(sizes) <= 20),
            ("record, times smaller than add_graph's event, worst: at least 40", f"{min(smaller)}", min(smaller) >= 40),
            ("record with the text of every function, bytes an op, worst: at most 60", f"{max(whole)}", max(whole) <= 60),
        ]
    for name, row in scale.items():
        figures = f"{row['mb_of_the_capture']} MB, {row['seconds']} s, {row['ops']} ops"
        lines.append((f"{name}, MB of the capture: under 100", figures, row["completed"] and row["mb_of_the_capture"] < 100))
    return lines


def main() -> None:
    """Prints one row a model, the reach, and all of it as JSON in the last line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one model, one repeat, no large one")
    parser.add_argument("--only", help="these models, by name with commas between")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--row", help="measure this model here")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    repeats = 1 if options.quick else options.repeats
    if options.row:
        print(json.dumps(row_of(next(subjects((options.row,))), repeats)))
        return
    told = conditions() | {"repeats": repeats, "clock": "CPU seconds of the process, the least of the repeats"}
    for name, value in told.items():
        print(f"{name}: {value}")
    print()
    rows = {}
    for name in options.only.split(",") if options.only else QUICK if options.quick else MODELS:
        row = rows[name] = row_of_own_process(__file__, name, "--repeats", str(repeats))
        times = "  ".join(f"{what} {'fails' if value is None else value}" for what, value in row["times eager"].items())
        rest = f"again {row['again ms']} ms  {row['ops']} ops  {row['bytes an op']} B/op"
        print(f"{name:13} eager {row['eager seconds']:.3f} s, times that: {times}  {rest}", flush=True)
    print("(shape level and real: whole captures; recording: a real run that is written down, without what leaves the model as found;")
    print(" add_graph on a wrapper of positional tensors, as it fails on most models as they are called)\n")
    tasks = () if options.quick or options.only else tuple(f"llama-70b/{context}" for context in WITHOUT_MEMORY)
    scale = {task: row_of_own_process(_SCALE, task) for task in tasks}
    reached = reach(rows, scale)
    for what, got, enough in reached:
        print(f"reach: {'met   ' if enough else 'missed'} {what}: {got}")
    print()
    lines = [{"what": what, "got": got, "met": enough} for what, got, enough in reached]
    print(json.dumps({"bench": "capture", "conditions": told, "rows": rows, "scale": scale, "reach": lines}))


if __name__ == "__main__":
    main()
