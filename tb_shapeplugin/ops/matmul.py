"""Rules of matrix products: matmul and @, mm, bmm, mv, dot, outer, and those that add to a product."""

from collections.abc import Iterator

from tb_shapeplugin.ops.axes import swapped
from tb_shapeplugin.ops.broadcasting import clashing_dims, combined, expand_clash
from tb_shapeplugin.ops.reading import axes_text, distinct, rank, tensor
from tb_shapeplugin.ops.rule import RULES, Outputs, Rule, any_of, one
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall, Operand, Shape


def inner_clash(x: Operand, y: Operand) -> Clash | None:
    """The clash of two factors whose inner dims differ; vectors count as a row on the left, a column on the right.

    Example:
        >>> inner_clash(Operand(0, (1, 784), "float32"), Operand(1, (10, 784), "float32")).want
        {'inner': 10}
    """
    for factor in (x, y):
        if factor.ndim == 0:
            return rank(factor, 1, f"{factor} is a scalar, a factor of a matrix product has at least 1 axis")
    dim, other = x.ndim - 1, max(y.ndim - 2, 0)
    got, want = x.shape[dim], y.shape[other]
    if got == want:
        return None
    words = f"the last dim of {x} is {got}, dim {other} of {y} is {want}"
    return Clash("matmul_dims", {"inner": got}, {"inner": want}, operand=x.id, dim=dim, other=y.id, other_dim=other, words=words)


def _factors(call: OpCall) -> tuple[Operand, Operand]:
    x = tensor(call, 0, "input")
    named = (call.operand(1, name) for name in ("other", "mat2", "tensor"))
    y = next((operand for operand in named if operand is not None), None) or tensor(call, 1, "vec")
    return (y, x) if call.short_name == "__rmatmul__" else (x, y)


def _batch_clash(x: Operand, y: Operand) -> Clash | None:
    for dim, other in clashing_dims(x.shape[:-2], y.shape[:-2]):
        got, want = x.shape[dim], y.shape[other]
        words = f"batch dim {dim} of {x} is {got}, batch dim {other} of {y} is {want}, and neither is 1"
        return Clash("broadcast", {"size": got}, {"size": want}, operand=x.id, dim=dim, other=y.id, other_dim=other, words=words)
    return None


def _matmul_requires(call: OpCall) -> Clash | None:
    x, y = _factors(call)
    return inner_clash(x, y) or _batch_clash(x, y)


def _readings(x: Shape, y: Shape) -> Iterator[tuple[Shape, Shape]]:
    """The factors as they may have been meant: one of them turned where they fit then, else as they are."""
    matrices = len(x) > 1 and len(y) > 1 and x[-1] != y[-2]
    if matrices and x[-1] == y[-1]:
        yield x, swapped(y, -1, -2)
    yield x, y
    if matrices and x[-2] == y[-2]:
        yield swapped(x, -1, -2), y


def _product(x: Shape, y: Shape) -> Iterator[Shape]:
    rows, columns = x[-2:-1] if len(x) > 1 else (), y[-1:] if len(y) > 1 else ()
    for batch in combined([x[:-2], y[:-2]]):
        yield batch + rows + columns


def _matmul_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, y = _factors(call)
    return any_of(distinct(shape for factors in _readings(x.shape, y.shape) for shape in _product(*factors)))


def _both_have(x: Operand, x_ndim: int, y: Operand, y_ndim: int) -> Clash | None:
    for factor, ndim in ((x, x_ndim), (y, y_ndim)):
        if factor.ndim != ndim:
            return rank(factor, ndim, f"{factor} has {axes_text(factor.ndim)}, it takes {ndim}")
    return None


