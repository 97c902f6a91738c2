"""Which architectures can be captured at the shape level, told as in a real run; beside it torchinfo, torchview and add_graph."""

import argparse
import contextlib
import copy
import inspect
import io
import json
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

os.environ |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}  # read when the package is imported
sys.path.insert(0, str(Path(__file__).parents[1]))  # some of the models are animals of tests/zoo

import torch
import torchinfo
import torchview
from architectures import FAMILIES
from architectures.building import Builder, Built
from models import conditions
from torch import nn
from torch.utils.tensorboard import SummaryWriter

import tb_shapeplugin as shapes

WORKS, NOT_STRICT = "works", "works with use_strict_trace=False"
GRACE_S, MOST_TIMES = 0.5, 10.0  # a capture may take ten eager forwards and half a second


def ran(capture: shapes.Capture) -> list[tuple[Any, ...]]:
    """Every op with its module and the shapes that it gave."""
    return [(op.name, op.module, op.call, tuple((out.shape, out.dtype) for out in op.outputs)) for op in capture.ops]


def contents(model: nn.Module) -> dict[str, torch.Tensor]:
    """Everything that the model's state holds, as bytes."""
    tensors = [*model.named_parameters(remove_duplicate=False), *model.named_buffers(remove_duplicate=False)]
    return {name: tensor.detach().clone().contiguous().reshape(-1).view(torch.uint8) for name, tensor in tensors}


def unchanged(model: nn.Module, before: dict[str, torch.Tensor], attributes: dict[str, dict[str, int]]) -> bool:
    """Is the model what it was, bit for bit, and every attribute of its modules the same object?"""
    after = contents(model)
    same = after.keys() == before.keys() and all(torch.equal(after[name], content) for name, content in before.items())
    return same and attributes_of(model) == attributes


def attributes_of(model: nn.Module) -> dict[str, dict[str, int]]:
    """Which object every attribute of every module is."""
    return {path: {name: id(value) for name, value in vars(module).items()} for path, module in model.named_modules()}


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of a run, and what it gave."""
    torch.manual_seed(0)
    start = time.process_time()
    given = run()
    return time.process_time() - start, given


def captured(model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The capture of one model beside a real run, fact by fact."""
    model(*args, **kwargs)
    eager = min(timed(lambda: model(*args, **kwargs))[0] for _ in range(2))
    yield "eager seconds", round(eager, 4)
    before, attributes = contents(model), attributes_of(model)
    shapes.capture(model, args, kwargs)
    seconds, auto = timed(lambda: shapes.capture(model, args, kwargs))
    yield "unchanged", unchanged(model, before, attributes)
    yield "capture", WORKS if auto.completed else auto.error
    yield "execution", auto.execution
    yield "unchecked", list(auto.unchecked)
    yield "seconds", round(seconds, 3)
    yield "times eager", round(seconds / eager, 1)
    _, real = timed(lambda: shapes.capture(model, args, kwargs, execution="real"))
    yield "ops", len(real.ops)
    yield "same ops", ran(auto) == ran(real)


