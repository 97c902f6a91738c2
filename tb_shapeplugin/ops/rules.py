"""What ops require of their operands and what they would have given: the two questions that other rooms ask."""

from collections.abc import Mapping

# Imported for their registrations: one family, one file.
from tb_shapeplugin.ops import (  # noqa: F401
    algebra,
    attention,
    axes,
    compiling,
    convolution,
    distances,
    einsum,
    elementwise,
    embedding,
    expanding,
    grids,
    indexing,
    joining,
    layers,
    linear,
    losses,
    margin_losses,
    matmul,
    normalization,
    pooling,
    recurrent,
    reduction,
    resampling,
    spectra,
    splitting,
    viewing,
)
from tb_shapeplugin.ops.collectives import PREFIX, collective_clash
from tb_shapeplugin.ops.dtypes_and_devices import device_clash, dtype_clash
from tb_shapeplugin.ops.other_axes import with_other_axes
from tb_shapeplugin.ops.reading import Unreadable
from tb_shapeplugin.ops.recurrent import with_attributes
from tb_shapeplugin.ops.rule import RULES, Outputs, Rule
from tb_shapeplugin.ops.value_ranges import range_clash
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall

__all__ = ["RULES", "gives", "requires"]

Attributes = Mapping[str, int | str | bool | tuple[int, ...]]


def requires(call: OpCall, attributes: Attributes | None = None) -> Clash | None:
    """The first requirement that the operands break: shapes first, then dtypes, devices, values; None where all fits or no rule knows.

    Args:
        call: the call as the user wrote it.
        attributes: the plain attributes of the module, where the call is one of a module (``torch.nn.LSTM``).

    Example:
        >>> from tb_shapeplugin.record.values import Operand
        >>> requires(OpCall("torch.matmul", (Operand(0, (4, 8), "float32"), Operand(1, (9, 3), "float32")))).want
        {'inner': 9}
    """
    if call.name.startswith(PREFIX):
        return collective_clash(call)
    rule = RULES.get(call.short_name)
    clash = None
    if rule is not None:
        try:
            clash = rule.requires(with_attributes(call, attributes or {}) if call.name.startswith("torch.nn.") and attributes else call)
        except Unreadable:
            clash = None
    return clash or dtype_clash(call) or device_clash(call) or range_clash(call)


def gives(call: OpCall) -> tuple[Outputs, ...]:
    """What the call would plausibly have given: alternatives, the most plausible first, each the shapes of all tensor outputs.

    Empty where no rule knows; where an axis is named that isn't there, those of each axis that is. Parameters are
    trusted over activations, sizes come from weights.

    Example:
        >>> from tb_shapeplugin.record.values import Operand
        >>> gives(OpCall("torch.nn.functional.linear", (Operand(0, (4, 864), "float32"), Operand(1, (120, 1176), "float32"))))
        (((4, 120),),)
    """
    rule = RULES.get(call.short_name)
    if rule is None:
        return ()
    readings = _given(rule, call)
    if not readings and (clash := requires(call)) is not None:
        readings = tuple(dict.fromkeys(outputs for other in with_other_axes(call, clash) for outputs in _given(rule, other)))
    return tuple(outputs for outputs in readings if all(size >= 0 for shape in outputs for size in shape))


def _given(rule: Rule, call: OpCall) -> tuple[Outputs, ...]:
    try:
        return rule.gives(call)
    except Unreadable:
        return ()
