"""Rules of linear algebra beyond plain products: square matrices, solvers, contractions, diagonals."""

import itertools

from tb_shapeplugin.ops.broadcasting import broadcast_clash, clashing_dims, combined
from tb_shapeplugin.ops.matmul import inner_clash
from tb_shapeplugin.ops.reading import Unreadable, axes_text, axis_missing, numbers, rank, replaced, tensor, wrapped
from tb_shapeplugin.ops.rule import RULES, Outputs, Rule, any_of, one
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall, Operand, Shape, Value

_SAME_SHAPE = "inv inverse cholesky matrix_power matrix_exp"
_SCALAR = "det logdet"
_VALUES = "eigvals eigvalsh"
_VALUES_AND_VECTORS = "eigh eig"


def square_clash(x: Operand) -> Clash | None:
    """The clash of a matrix, or a batch of them, with another number of columns than of rows."""
    if x.ndim < 2:
        return rank(x, 2, f"its input {x} has {axes_text(x.ndim)}, it takes at least 2 (rows, columns)")
    rows, columns = x.shape[-2:]
    if rows == columns:
        return None
    words = f"the last dims of its input {x} are {rows} rows and {columns} columns, it takes square matrices"
    return Clash("matmul_dims", {"columns": columns}, {"columns": rows}, operand=x.id, dim=x.ndim - 1, words=words)


def _square_requires(call: OpCall) -> Clash | None:
    return square_clash(tensor(call, 0, "input"))


def _same(call: OpCall) -> tuple[Outputs, ...]:
    return one(tensor(call, 0, "input").shape)


def _scalar_gives(call: OpCall) -> tuple[Outputs, ...]:
    return one(tensor(call, 0, "input").shape[:-2])


def _signed_gives(call: OpCall) -> tuple[Outputs, ...]:
    return ((tensor(call, 0, "input").shape[:-2],) * 2,)


def _values_gives(call: OpCall) -> tuple[Outputs, ...]:
    return one(tensor(call, 0, "input").shape[:-1])


def _vectors_gives(call: OpCall) -> tuple[Outputs, ...]:
    shape = tensor(call, 0, "input").shape
    return ((shape[:-1], shape),)


def _solve(call: OpCall) -> tuple[Operand, Operand, bool]:
    """The matrix, the right-hand side, and whether that is a vector, or a batch of vectors."""
    matrix, right = tensor(call, 0, "A"), tensor(call, 1, "B")
    if call.kwargs.get("left", True) is not True or not right.ndim:
        raise Unreadable("a system solved from the right, or for a scalar")
    return matrix, right, right.ndim == 1 or (matrix.ndim - 1 == right.ndim and matrix.shape[:-1] == right.shape)


def _solve_requires(call: OpCall) -> Clash | None:
    matrix, right, is_vector = _solve(call)
    if clash := square_clash(matrix):
        return clash
    dim = right.ndim - (1 if is_vector else 2)
    if right.shape[dim] != matrix.shape[-2]:
        words = f"dim {dim} of the right-hand side {right} is {right.shape[dim]}, the matrix {matrix} has {matrix.shape[-2]} rows"
        got, want = {"rows": right.shape[dim]}, {"rows": matrix.shape[-2]}
        return Clash("matmul_dims", got, want, right.id, dim, matrix.id, matrix.ndim - 2, words)
    if is_vector:
        return None
    for dim, other in clashing_dims(right.shape[:-2], matrix.shape[:-2]):
        words = f"batch dim {dim} of {right} is {right.shape[dim]}, batch dim {other} of {matrix} is {matrix.shape[other]}"
        got, want = {"size": right.shape[dim]}, {"size": matrix.shape[other]}
        return Clash("broadcast", got, want, right.id, dim, matrix.id, other, words)
    return None


def _solve_gives(call: OpCall) -> tuple[Outputs, ...]:
    matrix, right, is_vector = _solve(call)
    if is_vector:
        return one(matrix.shape[:-1])
    batches = combined([matrix.shape[:-2], right.shape[:-2]])
    return any_of(tuple(batch + matrix.shape[-1:] + right.shape[-1:] for batch in batches))


def _contracted(call: OpCall) -> tuple[Operand, Operand, Shape, Shape]:
    """The tensors of a tensordot and the dims of each that it sums over."""
    x, y, dims = tensor(call, 0, "a"), tensor(call, 1, "b"), call.get(2, "dims", 2)
    if isinstance(dims, int):
        first: Value = tuple(range(x.ndim - dims, x.ndim))
        second: Value = tuple(range(dims))
    elif isinstance(dims, tuple) and len(dims) == 2:
        first, second = dims
    else:
        raise Unreadable(f"tensordot over {dims!r}")
    return x, y, numbers(first), numbers(second)


def _tensordot_requires(call: OpCall) -> Clash | None:
    x, y, first, second = _contracted(call)
    if len(first) != len(second):
        return None
    if clash := axis_missing(call, x, *first) or axis_missing(call, y, *second):
        return clash
    for a, b in zip(first, second, strict=True):
        dim, other = wrapped(a, x.ndim), wrapped(b, y.ndim)
        got, want = x.shape[dim], y.shape[other]
        if got != want and 1 not in (got, want):
            words = f"dim {dim} of {x} is {got}, dim {other} of {y} is {want}, and both are summed over together"
            return Clash("matmul_dims", {"inner": got}, {"inner": want}, x.id, dim, y.id, other, words)
    return None


def _tensordot_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, y, first, second = _contracted(call)
    gone, absorbed = {wrapped(dim, x.ndim) for dim in first}, {wrapped(dim, y.ndim) for dim in second}
    kept = tuple(size for at, size in enumerate(x.shape) if at not in gone)
    return one(kept + tuple(size for at, size in enumerate(y.shape) if at not in absorbed))


