"""The peak that a capture tells, beside the live storages of the same step run for real, and beside the CPU allocator's own events."""

import argparse
import contextlib
import copy
import gc
import json
import statistics
import time
import warnings
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from allocator import Allocated, allocated
from models import LLAMA_7B, LLAMA_70B, MODELS, Subject, conditions, subjects
from own_process import peak_mb, row_of_own_process
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

import tb_shapeplugin as shapes

_OPTIMIZERS: dict[str, Callable[[Any], torch.optim.Optimizer]] = {
    "SGD with momentum": lambda parameters: torch.optim.SGD(parameters, lr=1e-4, momentum=0.9),
    "Adam": lambda parameters: torch.optim.Adam(parameters, lr=1e-4),
    "Adam with AMP": lambda parameters: torch.optim.Adam(parameters, lr=1e-4),
}
_AMP = "Adam with AMP"
_GAP_WORTH_A_NAME = 0.1  # percent
MODES = ("eval", *_OPTIMIZERS)


class Live(TorchDispatchMode):
    """Bytes of the storages that are alive: of each new one from the op on that gives it, until nobody holds it."""

    def __init__(self) -> None:
        super().__init__()
        self.now = self.peak = 0
        self._held: dict[int, weakref.ref[Any]] = {}

    def add(self, value: Any) -> None:
        for tensor in tree_leaves(value):
            if not isinstance(tensor, torch.Tensor):
                continue
            storage = tensor.untyped_storage()
            key, size = storage._cdata, storage.nbytes()
            if size and key not in self._held:
                self._held[key] = weakref.ref(storage, lambda _, key=key, size=size: self._drop(key, size))
                self.now += size
                self.peak = max(self.peak, self.now)

    def _drop(self, key: int, size: int) -> None:
        if self._held.pop(key, None) is not None:
            self.now -= size

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        self.add(result)
        return result


@dataclass(frozen=True)
class Peaks:
    """Bytes of one configuration."""

    told: int | None
    live: int
    allocator: Allocated
    unknown: str = ""

    @property
    def error(self) -> float | None:
        """Of what is told against the live storages, in percent."""
        return None if self.told is None else 100 * (self.told - self.live) / self.live

    @property
    def gap(self) -> float:
        """Of the live storages against the allocator, in percent."""
        return 100 * (self.live - self.allocator.peak) / self.allocator.peak

    @property
    def at_that_moment(self) -> float:
        """How much less tensors hold when the allocator holds most than at their own peak, in percent of the allocator's.

        Where an op's scratch memory makes up the gap and that much more, it is what moved the allocator's peak to that op.
        """
        return 100 * (self.live + sum(self.allocator.hidden.values()) - self.allocator.peak) / self.allocator.peak

    @property
    def names(self) -> str:
        """The ops whose scratch memory it is, the largest first."""
        shown = [f"{name} {size / 1e6:.2f} MB" for name, size in list(self.allocator.hidden.items())[:2]]
        return ", ".join(shown) if self.gap < -_GAP_WORTH_A_NAME else ""


def loss_of(output: Any) -> torch.Tensor:
    """The sum of all floating outputs that a gradient goes through."""
    floating = [leaf for leaf in tree_leaves(dict(output) if hasattr(output, "keys") else output) if isinstance(leaf, torch.Tensor)]
    return sum((leaf.float().mean() for leaf in floating if leaf.is_floating_point() and leaf.requires_grad), torch.zeros(()))


def amp(mode: str) -> contextlib.AbstractContextManager[Any]:
    """The autocast region of the mode."""
    return torch.autocast("cpu", torch.bfloat16) if mode == _AMP else contextlib.nullcontext()


def step(model: torch.nn.Module, subject: Subject, mode: str, optimizer: torch.optim.Optimizer | None) -> Any:
    """One iteration for real; what it gives has to be held to its end."""
    if optimizer is None:
        with torch.no_grad():
            return model(*subject.args, **subject.kwargs)
    with amp(mode):
        output = model(*subject.args, **subject.kwargs)
        loss = loss_of(output)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return output, loss


@contextlib.contextmanager
def _fresh(subject: Subject, mode: str) -> Iterator[tuple[torch.nn.Module, torch.optim.Optimizer | None]]:
    torch.manual_seed(0)
    model = copy.deepcopy(subject.model).train(mode != "eval")
    optimizer = None if mode == "eval" else _OPTIMIZERS[mode](model.parameters())
    gc.collect()
    yield model, optimizer
    del model, optimizer
    gc.collect()


def live_peak(subject: Subject, mode: str) -> int:
    """Of the second iteration: the first one makes the optimizer's state."""
    with _fresh(subject, mode) as (model, optimizer):
        live = Live()
        live.add([list(model.parameters()), list(model.buffers()), subject.args, subject.kwargs])
        for _ in range(1 if optimizer is None else 2):
            live.peak = live.now
            with live:
                held = step(model, subject, mode, optimizer)
            del held
        return live.peak


def allocator_of(subject: Subject, mode: str) -> Allocated:
    """The same of what the CPU allocator tells the profiler, upon what was there before."""
    with _fresh(subject, mode) as (model, optimizer):
        if optimizer is not None:
            step(model, subject, mode, optimizer)
            gc.collect()
        state = [] if optimizer is None else tree_leaves(list(optimizer.state.values()))
        held = [*model.parameters(), *model.buffers(), *tree_leaves((subject.args, subject.kwargs)), *state]
        storages = {t.untyped_storage()._cdata: t.untyped_storage().nbytes() for t in held if isinstance(t, torch.Tensor)}
        found = allocated(lambda: step(model, subject, mode, optimizer))
        return Allocated(sum(storages.values()) + found.peak, found.hidden)


