"""What is alive over an iteration, and how that changes with sizes and ways to train, as messages and back."""

from collections.abc import Mapping
from typing import Any, cast

from tb_shapeplugin.record.memory import PHASES, Memory, Size, Variant, WhatIf
from tb_shapeplugin.wire.columns import read_table, write_table
from tb_shapeplugin.wire.schema import message_of
from tb_shapeplugin.wire.tables import MEMORY_TABLES
from tb_shapeplugin.wire.text import storable_text


# Any, here and below: messages made from descriptors have no static types.
def memory_message(memory: Memory) -> Any:
    """The message.

    Example:
        >>> memory_from(memory_message(memory)) == memory
        True
    """
    message = message_of("Memory")(
        phase=[PHASES.index(phase) for phase, _ in memory.phases],
        phase_end=[end for _, end in memory.phases],
        saved_input_bytes=memory.saved_input_bytes,
        saved_buffer_bytes=memory.saved_buffer_bytes,
        unknown=_reasons(memory.unknown),
        estimated=_reasons(memory.estimated),
    )
    for table in MEMORY_TABLES:
        write_table(getattr(message, table.name), table, getattr(memory, table.name))
    return message


def memory_from(message: Any) -> Memory:
    """What such a message tells.

    Raises:
        ValueError: its phases don't fit their ends.
    """
    if len(message.phase) != len(message.phase_end) or any(phase >= len(PHASES) for phase in message.phase):
        raise ValueError("the phases of the memory don't fit their ends")
    # cast: the table names the type of each of these columns
    columns = {table.name: cast(Any, read_table(getattr(message, table.name), table)) for table in MEMORY_TABLES}
    return Memory(
        phases=tuple((PHASES[phase], end) for phase, end in zip(message.phase, message.phase_end, strict=True)),
        saved_input_bytes=message.saved_input_bytes,
        saved_buffer_bytes=message.saved_buffer_bytes,
        unknown=_told(message.unknown),
        estimated=_told(message.estimated),
        **columns,
    )


def what_if_message(what_if: WhatIf) -> Any:
    """The message."""
    return message_of("WhatIf")(
        sizes=[
            {
                "name": storable_text(size.name),
                "logged": size.logged,
                "least": size.least,
                "step": size.step,
                "axes": list(map(storable_text, size.axes)),
            }
            for size in what_if.sizes
        ],
        scales=[
            {"count": [len(each) for each in scale], "coefficients": [number for each in scale for number in each]}
            for scale in what_if.scales
        ],
        variants=[
            {"kind": storable_text(one.kind), "name": storable_text(one.name), "memory": memory_message(one.memory)}
            for one in what_if.variants
        ],
        unknown=_reasons(what_if.unknown),
    )


def what_if_from(message: Any) -> WhatIf:
    """What such a message tells.

    Raises:
        ValueError: its scales don't fit its sizes.
    """
    return WhatIf(
        sizes=tuple(Size(size.name, size.logged, size.least, size.step, tuple(size.axes)) for size in message.sizes),
        scales=tuple(_scale(scale, len(message.sizes)) for scale in message.scales),
        variants=tuple(Variant(one.kind, one.name, memory_from(one.memory)) for one in message.variants),
        unknown=_told(message.unknown),
    )


def _scale(message: Any, sizes: int) -> tuple[tuple[float, ...], ...]:
    if len(message.count) != sizes or sum(message.count) != len(message.coefficients):
        raise ValueError("the scales of what if don't fit its sizes")
    rest = iter(message.coefficients)
    return tuple(tuple(next(rest) for _ in range(count)) for count in message.count)


def _reasons(reasons: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"name": storable_text(name), "reason": storable_text(reason)} for name, reason in reasons.items()]


def _told(messages: Any) -> dict[str, str]:
    return {one.name: one.reason for one in messages}