def _exact(x: Operand, y: Operand, x_ndim: int, y_ndim: int) -> Clash | None:
    if clash := _both_have(x, x_ndim, y, y_ndim):
        return clash
    batch = [(dim, dim) for dim in range(x.ndim - 2) if x.shape[dim] != y.shape[dim]]
    for dim, other in batch:
        got, want = x.shape[dim], y.shape[other]
        words = f"batch dim {dim} of {x} is {got}, of {y} it is {want}"
        return Clash("matmul_dims", {"batch": got}, {"batch": want}, operand=x.id, dim=dim, other=y.id, other_dim=other, words=words)
    return inner_clash(x, y)


def _fixed(x_ndim: int, y_ndim: int) -> Rule:
    def requires(call: OpCall) -> Clash | None:
        return _exact(*_factors(call), x_ndim, y_ndim)

    return Rule(requires, _matmul_gives)


# The axes of the two factors, and what they are called.
_ADDING: dict[str, tuple[int, int, str, str]] = {
    "addmm": (2, 2, "mat1", "mat2"),
    "addmv": (2, 1, "mat", "vec"),
    "addr": (1, 1, "vec1", "vec2"),
    "baddbmm": (3, 3, "batch1", "batch2"),
    "addbmm": (3, 3, "batch1", "batch2"),
}


def _add_factors(call: OpCall) -> tuple[Operand, Operand, Operand]:
    _, _, left, right = _ADDING[call.short_name.rstrip("_")]
    return tensor(call, 0, "input"), tensor(call, 1, left), tensor(call, 2, right)


def _added(call: OpCall) -> Shape:
    """The shape of the product that is added to."""
    _, x, y = _add_factors(call)
    kind = call.short_name.rstrip("_")
    if kind == "addr":
        return x.shape[:1] + y.shape[:1]
    rows = x.shape[-2:-1] if kind == "addbmm" else x.shape[:-1]
    return rows + (y.shape[-1:] if y.ndim > 1 else ())


def _add_requires(call: OpCall) -> Clash | None:
    base, x, y = _add_factors(call)
    kind = call.short_name.rstrip("_")
    x_ndim, y_ndim, _, _ = _ADDING[kind]
    clash = _both_have(x, x_ndim, y, y_ndim) if kind == "addr" else _exact(x, y, x_ndim, y_ndim)
    return clash or expand_clash(base, _added(call))


def _add_gives(call: OpCall) -> tuple[Outputs, ...]:
    return one(_added(call))


def _outer_requires(call: OpCall) -> Clash | None:
    x, y = _outer(call)
    return _both_have(x, 1, y, 1)


def _outer(call: OpCall) -> tuple[Operand, Operand]:
    return tensor(call, 0, "input"), tensor(call, 1, "vec2")


def _outer_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, y = _outer(call)
    return one((x.numel, y.numel))


def _inner_requires(call: OpCall) -> Clash | None:
    """The product over both last axes; a scalar goes along with anything."""
    x, y = _factors(call)
    if not x.ndim or not y.ndim or x.shape[-1] == y.shape[-1]:
        return None
    words = f"the last dim of {x} is {x.shape[-1]}, of {y} it is {y.shape[-1]}"
    got, want = {"inner": x.shape[-1]}, {"inner": y.shape[-1]}
    return Clash("matmul_dims", got, want, x.id, x.ndim - 1, y.id, y.ndim - 1, words)


def _inner_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, y = _factors(call)
    return one(x.shape[:-1] + y.shape[:-1] if x.ndim and y.ndim else x.shape + y.shape)


RULES.register("matmul", "__matmul__", "__rmatmul__")(Rule(_matmul_requires, _matmul_gives))
# torch.overrides tells torch.mm under its alias spmm.
RULES.register("mm", "spmm")(_fixed(2, 2))
RULES.register("bmm")(_fixed(3, 3))
RULES.register("mv")(_fixed(2, 1))
RULES.register("dot", "vdot")(_fixed(1, 1))
RULES.register("inner")(Rule(_inner_requires, _inner_gives))
RULES.register("outer", "ger")(Rule(_outer_requires, _outer_gives))
RULES.register(*_ADDING, *(f"{name}_" for name in _ADDING))(Rule(_add_requires, _add_gives))