def positional(model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """The arguments as add_graph takes them, in the order of forward's parameters: it has no keywords."""
    names = list(inspect.signature(model.forward).parameters)
    last = max((names.index(name) for name in kwargs if name in names), default=-1)
    return (*args, *(kwargs.get(name) for name in names[len(args) : last + 1]))


def add_graph(model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """add_graph with its defaults; where these refuse the model's output, without its strict mode."""
    given = positional(model, args, kwargs)
    with tempfile.TemporaryDirectory() as folder, contextlib.closing(SummaryWriter(folder)) as writer:
        try:
            writer.add_graph(model, given)
        except RuntimeError as error:
            if "strict" not in str(error):
                raise
            writer.add_graph(model, given, use_strict_trace=False)
            return NOT_STRICT
    return WORKS


def run_torchinfo(model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """torchinfo's summary with real inputs."""
    torchinfo.summary(model, input_data=kwargs or list(args), verbose=0, device="cpu")
    return WORKS


def run_torchview(model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """torchview's graph, not rendered."""
    torchview.draw_graph(model, input_data=kwargs or args, device="cpu")
    return WORKS


PEERS: dict[str, Callable[[nn.Module, tuple[Any, ...], dict[str, Any]], str]] = {
    "torchinfo": run_torchinfo,
    "torchview": run_torchview,
    "add_graph": add_graph,
}


def asked(name: str, built: Built) -> str:
    """How another tool does on the model: that it works, or the error's type and first words."""
    try:
        return PEERS[name](*built)
    except Exception as error:
        cause = error.__cause__ or error  # torchinfo wraps what it met
        return f"{type(cause).__name__}: {' '.join(str(cause).split())[:90]}"


def facts(builder: Builder) -> Iterator[tuple[str, Any]]:
    """Everything asked of one model; each tool gets a copy, so that none meets what another one left behind."""
    torch.manual_seed(0)
    built = builder()
    with torch.no_grad(), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield from captured(*built)
        for name in PEERS:
            yield name, asked(name, copy.deepcopy(built))


def send_facts(builder: Builder, pipe: Connection) -> None:
    """What the child process does: sends each fact as soon as it is known."""
    try:
        for fact in facts(builder):
            pipe.send(fact)
    except Exception as error:
        pipe.send(("failed", f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"))
    pipe.close()


def examined(builder: Builder, limit_s: float) -> dict[str, Any]:
    """The facts of one model, asked in a process of its own: neither a hang nor a crash can stop the table."""
    context = multiprocessing.get_context("fork")  # torch and transformers are imported once
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=send_facts, args=(builder, theirs), daemon=True)
    child.start()
    theirs.close()
    row: dict[str, Any] = {}
    end = time.monotonic() + limit_s
    try:
        while ours.poll(max(0.0, end - time.monotonic())):
            name, value = ours.recv()
            row[name] = value
        stopped = f"no answer within {limit_s:.0f} s"
        child.kill()
    except EOFError:
        child.join()
        stopped = f"the process died with {child.exitcode}"
    missing = [name for name in ("capture", *PEERS) if name not in row]
    if missing and "failed" not in row:
        row[missing[0]] = stopped
    return row


def verdict(row: dict[str, Any]) -> str:
    """What is to be said of a capture, "" where all is as it should be."""
    if "failed" in row:
        return row["failed"]
    if row["capture"] != WORKS:
        return row["capture"]
    said = []
    if row["execution"] != "fake":
        said.append(f"ran for real ({'; '.join(row['unchecked'])})")
    if not row["same ops"]:
        said.append("other ops than a real run")
    if not row["unchanged"]:
        said.append("the model is changed")
    if row["seconds"] > GRACE_S + MOST_TIMES * row["eager seconds"]:
        said.append("slow")
    return "; ".join(said)


def line(family: str, name: str, row: dict[str, Any]) -> str:
    """A row of the table."""
    told = [f"{family:18} {name:20} {row.get('ops', '-'):>6} {row.get('seconds', '-'):>7} {row.get('times eager', '-'):>7}"]
    told.append(f"{verdict(row) or WORKS:24}")
    told += [f"{row.get(name, '-')!s:46.46}" for name in PEERS]
    return "  ".join(told).rstrip()


def summary(rows: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The counts."""
    complete = [row for row in rows.values() if row.get("capture") == WORKS and "same ops" in row]
    counts: dict[str, Any] = {
        "architectures": len(rows),
        "captured": len(complete),
        "at the shape level": sum(row["execution"] == "fake" for row in complete),
        "same ops as a real run": sum(row["same ops"] for row in complete),
        "model unchanged": sum(row["unchanged"] for row in complete),
        f"within {MOST_TIMES:.0f} × eager + {GRACE_S} s": sum(
            row["seconds"] <= GRACE_S + MOST_TIMES * row["eager seconds"] for row in complete
        ),
        "median seconds": round(statistics.median(row["seconds"] for row in complete), 3) if complete else None,
    }
    counts |= {name: sum(row.get(name) == WORKS for row in rows.values()) for name in PEERS}
    return counts | {"add_graph with use_strict_trace=False": sum(row.get("add_graph") == NOT_STRICT for row in rows.values())}


def main() -> None:
    """Prints a row an architecture, the counts, and all of it as JSON in the last line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", metavar="NAME", action="append", help="this architecture; may be repeated")
    parser.add_argument("--family", choices=FAMILIES, action="append", help="this family; may be repeated")
    parser.add_argument("--limit", metavar="SECONDS", type=float, default=60.0, help="the most time for one architecture")
    options = parser.parse_args()
    known = {name: (family, builder) for family in FAMILIES for name, builder in FAMILIES[family].items()}
    if unknown := set(options.only or ()) - set(known):
        parser.error(f"there is no {', '.join(sorted(unknown))}. There are {', '.join(known)}.")
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    shapes.capture(nn.Identity(), torch.ones(1))  # whatever is loaded late is loaded before the first fork
    told = conditions() | {"clock": "CPU seconds of the process", "gradients": "off"}
    for name, value in told.items():
        print(f"{name}: {value}")
    print(
        f"\n{'family':18} {'architecture':20} {'ops':>6} {'seconds':>7} {'× eager':>7}  {'capture':24}  "
        + "  ".join(f"{n:46}" for n in PEERS)
    )
    rows: dict[str, dict[str, Any]] = {}
    for name, (family, builder) in known.items():
        if name in (options.only or known) and family in (options.family or FAMILIES):
            rows[name] = {"family": family} | examined(builder, options.limit)
            print(line(family, name, rows[name]), flush=True)
    counts = summary(rows)
    print()
    for name, value in counts.items():
        print(f"{name}: {value}")
    print(json.dumps({"bench": "coverage", "conditions": told, "rows": rows, "summary": counts}))


if __name__ == "__main__":
    main()
