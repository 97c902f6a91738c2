"""Rules of ops that take a map apart into windows, put it together again, or read it at the points of a grid."""

from tb_shapeplugin.ops.reading import Unreadable, axes_text, axis_missing, numbers, product, rank, replaced, tensor, wrapped
from tb_shapeplugin.ops.rule import RULES, Outputs, Rule, any_of, one
from tb_shapeplugin.ops.windows import too_small, window_count
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall, Operand, Shape


def _geometry(call: OpCall, first: int) -> tuple[Shape, Shape, Shape, Shape]:
    """Kernel, dilation, padding and stride of both sides; ``first`` is the kernel's position among the arguments."""
    kernel = numbers(call.get(first, "kernel_size"), 2)
    dilation, padding = numbers(call.get(first + 1, "dilation", 1), 2), numbers(call.get(first + 2, "padding", 0), 2)
    return kernel, dilation, padding, numbers(call.get(first + 3, "stride", 1), 2)


def _blocks(sides: Shape, geometry: tuple[Shape, Shape, Shape, Shape]) -> tuple[int, int]:
    """How many windows fit along either side."""
    kernel, dilation, padding, stride = geometry
    rows, columns = (window_count(*sizes) for sizes in zip(sides, kernel, stride, padding, dilation, strict=True))
    return rows, columns


def _along(call: OpCall) -> tuple[Operand, int, int, int]:
    """``Tensor.unfold``: windows along one axis."""
    x = tensor(call, 0, "input")
    return x, call.integer(1, "dimension", 0), call.integer(2, "size", 1), call.integer(3, "step", 1)


def _is_along_one_axis(call: OpCall) -> bool:
    return call.name == "torch.Tensor.unfold"


def _unfold_requires(call: OpCall) -> Clash | None:
    if not _is_along_one_axis(call):
        x = tensor(call, 0, "input")
        if x.ndim not in (3, 4):
            return rank(x, 4, f"its input {x} has {axes_text(x.ndim)}, it takes 4 (batch, channels, height, width) or 3 without a batch")
        kernel, dilation, padding, _ = _geometry(call, 1)
        return too_small(x, x.ndim - 2, kernel, padding, dilation)
    x, dim, size, _ = _along(call)
    if clash := axis_missing(call, x, dim):
        return clash
    return too_small(x, wrapped(dim, x.ndim), (size,), (0,), (1,), "window") if x.ndim else None


def _unfold_gives(call: OpCall) -> tuple[Outputs, ...]:
    if _is_along_one_axis(call):
        x, dim, size, step = _along(call)
        at = wrapped(dim, x.ndim)
        return one((*replaced(x.shape, at, max(1, window_count(x.shape[at], size, step, 0))), size))
    x, geometry = tensor(call, 0, "input"), _geometry(call, 1)
    if x.ndim < 3:
        raise Unreadable(f"{call.name} of {x}")
    blocks = product(max(1, count) for count in _blocks(x.shape[-2:], geometry))
    return one((*x.shape[:-3], x.shape[-3] * product(geometry[0]), blocks))


def _fold_requires(call: OpCall) -> Clash | None:
    x, sides, geometry = tensor(call, 0, "input"), numbers(call.get(1, "output_size"), 2), _geometry(call, 2)
    if x.ndim not in (2, 3):
        return rank(x, 3, f"its input {x} has {axes_text(x.ndim)}, it takes 3 (batch, channels times window, windows) or 2 without a batch")
    window = product(geometry[0])
    if x.shape[-2] % window:
        words = (
            f"dim {x.ndim - 2} of its input {x} is {x.shape[-2]}, no multiple of the window {geometry[0][0]}·{geometry[0][1]} = {window}"
        )
        return Clash("divisible", {"channels": x.shape[-2]}, {"multiple_of": window}, operand=x.id, dim=x.ndim - 2, words=words)
    rows, columns = _blocks(sides, geometry)
    if x.shape[-1] == rows * columns:
        return None
    words = f"dim {x.ndim - 1} of its input {x} holds {x.shape[-1]} windows, an output of {sides[0]}×{sides[1]} has"
    words += f" {rows}·{columns} = {rows * columns}"
    return Clash("view_numel", {"windows": x.shape[-1]}, {"windows": rows * columns}, operand=x.id, dim=x.ndim - 1, words=words)


def _fold_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, sides, geometry = tensor(call, 0, "input"), numbers(call.get(1, "output_size"), 2), _geometry(call, 2)
    if x.ndim not in (2, 3):
        raise Unreadable(f"{call.name} of {x}")
    return one((*x.shape[:-2], max(1, x.shape[-2] // product(geometry[0])), *sides))


def _sample_requires(call: OpCall) -> Clash | None:
    x, grid = tensor(call, 0, "input"), tensor(call, 1, "grid")
    if x.ndim not in (4, 5):
        return rank(x, 4, f"its input {x} has {axes_text(x.ndim)}, it takes 4 (batch, channels, height, width), or 5 for volumes")
    if grid.ndim != x.ndim:
        return rank(grid, x.ndim, f"the grid {grid} has {axes_text(grid.ndim)}, the input {x} has {x.ndim}")
    if grid.shape[0] != x.shape[0]:
        words = f"dim 0 of the grid {grid} is {grid.shape[0]}, of the input {x} it is {x.shape[0]}"
        return Clash("broadcast", {"batch": grid.shape[0]}, {"batch": x.shape[0]}, grid.id, 0, x.id, 0, words)
    if grid.shape[-1] != x.ndim - 2:
        words = f"the last dim of the grid {grid} holds {grid.shape[-1]} coordinates, a point of {x} takes {x.ndim - 2}"
        got, want = {"coordinates": grid.shape[-1]}, {"coordinates": x.ndim - 2}
        return Clash("rank", got, want, operand=grid.id, dim=grid.ndim - 1, words=words)
    return None


def _sample_gives(call: OpCall) -> tuple[Outputs, ...]:
    x, grid = tensor(call, 0, "input"), tensor(call, 1, "grid")
    return any_of((x.shape[:2] + grid.shape[1:-1],))


def _affine(call: OpCall) -> tuple[Operand, Shape]:
    size = numbers(call.get(1, "size"))
    if len(size) not in (4, 5):
        raise Unreadable(f"{call.name} to {size}")
    return tensor(call, 0, "theta"), size


def _affine_requires(call: OpCall) -> Clash | None:
    theta, size = _affine(call)
    n = len(size) - 2
    if theta.ndim != 3:
        return rank(theta, 3, f"theta {theta} has {axes_text(theta.ndim)}, it takes 3 (batch, {n}, {n + 1})")
    for dim, (got, want) in enumerate(zip(theta.shape, (size[0], n, n + 1), strict=True)):
        if got != want:
            words = f"dim {dim} of theta {theta} is {got}, a grid of size {size} takes {want}"
            word = "batch" if dim == 0 else "size"
            return Clash("broadcast", {word: got}, {word: want}, operand=theta.id, dim=dim, words=words)
    return None


def _affine_gives(call: OpCall) -> tuple[Outputs, ...]:
    _, size = _affine(call)
    return one((size[0], *size[2:], len(size) - 2))


RULES.register("unfold")(Rule(_unfold_requires, _unfold_gives))
RULES.register("fold")(Rule(_fold_requires, _fold_gives))
RULES.register("grid_sample", "grid_sampler")(Rule(_sample_requires, _sample_gives))
RULES.register("affine_grid", "affine_grid_generator")(Rule(_affine_requires, _affine_gives))