def told_peak(subject: Subject, mode: str) -> tuple[int | None, str]:
    """What a capture tells, without running anything for real; else why it doesn't."""
    with _fresh(subject, mode) as (model, optimizer):
        options: dict[str, Any] = {} if optimizer is None else {"backward": True, "loss_fn": loss_of, "optimizer": optimizer}
        with amp(mode), torch.set_grad_enabled(optimizer is not None):
            capture = shapes.capture(model, subject.args, subject.kwargs, verify_fixes=False, **options)
        reasons = capture.memory.unknown if capture.memory is not None else {"peak_bytes": "; ".join(capture.unchecked) or capture.error}
        return capture.totals.peak_bytes, reasons.get("peak_bytes", "")


def measured(subject: Subject, mode: str) -> Peaks:
    """All three peaks of one configuration."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        told, why = told_peak(subject, mode)
        return Peaks(told, live_peak(subject, mode), allocator_of(subject, mode), why)


LARGE = {"llama-7b": LLAMA_7B, "llama-70b": LLAMA_70B}
_TOKENS = 2048


def large(name: str) -> dict[str, Any]:
    """One capture of a training step in this process, which has done nothing else, and the same step on fakes alone."""
    from transformers import LlamaConfig, LlamaForCausalLM  # noqa: PLC0415  what it takes is no part of what is measured

    torch.set_default_dtype(torch.bfloat16)
    with torch.device("meta"):
        model = LlamaForCausalLM(LlamaConfig(**LARGE[name], use_cache=False))
        ids = torch.zeros(1, _TOKENS, dtype=torch.long)
    given = {"input_ids": ids, "labels": ids}
    optimizer = torch.optim.AdamW(model.parameters())
    start = time.process_time()
    shapes.capture(torch.nn.Linear(1, 1), torch.ones(1, 1), backward=True)  # what is imported for the first one
    imports = time.process_time() - start
    built, start = peak_mb(), time.process_time()
    captured = shapes.capture(model, (), given, backward=True, loss_fn=lambda output: output.loss, optimizer=optimizer)
    seconds, taken = time.process_time() - start, peak_mb() - built
    memory = captured.memory
    assert memory is not None and memory.peak is not None, captured.unchecked
    terms = {term: round(size / 1e9, 2) for term, size in memory.peak.terms.items() if size}
    row = {"params": captured.totals.params, "aten_ops": memory.ops, "peak_gb": round(memory.peak.bytes / 1e9, 2), "terms_gb": terms}
    row |= {
        "seconds": round(seconds, 2),
        "seconds_of_imports": round(imports, 2),
        "mb": round(taken, 1),
        "record_kb": round(len(captured.stored[0]) / 1024, 1),
    }
    del captured, memory, model, optimizer
    return row | {"seconds_of_fakes_alone": round(fakes_alone(name), 2)}


def fakes_alone(name: str) -> float:
    """CPU seconds of forward, backward and two steps on fake tensors, with nobody who listens: what torch itself takes."""
    from transformers import LlamaConfig, LlamaForCausalLM  # noqa: PLC0415  the same

    with FakeTensorMode():
        model = LlamaForCausalLM(LlamaConfig(**LARGE[name], use_cache=False))
        ids = torch.zeros(1, _TOKENS, dtype=torch.long)
        optimizer = torch.optim.AdamW(model.parameters())
        start = time.process_time()
        model(input_ids=ids, labels=ids).loss.backward()
        optimizer.step()
        optimizer.step()
        return time.process_time() - start


def print_large() -> None:
    """A row a configuration, each in a process of its own, and all of them as JSON in the last line."""
    rows = {}
    for name in LARGE:
        row = rows[name] = row_of_own_process(__file__, name)
        print(f"{name:10} " + "  ".join(f"{key} {value}" for key, value in row.items()), flush=True)
    print(json.dumps({"bench": "memory --large", "conditions": conditions(), "rows": rows}))


def main() -> None:
    """Prints a row a configuration, and all of it as JSON in the last line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", choices=[[], *MODELS], help="only these")
    parser.add_argument("--large", action="store_true", help="training steps of models of 7 and 70 billion parameters instead")
    parser.add_argument("--row", choices=LARGE, help="measure this large one here")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.row:
        print(json.dumps(large(options.row)))
        return
    if options.large:
        print_large()
        return
    rows = []
    print(f"{'':22} {'':18} {'told':>14} {'live':>14} {'error %':>9} {'allocator %':>12} {'moment %':>12}", flush=True)
    for subject in subjects(options.models or list(MODELS)):
        for mode in MODES:
            start = time.process_time()
            peaks = measured(subject, mode)
            error = "unknown" if peaks.error is None else f"{peaks.error:.3f}"
            told = "-" if peaks.told is None else str(peaks.told)
            cells = f"{told:>14} {peaks.live:14} {error:>9} {peaks.gap:12.3f} {peaks.at_that_moment:12.3f}"
            print(f"{subject.name:22} {mode:18} {cells}  {peaks.names}{peaks.unknown}", flush=True)
            row = {"model": subject.name, "mode": mode, "error": peaks.error, "gap": peaks.gap, "at_that_moment": peaks.at_that_moment}
            rows.append({**row, "hidden": peaks.allocator.hidden, "seconds": time.process_time() - start})
    errors = sorted(abs(row["error"]) for row in rows if row["error"] is not None)
    figures = {"configurations": len(rows), "unknown": len(rows) - len(errors), "median": statistics.median(errors), "worst": errors[-1]}
    share = f"median {figures['median']:.3f} %, worst {figures['worst']:.3f} %"
    print(f"\n{figures['configurations']} configurations, {figures['unknown']} unknown; error: {share}")
    print(json.dumps({"bench": "memory", "conditions": conditions(), **figures, "rows": rows}))


if __name__ == "__main__":
    main()
