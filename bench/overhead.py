"""What a capture costs beside an eager forward, torchinfo and add_graph, as ratios within one run."""

import argparse
import contextlib
import io
import json
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable

import torch
import torchinfo
from models import Subject, TupleOutput, conditions, subjects
from torch.utils.tensorboard import SummaryWriter

import tb_shapeplugin as shapes


def contestants(subject: Subject) -> dict[str, Callable[[], object]]:
    """What is timed on one model; the eager forward is the measure of all."""
    model, argument = subject.model, subject.argument
    wrapped = TupleOutput(model).eval() if not isinstance(model, torch.nn.Sequential) else model

    def add_graph() -> None:
        with tempfile.TemporaryDirectory() as folder, contextlib.closing(SummaryWriter(folder)) as writer:
            writer.add_graph(wrapped, argument)

    return {
        "eager": lambda: model(argument),
        "capture auto": lambda: shapes.capture(model, argument),
        "capture fake": lambda: shapes.capture(model, argument, execution="fake"),
        "capture real": lambda: shapes.capture(model, argument, execution="real"),
        "torchinfo": lambda: torchinfo.summary(model, input_data=[argument], verbose=0),
        "add_graph": add_graph,
    }


def seconds(run: Callable[[], object]) -> float | None:
    """CPU seconds of one run, quiet; None where it fails."""
    start = time.process_time()
    try:
        with torch.no_grad(), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            run()
    except Exception:
        return None
    return time.process_time() - start


def ratios(subject: Subject, repeats: int) -> dict[str, float | None]:
    """Median CPU time of each contestant over that of the eager forward; repeats are interleaved, the first one only warms up."""
    runs = contestants(subject)
    taken: dict[str, list[float | None]] = {name: [] for name in runs}
    for repeat in range(repeats + 1):
        for name, run in runs.items():
            one = seconds(run)
            if repeat:
                taken[name].append(one)
    eager = statistics.median(one for one in taken["eager"] if one is not None)
    medians = {
        name: statistics.median(one for one in ones if one is not None) if None not in ones else None for name, ones in taken.items()
    }
    return {name: None if median is None else round(median / eager, 2) for name, median in medians.items()} | {
        "eager seconds": round(eager, 3)
    }


def main() -> None:
    """Prints one row a model, and all of it as JSON in the last line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one model, one repeat")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    found = subjects(options.quick)
    told = conditions(found) | {"repeats": 1 if options.quick else options.repeats, "clock": "CPU seconds of the process"}
    for name, value in told.items():
        print(f"{name}: {value}")
    print("\ntimes an eager forward (add_graph on a wrapper that gives a tuple where the model gives a dict):")
    rows = {}
    for subject in found:
        row = rows[subject.name] = ratios(subject, told["repeats"])
        print(f"{subject.name:12} " + "  ".join(f"{name} {'fails' if value is None else value}" for name, value in row.items()), flush=True)
    print()
    print(json.dumps({"bench": "overhead", "conditions": told, "rows": rows}))


if __name__ == "__main__":
    main()
