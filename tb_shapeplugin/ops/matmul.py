"""Rules of matrix products: matmul and @, mm, bmm, mv, dot, addmm, baddbmm."""

from tb_shapeplugin.ops.broadcasting import clashing_dims, combined, expand_clash
from tb_shapeplugin.ops.reading import axes_text, rank, tensor
from tb_shapeplugin.ops.rule import RULES, Outputs, Rule, any_of, one
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall, Operand


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
    y = call.operand(1, "other") or call.operand(1, "mat2") or tensor(call, 1, "vec")
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


def _matmul_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, y = _factors(call)
    rows, columns = x.shape[-2:-1] if x.ndim > 1 else (), y.shape[-1:] if y.ndim > 1 else ()
    return any_of(tuple(batch + rows + columns for batch in combined([x.shape[:-2], y.shape[:-2]])))


def _exact(x: Operand, y: Operand, x_ndim: int, y_ndim: int) -> Clash | None:
    for factor, ndim in ((x, x_ndim), (y, y_ndim)):
        if factor.ndim != ndim:
            return rank(factor, ndim, f"{factor} has {axes_text(factor.ndim)}, it takes {ndim}")
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


def _add_factors(call: OpCall) -> tuple[Operand, Operand, Operand]:
    short = call.short_name.rstrip("_")
    left, right = ("batch1", "batch2") if short == "baddbmm" else ("mat1", "mat2")
    return tensor(call, 0, "input"), tensor(call, 1, left), tensor(call, 2, right)


def _add_requires(call: OpCall) -> Clash | None:
    base, x, y = _add_factors(call)
    ndim = 3 if call.short_name.startswith("baddbmm") else 2
    target = x.shape[:-1] + y.shape[-1:]
    return _exact(x, y, ndim, ndim) or expand_clash(base, target)


def _add_gives(call: OpCall) -> tuple[Outputs, ...]:
    _, x, y = _add_factors(call)
    return one(x.shape[:-1] + y.shape[-1:])


RULES.register("matmul", "__matmul__", "__rmatmul__")(Rule(_matmul_requires, _matmul_gives))
# torch.overrides tells torch.mm under its alias spmm.
RULES.register("mm", "spmm")(_fixed(2, 2))
RULES.register("bmm")(_fixed(3, 3))
RULES.register("mv")(_fixed(2, 1))
RULES.register("dot", "inner")(_fixed(1, 1))
RULES.register("addmm", "addmm_", "baddbmm", "baddbmm_")(Rule(_add_requires, _add_gives))