def _chain(call: OpCall) -> tuple[Operand, ...]:
    factors = call.operands()
    if len(factors) < 2 or any(factor.ndim not in (1, 2) for factor in factors):
        raise Unreadable(f"{call.name} of {len(factors)} factors")
    return factors


def _chain_requires(call: OpCall) -> Clash | None:
    for x, y in itertools.pairwise(_chain(call)):
        if clash := inner_clash(x, y):
            return clash
    return None


def _chain_gives(call: OpCall) -> tuple[Outputs, ...]:
    first, *_, last = _chain(call)
    return one(first.shape[:-1] + last.shape[1:])


def _kron_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, y = tensor(call, 0, "input").shape, tensor(call, 1, "other").shape
    ndim = max(len(x), len(y))
    x, y = (1,) * (ndim - len(x)) + x, (1,) * (ndim - len(y)) + y
    return one(tuple(a * b for a, b in zip(x, y, strict=True)))


def _cross_requires(call: OpCall) -> Clash | None:
    x, y = tensor(call, 0, "input"), tensor(call, 1, "other")
    if x.ndim != y.ndim:
        return rank(y, x.ndim, f"{y} has {axes_text(y.ndim)}, {x} has {x.ndim}")
    if clash := broadcast_clash(y, x):
        return clash
    dim = call.get(2, "dim", -1 if "linalg" in call.name else None)
    if not isinstance(dim, int) or not x.ndim:
        return None
    if clash := axis_missing(call, x, dim):
        return clash
    at = wrapped(dim, x.ndim)
    odd = next((operand for operand in (x, y) if operand.shape[at] != 3), None)
    if odd is None:
        return None
    words = f"dim {at} of {odd} is {odd.shape[at]}, a cross product takes vectors of 3"
    return Clash("broadcast", {"size": odd.shape[at]}, {"size": 3}, operand=odd.id, dim=at, words=words)


def _cross_gives(call: OpCall) -> tuple[Outputs, ...]:
    return any_of(combined([tensor(call, 0, "input").shape, tensor(call, 1, "other").shape]))


def _vecdot_place(call: OpCall) -> tuple[Operand, Operand, int]:
    return tensor(call, 0, "x"), tensor(call, 1, "y"), call.integer(2, "dim", -1)


def _vecdot_requires(call: OpCall) -> Clash | None:
    x, y, dim = _vecdot_place(call)
    return axis_missing(call, x if x.ndim >= y.ndim else y, dim) or broadcast_clash(y, x)


def _vecdot_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, y, dim = _vecdot_place(call)
    return any_of(tuple(replaced(shape, wrapped(dim, len(shape))) for shape in combined([x.shape, y.shape])))


def _diagonal_place(call: OpCall) -> tuple[Operand, int, int, int]:
    x = tensor(call, 0, "input")
    first, second = (-2, -1) if "linalg" in call.name else (0, 1)
    return x, call.integer(1, "offset", 0), call.integer(2, "dim1", first), call.integer(3, "dim2", second)


def _diagonal_requires(call: OpCall) -> Clash | None:
    x, _, first, second = _diagonal_place(call)
    return axis_missing(call, x, first, second)


def _diagonal_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, offset, first, second = _diagonal_place(call)
    a, b = wrapped(first, x.ndim), wrapped(second, x.ndim)
    length = min(x.shape[a] - max(0, -offset), x.shape[b] - max(0, offset))
    return one((*(size for at, size in enumerate(x.shape) if at not in (a, b)), max(0, length)))


def _diag_requires(call: OpCall) -> Clash | None:
    x = tensor(call, 0, "input")
    return rank(x, 2, f"its input {x} has {axes_text(x.ndim)}, it takes 1 or 2") if x.ndim not in (1, 2) else None


def _diag_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, offset = tensor(call, 0, "input"), call.integer(1, "diagonal", 0)
    if x.ndim == 1:
        return one((x.shape[0] + abs(offset),) * 2)
    if x.ndim != 2:
        raise Unreadable(f"{call.name} of {x}")
    return one((max(0, min(x.shape[0] - max(0, -offset), x.shape[1] - max(0, offset))),))


def _trace_requires(call: OpCall) -> Clash | None:
    x = tensor(call, 0, "input")
    return rank(x, 2, f"its input {x} has {axes_text(x.ndim)}, it takes 2 (rows, columns)") if x.ndim != 2 else None


def _trace_gives(_call: OpCall) -> tuple[Outputs, ...]:
    return one(())


RULES.register(*_SAME_SHAPE.split())(Rule(_square_requires, _same))
RULES.register(*_SCALAR.split())(Rule(_square_requires, _scalar_gives))
RULES.register("slogdet")(Rule(_square_requires, _signed_gives))
RULES.register(*_VALUES.split())(Rule(_square_requires, _values_gives))
RULES.register(*_VALUES_AND_VECTORS.split())(Rule(_square_requires, _vectors_gives))
RULES.register("solve")(Rule(_solve_requires, _solve_gives))
RULES.register("tensordot")(Rule(_tensordot_requires, _tensordot_gives))
RULES.register("multi_dot", "chain_matmul")(Rule(_chain_requires, _chain_gives))
RULES.register("kron")(Rule(gives=_kron_gives))
RULES.register("cross")(Rule(_cross_requires, _cross_gives))
RULES.register("vecdot")(Rule(_vecdot_requires, _vecdot_gives))
RULES.register("diagonal")(Rule(_diagonal_requires, _diagonal_gives))
RULES.register("diag")(Rule(_diag_requires, _diag_gives))
RULES.register("trace")(Rule(_trace_requires, _trace_gives))
