"""Rules of elementwise ops: functions of one tensor, broadcasting ones, and those that write in place."""

from tb_shapeplugin.ops.broadcasting import broadcast_clash, combined, expand_clash
from tb_shapeplugin.ops.reading import axes_text, axis_missing, tensor
from tb_shapeplugin.ops.rule import RULES, Outputs, Rule, any_of, one
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall, Operand

_UNARY = (
    "abs neg exp exp2 expm1 log log2 log10 log1p sqrt rsqrt square sign sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh "
    "erf erfc floor ceil round trunc frac reciprocal sigmoid logit relu relu6 elu selu celu gelu silu mish hardswish hardsigmoid "
    "hardtanh leaky_relu rrelu prelu softplus softsign tanhshrink hardshrink softshrink logsigmoid threshold clone contiguous detach to "
    "float double half bfloat16 "
    "int long bool type type_as cpu cuda dropout alpha_dropout feature_dropout feature_alpha_dropout dropout1d dropout2d dropout3d "
    "logical_not bitwise_not isnan isinf isfinite nan_to_num zeros_like ones_like rand_like randn_like empty_like full_like "
    "sign sgn positive conj angle deg2rad rad2deg digamma lgamma normalize local_response_norm requires_grad_ zero_ fill_ "
    "__invert__ __neg__ __abs__ bernoulli sinc triu tril flip roll"
)
_BINARY = (
    "add sub subtract mul multiply div divide true_divide floor_divide remainder fmod pow maximum minimum fmax fmin atan2 arctan2 hypot "
    "xlogy logaddexp eq ne lt gt le ge equal greater greater_equal less less_equal not_equal logical_and logical_or logical_xor "
    "bitwise_and bitwise_or bitwise_xor copysign dist isclose where lerp addcmul addcdiv clamp clip rsub "
    "__add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __truediv__ __rtruediv__ __floordiv__ __rfloordiv__ __mod__ __rmod__ __pow__ "
    "__rpow__ __and__ __rand__ __or__ __ror__ __xor__ __rxor__ __eq__ __ne__ __lt__ __gt__ __le__ __ge__"
)
_IN_PLACE = (
    "add_ sub_ mul_ div_ pow_ floor_divide_ remainder_ copy_ addcmul_ addcdiv_ lerp_ logical_and_ logical_or_ bitwise_and_ bitwise_or_ "
    "__iadd__ __isub__ __imul__ __itruediv__ __ipow__ __iand__ __ior__ __ixor__ clamp_ clip_ eq_ ne_ lt_ gt_ le_ ge_"
)
_ALONG = "softmax log_softmax softmin cumsum cumprod logcumsumexp"


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
    return any_of(combined([operand.shape for operand in call.operands()]))


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
    dim = call.get(1, "dim")
    return axis_missing(call, tensor(call, 0, "input"), dim) if isinstance(dim, int) else None


RULES.register(*dict.fromkeys(_UNARY.split()))(Rule(gives=_same))
RULES.register(*_BINARY.split())(Rule(_binary_requires, _binary_gives))
RULES.register(*_IN_PLACE.split())(Rule(_in_place_requires, _same))
RULES.register(*_ALONG.split())(Rule(_along_requires, _same))
