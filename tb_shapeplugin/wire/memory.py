"""What is alive over an iteration, as a message and back."""

from typing import Any

from tb_shapeplugin.record.columns import ints
from tb_shapeplugin.record.memory import PHASES, TERMS, Memory, Peak
from tb_shapeplugin.wire.tables import DELTA
from tb_shapeplugin.wire.text import storable_text


def memory_message(memory: Memory) -> dict[str, Any]:
    """The fields of the message.

    Example:
        >>> memory_message(Memory(ops=3))["ops"]
        3
    """
    written: dict[str, Any] = {
        "ops": memory.ops,
        "phase": [PHASES.index(phase) for phase, _ in memory.phases],
        "phase_end": [end for _, end in memory.phases],
        "at": DELTA.encode(ints(memory.at)).tolist(),
        "unknown": [{"total": storable_text(total), "reason": storable_text(reason)} for total, reason in memory.unknown.items()],
    }
    written |= {term: DELTA.encode(ints(memory.alive.get(term, ()))).tolist() for term in TERMS}
    if memory.peak is not None:
        written["peak"] = _peak_message(memory.peak)
    return written


def _peak_message(peak: Peak) -> dict[str, Any]:
    return {
        "bytes": peak.bytes,
        "op": peak.op,
        "op_name": storable_text(peak.op_name),
        "module": storable_text(peak.module),
        "phase": PHASES.index(peak.phase),
        "terms": [peak.terms.get(term, 0) for term in TERMS],
    }


def memory_from(message: Any) -> Memory:
    """What such a message tells.

    Raises:
        ValueError: its columns don't fit each other.
    """
    if len(message.phase) != len(message.phase_end) or any(phase >= len(PHASES) for phase in message.phase):
        raise ValueError("the phases of the memory don't fit their ends")
    at = _summed(message.at)
    alive = {term: _summed(getattr(message, term)) for term in TERMS}
    if any(len(line) != len(at) for line in alive.values()):
        raise ValueError("the lines of the memory don't fit their ops")
    return Memory(
        ops=message.ops,
        phases=tuple((PHASES[phase], end) for phase, end in zip(message.phase, message.phase_end, strict=True)),
        at=at,
        alive=alive,
        peak=_peak(message.peak) if message.HasField("peak") else None,
        unknown={unknown.total: unknown.reason for unknown in message.unknown},
    )


def _summed(differences: Any) -> tuple[int, ...]:
    return tuple(DELTA.decode(ints(differences)).tolist())


def _peak(message: Any) -> Peak:
    if message.phase >= len(PHASES) or len(message.terms) != len(TERMS):
        raise ValueError("the peak of the memory doesn't fit its terms")
    terms = dict(zip(TERMS, message.terms, strict=True))
    return Peak(message.bytes, message.op, message.op_name, message.module, PHASES[message.phase], terms)
