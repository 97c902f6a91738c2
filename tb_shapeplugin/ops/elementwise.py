"""Rules of elementwise ops: functions of one tensor, broadcasting ones, and those that write in place."""

import itertools
from collections.abc import Iterator

from tb_shapeplugin.ops.broadcasting import broadcast_clash, clashing_dims, combined, expand_clash
from tb_shapeplugin.ops.reading import axes_text, axis_missing, distinct, listed, numbers, rank, replaced, tensor, wrapped
from tb_shapeplugin.ops.rule import RULES, Outputs, Rule, any_of, one
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall, Operand, Shape

_UNARY = (
    "abs absolute neg negative exp exp2 expm1 log log2 log10 log1p sqrt rsqrt square sign sin cos tan asin acos atan sinh cosh tanh "
    "asinh acosh atanh arcsin arccos arctan arcsinh arccosh arctanh erf erfc erfinv floor ceil round trunc fix frac reciprocal "
    "sigmoid logit relu relu6 elu selu celu gelu silu mish hardswish hardsigmoid hardtanh leaky_relu rrelu softplus softsign "
    "tanhshrink hardshrink softshrink logsigmoid threshold clone contiguous detach to float double half bfloat16 int long short bool "
    "byte char type type_as cpu cuda dropout alpha_dropout feature_dropout feature_alpha_dropout logical_not bitwise_not isnan isinf "
    "isfinite isneginf isposinf isreal signbit nan_to_num zeros_like ones_like rand_like randn_like randint_like empty_like full_like "
    "sgn positive conj conj_physical resolve_conj angle deg2rad rad2deg digamma lgamma i0 sinc polygamma mvlgamma requires_grad_ "
    "zero_ fill_ normal_ uniform_ random_ exponential_ __invert__ __neg__ __abs__ bernoulli"
)
_BINARY = (
    "add sub subtract mul multiply div divide true_divide floor_divide remainder fmod pow float_power maximum minimum fmax fmin atan2 "
    "arctan2 hypot xlogy logaddexp logaddexp2 eq ne lt gt le ge greater greater_equal less less_equal not_equal logical_and "
    "logical_or logical_xor bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift copysign isclose lerp addcmul "
    "addcdiv clamp clip clamp_min clamp_max rsub heaviside nextafter gcd lcm ldexp complex polar igamma igammac __add__ __radd__ "
    "__sub__ __rsub__ __mul__ __rmul__ __truediv__ __rtruediv__ __floordiv__ __rfloordiv__ __mod__ __rmod__ __pow__ __rpow__ __and__ "
    "__rand__ __or__ __ror__ __xor__ __rxor__ __lshift__ __rlshift__ __rshift__ __rrshift__ __div__ __rdiv__ __eq__ __ne__ __lt__ "
    "__gt__ __le__ __ge__"
)
_IN_PLACE = (
    "add_ sub_ subtract_ mul_ multiply_ div_ divide_ true_divide_ pow_ float_power_ floor_divide_ remainder_ fmod_ copy_ addcmul_ "
    "addcdiv_ lerp_ atan2_ hypot_ xlogy_ copysign_ logical_and_ logical_or_ logical_xor_ bitwise_and_ bitwise_or_ bitwise_xor_ clamp_ "
    "clip_ clamp_min_ clamp_max_ eq_ ne_ lt_ gt_ le_ ge_ __iadd__ __isub__ __imul__ __itruediv__ __ifloordiv__ __imod__ __ipow__ "
    "__iand__ __ior__ __ixor__ __ilshift__ __irshift__"
)
# Ops along one axis that keep the shape: the position of ``dim`` among the arguments, and what it is where nobody says.
_ALONG: dict[str, tuple[int, int | None]] = {
    **dict.fromkeys(("softmax", "log_softmax", "softmin", "cumsum", "cumprod", "logcumsumexp", "cumsum_", "cumprod_"), (1, None)),
    "gumbel_softmax": (4, -1),
    "normalize": (2, 1),
    "renorm": (2, None),
}


def _same(call: OpCall) -> tuple[Outputs, ...]:
    return one(tensor(call, 0, "input").shape)


def _pairs_clash(operands: tuple[Operand, ...]) -> Clash | None:
    for at, later in enumerate(operands):
        for earlier in operands[:at]:
            if clash := broadcast_clash(earlier, later):
                return clash
    return None


def _binary_requires(call: OpCall) -> Clash | None:
    return _pairs_clash(call.operands())


def _binary_gives(call: OpCall) -> tuple[Outputs, ...]:
    """The broadcast shapes; where operands with different numbers of axes clash, an axis may be too many: also those without it."""
    operands = call.operands()
    shapes = [operand.shape for operand in operands]
    if len(set(map(len, shapes))) == 1 or _pairs_clash(operands) is None:
        return any_of(combined(shapes))
    return any_of(distinct((*combined(shapes)[:4], *_without_an_axis(shapes), *sorted(shapes, key=len, reverse=True))))


def _without_an_axis(shapes: list[Shape]) -> Iterator[Shape]:
    """What comes out where the operand with the most axes loses one of size 1, and the rest broadcasts."""
    at = max(range(len(shapes)), key=lambda place: len(shapes[place]))
    for axis, size in enumerate(shapes[at]):
        fewer = [*shapes[:at], (*shapes[at][:axis], *shapes[at][axis + 1 :]), *shapes[at + 1 :]]
        if size == 1 and not any(any(clashing_dims(a, b)) for a, b in itertools.combinations(fewer, 2)):
            yield combined(fewer)[0]


