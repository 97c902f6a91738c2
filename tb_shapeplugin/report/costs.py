"""What a model costs, in words under the table: FLOPs, memory and its peak, other sizes and ways to train."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from tb_shapeplugin.base.units import bytes_text, compact_type, count_text, short_count
from tb_shapeplugin.record.memory import TERMS, Memory
from tb_shapeplugin.record.memory_view import AllocationRow, MemoryView
from tb_shapeplugin.record.record import Record
from tb_shapeplugin.record.what_if_view import WhatIfView

_SHOWN: Final = 3
_LIMITS_GIB: Final = (24, 40, 80)
_NOT_IN_IT: Final = "workspaces of kernels, rounding and fragmentation of an allocator: these are bytes of tensors"


def memory_figures(record: Record) -> Iterator[tuple[str, str]]:
    """The totals that memory has, each with its label."""
    memory, totals = record.memory, record.totals
    if memory is None:
        return
    if totals.packed_params:
        yield "Packed params", count_text(totals.packed_params)
        yield "Packed bytes", bytes_text(totals.packed_bytes)
    trains = _trains(memory)
    if trains:
        yield "FLOPs of backward", short_count(totals.backward_flops)
    yield "Saved for backward", bytes_text(totals.saved_bytes)
    if trains:
        yield "Gradients", bytes_text(totals.gradient_bytes)
        yield "Optimizer state", bytes_text(totals.optimizer_bytes)
        yield "Peak, first step", bytes_text(totals.peak_first_bytes)
        yield "Peak, later steps", bytes_text(totals.peak_bytes)
    yield "Peak of forward", bytes_text(totals.peak_forward_bytes)


def _trains(memory: Memory) -> bool:
    """Were training steps asked for, whether or not they could be told?"""
    return any(phase != "forward" for phase, _ in memory.phases) or "gradient_bytes" in memory.unknown


def about_flops(record: Record) -> Iterator[tuple[str, str]]:
    """Which ops have no formula, the most frequent ones."""
    if record.totals.flops_complete is not False or not record.completed:
        return
    names = Counter(record.strings[name] for name in record.ops.name[record.ops.flops < 0].tolist())
    told = [f"{name} ×{count}" if count > 1 else name for name, count in names.most_common(_SHOWN)]
    more = [f"and {len(names) - _SHOWN} more"] if len(names) > _SHOWN else []
    if told:
        yield "FLOPs without", f"a formula for {', '.join([*told, *more])}"


def about_memory(record: Record) -> Iterator[tuple[str, str]]:
    """Where the peak is, what it consists of and the largest things in it; what is no part of it; why a figure is no exact one."""
    memory = record.memory
    if memory is None:
        return
    view = MemoryView(record, memory)
    told = {"inputs": memory.saved_input_bytes, "buffers": memory.saved_buffer_bytes}
    if any(told.values()) and record.totals.saved_bytes:
        yield "Saved, of it", ", ".join(f"{what} {bytes_text(size)}" for what, size in told.items() if size)
    if view.peak is not None:
        peak = view.peak
        where = f" in {peak.module}" if peak.module else ""
        terms = ", ".join(f"{term} {bytes_text(peak.terms[term])}" for term in TERMS if peak.terms.get(term))
        yield "Peak at", f"{peak.op_name}{where} ({peak.phase}): {terms}"
        for place, row in enumerate(view.alive_at(peak.op)[:_SHOWN]):
            yield "Largest there" if place == 0 else "", _allocation(row)
        yield "Not counted", _NOT_IN_IT
    for label, reasons in (("Unknown memory", memory.unknown), ("Estimated", memory.estimated)):
        for place, reason in enumerate(dict.fromkeys(reasons.values())):
            names = ", ".join(name for name, why in reasons.items() if why == reason)
            yield label if place == 0 else "", reason if label == "Unknown memory" else f"{names}: {reason}"


def _allocation(row: AllocationRow) -> str:
    """``16.0 KiB  optimizer  fc1.weight.exp_avg f32[128,32]``; of an activation which op made it, and for which it is kept."""
    made = f"{row.made_by.removeprefix('aten.').partition('.')[0]} of {row.module or 'the model'}"
    kept = f", kept for {row.kept_by.removeprefix('aten.').partition('.')[0]}" if row.kept_by else ""
    return f"{bytes_text(row.bytes)}  {row.term}  {row.name or made} {compact_type(row.dtype, row.shape)}{kept}"


def about_what_if(record: Record) -> Iterator[tuple[str, str]]:
    """The largest sizes that usual devices hold, the peaks of other ways to train, and why others aren't known."""
    if record.what_if is None or record.memory is None:
        return
    view = WhatIfView(record.memory, record.what_if)
    for name, size in view.sizes.items():
        largest = [(limit, view.largest(name, limit << 30)) for limit in _LIMITS_GIB]
        held = ", ".join(f"{value if value is not None else 'none'} in {limit} GiB" for limit, value in largest)
        yield f"Largest {name}", f"{held} (logged {size.logged})"
    peaks = [f"{name} {bytes_text(view.peak_bytes(name))}" for name in view.variants]
    if peaks:
        yield "Peak with", ", ".join(peaks)
    for place, (name, reason) in enumerate(view.unknown.items()):
        yield "Unknown what if" if place == 0 else "", f"{name}: {reason}"
