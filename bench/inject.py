"""Plants random faults into models that run: how many are found, how many repaired, what is said besides, and at what cost."""

import argparse
import json
import os
import random
import signal
import statistics
import sys
import warnings
from collections import Counter
from collections.abc import Iterable
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeAlias

os.environ |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}  # read when the package is imported
sys.path.insert(0, str(Path(__file__).parents[1]))  # some of the models are animals of tests/zoo

import torch
from models import conditions
from planting.drawing import KINDS, draw
from planting.handmade import Deep
from planting.judging import diagnosed, judged
from planting.layers import Side, put_side
from planting.statements import Statement
from planting.subjects import SUBJECTS
from planting.telling import told

Task: TypeAlias = tuple[int, int, tuple[str, ...], tuple[str, ...]]  # seed, number, kinds of faults, models

DEEP = 300  # layers
_SUMMED = ("findings", "spurious", "repeated", "applied", "broken", "raised", "redraws")


def verdict_on(task: Task, *, whole: bool = False) -> dict[str, Any]:
    """The verdict on one plant, as plain data and as text."""
    plant = draw(*task)
    verdict = judged(plant)
    return {
        "kinds": [planted.fault.kind for planted in plant.faults],
        "ops": [planted.fault.op if isinstance(planted.fault, Statement) else "" for planted in plant.faults],
        "found": verdict.found,
        "fixed": verdict.fixed,
        "findings": len(verdict.errors),
        "spurious": len(verdict.spurious),
        "repeated": verdict.repeated,
        "applied": verdict.applied,
        "broken": len(verdict.broken),
        "raised": bool(verdict.raised),
        "runs": verdict.runs,
        "seconds": verdict.seconds,
        "redraws": plant.redraws,
        "text": told(f"{task[0]}:{task[1]}", plant, verdict, whole=whole),
    }


def deep(faults: int) -> dict[str, Any]:
    """What a diagnosis of very many layers costs."""
    torch.manual_seed(0)
    model = Deep(DEEP)
    for at in range(1, faults + 1):
        put_side(Side(f"layers.{DEEP * at // (faults + 1)}.1", "in_features", 16, 16 + at, "input side"), model)
    capture, runs, seconds = diagnosed((model, (torch.randn(4, 16),), {}))
    fixed = sum(any(fix.verified for fix in finding.fixes) for finding in capture.findings)
    return {"faults": faults, "findings": len(capture.findings), "fixed": fixed, "runs": runs, "seconds": round(seconds, 2)}


def summed(verdicts: list[dict[str, Any]]) -> dict[str, Any]:
    """All verdicts as one row a kind of fault, and what they have in common."""
    rows: dict[str, dict[str, float]] = {}
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in (*KINDS, "all")}
    for verdict in verdicts:
        for kind, found, fixed in zip(verdict["kinds"], verdict["found"], verdict["fixed"], strict=True):
            for row in (kind, "all"):
                counts[row].update(faults=1, found=found, fixed=fixed)
    for kind, count in counts.items():
        if count["faults"]:
            share = {name: round(100 * count[name] / count["faults"], 2) for name in ("found", "fixed")}
            rows[kind] = {"faults": count["faults"], **{f"{name} %": value for name, value in share.items()}}
    total = Counter({name: sum(verdict[name] for verdict in verdicts) for name in _SUMMED})
    findings = max(1, total["findings"])
    return {"rows": rows, **total, "spurious %": round(100 * total["spurious"] / findings, 2), **_cost(verdicts)}


def _cost(verdicts: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        name: {"median": round(statistics.median(values), 2), "p90": round(values[int(0.9 * len(values))], 2), "most": round(values[-1], 2)}
        for name in ("runs", "seconds")
        for values in [sorted(verdict[name] for verdict in verdicts)]
    }


def by_op(verdicts: Iterable[dict[str, Any]]) -> dict[str, tuple[int, int, int]]:
    """Of the wrong arguments of each op: how many, how many found, how many repaired."""
    seen: dict[str, list[tuple[bool, bool]]] = {}
    for verdict in verdicts:
        for op, found, fixed in zip(verdict["ops"], verdict["found"], verdict["fixed"], strict=True):
            seen.setdefault(op, []).append((found, fixed))
    return {op: (len(of), sum(f for f, _ in of), sum(x for _, x in of)) for op, of in sorted(seen.items()) if op}


def _started() -> None:
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plants", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6), help="a fresh one unless given")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="processes")
    parser.add_argument("--only", choices=KINDS, action="append", help="this kind of fault; may be given again")
    parser.add_argument("--model", choices=SUBJECTS, action="append", help="this model; may be given again")
    parser.add_argument("--replay", metavar="SEED:N", action="append", help="one plant of an earlier run, with all that is said of it")
    parser.add_argument("-v", "--verbose", action="store_true", help="tell each plant whose diagnosis is not right")
    return parser.parse_args()


def main() -> None:
    """Prints a table, and all of it as JSON in the last line."""
    options = _options()
    _started()
    kinds, subjects = tuple(options.only or KINDS), tuple(options.model or SUBJECTS)
    if options.replay:
        for replay in options.replay:
            seed, _, number = replay.partition(":")
            print(verdict_on((int(seed), int(number), kinds, subjects), whole=True)["text"], end="\n\n")
        return
    print(f"seed {options.seed}, {options.plants} plants in {len(subjects)} models", flush=True)
    tasks = ((options.seed, number, kinds, subjects) for number in range(options.plants))
    verdicts = []
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # no process is left behind
    with get_context("spawn").Pool(options.jobs, _started) as pool:
        for verdict in pool.imap(verdict_on, tasks):
            verdicts.append(verdict)
            if options.verbose and verdict["text"]:
                print(verdict["text"], flush=True)
    _report(options.seed, verdicts)


def _report(seed: int, verdicts: list[dict[str, Any]]) -> None:
    figures = summed(verdicts)
    print(f"\n{'':12}   faults   found %   fixed %")
    for kind, row in figures["rows"].items():
        print(f"{kind:12} {row['faults']:8} {row['found %']:9.2f} {row['fixed %']:9.2f}")
    for op, (count, found, fixed) in by_op(verdicts).items():
        print(f"    {op:12} {count:4} {found:9} {fixed:9}")
    share = f"{figures['spurious']} of {figures['findings']} findings ({figures['spurious %']} %)"
    print(f"\nspurious {share}, {figures['repeated']} told again")
    print(f"verified fixes applied for real: {figures['applied']}, broken {figures['broken']}; captures that raised: {figures['raised']}")
    for name in ("runs", "seconds"):
        print(f"{name:8} " + ", ".join(f"{which} {value}" for which, value in figures[name].items()))
    print(f"drawn again: {figures['redraws']}")
    deeps = [deep(faults) for faults in (0, 1, 3)]
    for row in deeps:
        print(f"{DEEP} layers: " + ", ".join(f"{name} {value}" for name, value in row.items()))
    print(json.dumps({"bench": "inject", "seed": seed, "conditions": conditions(), **figures, "deep": deeps}))


if __name__ == "__main__":
    main()