def _in_place_requires(call: OpCall) -> Clash | None:
    written = tensor(call, 0, "input")
    for other in call.operands()[1:]:
        clash = broadcast_clash(written, other) or expand_clash(other, written.shape)
        if clash is None or clash.operand == written.id:
            if clash:
                return clash
            continue
        return _grown(written, other, clash)
    return None


def _grown(written: Operand, other: Operand, clash: Clash) -> Clash:
    """The clash of a result that doesn't fit into the tensor it is written into, told from that tensor's side."""
    if clash.kind == "rank":
        words = f"the result would have {axes_text(other.ndim)}, {written} that it is written into has {written.ndim}"
        return Clash("broadcast", {"ndim": written.ndim}, {"ndim": other.ndim}, operand=written.id, other=other.id, words=words)
    got, want = written.shape[clash.other_dim], other.shape[clash.dim]
    word = "channels" if clash.other_dim == written.ndim - 3 else "size"
    words = f"the result would have {want} in dim {clash.other_dim}, {written} that it is written into has {got}"
    return Clash("broadcast", {word: got}, {word: want}, written.id, clash.other_dim, other.id, clash.dim, words)


def _along_requires(call: OpCall) -> Clash | None:
    dim = call.get(*_dim_place(call))
    return axis_missing(call, tensor(call, 0, "input"), dim) if isinstance(dim, int) else None


def _dim_place(call: OpCall) -> tuple[int, str, int | None]:
    position, usual = _ALONG[call.short_name]
    return position, "dim", usual


def _moved_requires(call: OpCall) -> Clash | None:
    """flip and roll: the axes come one by one or as a tuple, those of roll after the shifts."""
    x = tensor(call, 0, "input")
    dims = call.get(2, "dims") if call.short_name == "roll" else listed(call, 1, "dims")
    return None if dims is None or dims == () else axis_missing(call, x, *numbers(dims))


def _matrix_requires(call: OpCall) -> Clash | None:
    """triu and tril: the last two axes are a matrix."""
    x = tensor(call, 0, "input")
    return rank(x, 2, f"its input {x} has {axes_text(x.ndim)}, it takes at least 2 (rows, columns)") if x.ndim < 2 else None


def _where_requires(call: OpCall) -> Clash | None:
    """A condition that doesn't fit what it chooses from is a mask that doesn't fit."""
    condition = call.operand(0, "condition")
    if condition is None or len(call.operands()) < 2:
        return None
    chosen = call.operands()[1:]
    if clash := _pairs_clash(chosen):
        return clash
    for other in chosen:
        if clash := broadcast_clash(condition, other, kind="mask_shape"):
            return clash
    return None


def _dist_gives(call: OpCall) -> tuple[Outputs, ...]:
    return one(())


def _glu_place(call: OpCall) -> tuple[Operand, int]:
    x, dim = tensor(call, 0, "input"), call.integer(1, "dim", -1)
    return x, dim


def _glu_requires(call: OpCall) -> Clash | None:
    x, dim = _glu_place(call)
    if x.ndim == 0:
        return rank(x, 1)
    if clash := axis_missing(call, x, dim):
        return clash
    at = wrapped(dim, x.ndim)
    if x.shape[at] % 2 == 0:
        return None
    words = f"dim {at} of its input {x} is {x.shape[at]}, which is no multiple of 2: one half gates the other"
    return Clash("divisible", {"size": x.shape[at]}, {"multiple_of": 2}, operand=x.id, dim=at, words=words)


def _glu_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, dim = _glu_place(call)
    at = wrapped(dim, x.ndim)
    return one(replaced(x.shape, at, x.shape[at] // 2))


def _prelu_requires(call: OpCall) -> Clash | None:
    x, weight = tensor(call, 0, "input"), tensor(call, 1, "weight")
    channels = x.shape[1] if x.ndim > 1 else 1
    if weight.numel in (1, channels):
        return None
    words = f"dim 1 of its input {x} holds {channels} channels, num_parameters is {weight.numel}"
    dim = 1 if x.ndim > 1 else -1
    return Clash("norm_features", {"features": channels}, {"features": weight.numel}, x.id, dim, weight.id, weight.ndim - 1, words)


def _dropout_requires(call: OpCall) -> Clash | None:
    """Dropout of whole channels knows how many axes it takes."""
    x, n = tensor(call, 0, "input"), int(call.short_name[-2])
    if n != 1 or x.ndim in (2, 3):
        return None
    return rank(x, 3, f"its input {x} has {axes_text(x.ndim)}, it takes 3 (batch, channels, space) or 2 without a batch")


_IN_PLACE_UNARY = [f"{name}_" for name in _UNARY.split() if not name.endswith("_")]

RULES.register(*dict.fromkeys((*_UNARY.split(), *_IN_PLACE_UNARY)))(Rule(gives=_same))
RULES.register(*_BINARY.split())(Rule(_binary_requires, _binary_gives))
RULES.register(*_IN_PLACE.split())(Rule(_in_place_requires, _same))
RULES.register(*_ALONG)(Rule(_along_requires, _same))
RULES.register("flip", "roll")(Rule(_moved_requires, _same))
RULES.register("triu", "tril", "triu_", "tril_")(Rule(_matrix_requires, _same))
RULES.register("where")(Rule(_where_requires, _binary_gives))
RULES.register("dist")(Rule(_binary_requires, _dist_gives))
RULES.register("allclose")(Rule(_binary_requires))
RULES.register("glu")(Rule(_glu_requires, _glu_gives))
RULES.register("prelu")(Rule(_prelu_requires, _same))
RULES.register("dropout1d", "dropout2d", "dropout3d")(Rule(_dropout_requires, _same))
