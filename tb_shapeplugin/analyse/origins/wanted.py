"""Where the number that was wanted stands instead: at another axis, in all of a sample flattened, in an attribute."""

from dataclasses import replace

from tb_shapeplugin.analyse.origins.recalled import with_shapes
from tb_shapeplugin.analyse.origins.stated import expression
from tb_shapeplugin.ops.reading import product, times
from tb_shapeplugin.ops.rules import requires
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.trace import Failure, Trace
from tb_shapeplugin.record.values import Shape

_WIDTHS = ("linear_in_features", "conv_channels", "norm_features", "rnn_input")
_SMALLEST_WIDTH = 8
_STATING = ("view", "reshape", "expand", "unflatten")


def wanted(trace: Trace, failure: Failure, clash: Clash) -> str:
    """Where the wanted number is, "" where nobody knows.

    Example:
        >>> wanted(trace, failure, clash)
        '1568 = 32·7·7 is all of a sample: a flatten is missing'
    """
    numbers = list(clash.want.values())
    if clash.kind == "matmul_dims":
        return _transposed(failure)
    if clash.kind == "broadcast":
        return _with_axes_behind(failure)
    if clash.kind == "loss_target_shape":
        return _classes_last(failure)
    if clash.kind in _WIDTHS and clash.operand >= 0 and clash.dim >= 0 and len(numbers) == 1:
        return _elsewhere(trace.tensors[clash.operand].shape, clash.dim, numbers[0], clash.kind)
    if failure.call.short_name not in _STATING:
        return ""
    multiple = clash.want.get("multiple_of", 0)
    return _samples(trace.tensors[clash.operand].shape, multiple) if multiple else _as_written(trace, failure)


def _elsewhere(shape: Shape, dim: int, want: int, kind: str) -> str:
    if kind == "linear_in_features" and len(shape) > 2:
        for first in (1, *range(2, len(shape) - 1), 0):
            if product(shape[first:]) == want and want > 1:
                whole = "all of a sample" if first == 1 else f"the last {len(shape) - first} axes together"
                return f"{want} = {times(shape[first:])} is {whole}: a flatten is missing"
    places = [axis for axis, size in enumerate(shape) if size == want and axis not in (0, dim)]
    likely = want >= _SMALLEST_WIDTH or kind == "conv_channels"  # a small number stands somewhere by chance
    return f"dim {places[0]} of what it is given is {want}" if len(places) == 1 and likely else ""


def _transposed(failure: Failure) -> str:
    """The factor that fits transposed."""
    operands = failure.call.operands()
    for operand in reversed(operands[:2]) if len(operands) > 1 else ():
        if operand.ndim < 2:
            continue
        turned = replace(operand, shape=(*operand.shape[:-2], operand.shape[-1], operand.shape[-2]))
        if requires(with_shapes(failure.call, {operand.id: turned.shape})) is None:
            return f"{operand.name or operand} would fit transposed, as {turned}"
    return ""


def _with_axes_behind(failure: Failure) -> str:
    """The operand whose axes line up from the front, where they are counted from the back."""
    operands = failure.call.operands()
    if len(operands) != 2 or operands[0].ndim == operands[1].ndim:
        return ""
    less, more = sorted(operands, key=lambda operand: operand.ndim)
    padded = replace(less, shape=less.shape + (1,) * (more.ndim - less.ndim))
    fits = less.ndim > 1 and requires(with_shapes(failure.call, {less.id: padded.shape})) is None
    return f"{less.name or less} would fit as {padded}" if fits else ""


def _classes_last(failure: Failure) -> str:
    """A prediction whose classes stand at the end, where the loss takes them at dim 1."""
    prediction = next(iter(failure.call.operands()), None)
    if failure.call.short_name not in ("cross_entropy", "nll_loss") or prediction is None or prediction.ndim < 3:
        return ""
    turned = replace(prediction, shape=(prediction.shape[0], prediction.shape[-1], *prediction.shape[1:-1]))
    fits = requires(with_shapes(failure.call, {prediction.id: turned.shape})) is None
    return f"with its classes at dim 1 the prediction, {turned}, would fit" if fits else ""


def _samples(shape: Shape, stated: int) -> str:
    """A row that a view fills from several samples."""
    sample = product(shape[1:])
    if len(shape) < 2 or not sample or stated % sample or stated == sample:
        return ""
    return f"{stated} = {stated // sample} × {times(shape[1:])} would put {stated // sample} samples into one row"


def _as_written(trace: Trace, failure: Failure) -> str:
    """What the code calls a size that the failing call states: an attribute, a variable."""
    op = trace.ops[failure.op]
    given = {size for operand in failure.call.operands() for size in operand.shape}
    rest = failure.call.args[1:]
    sizes = rest[0] if len(rest) == 1 and isinstance(rest[0], tuple) else rest
    code = trace.sources[op.source].code if op.source >= 0 else ""
    for position, size in enumerate(sizes):
        if isinstance(size, int) and size > 1 and size not in given:
            told = expression(code, failure.call.short_name, position)
            return f"{size} is {told}" if told and not told.isdigit() else ""
    return ""
