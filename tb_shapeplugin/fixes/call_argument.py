"""One call written otherwise: a view's sizes, an order of as many axes, keepdim, the sizes of a split or of a pad."""

from collections.abc import Iterator
from typing import Any

from tb_shapeplugin.fixes.adaptation import Adaptation, keeps_order, transposed
from tb_shapeplugin.fixes.delivery import at_operand, shown
from tb_shapeplugin.fixes.layer_argument import refitted
from tb_shapeplugin.fixes.situation import Candidate, Situation, with_shape
from tb_shapeplugin.ops.reading import Unreadable, listed, product, replaced
from tb_shapeplugin.ops.viewing import filled
from tb_shapeplugin.record.finding import Fix
from tb_shapeplugin.record.values import Operand

_VIEWS = ("view", "reshape")
_REDUCING = ("sum", "mean", "amax", "amin", "max", "min", "norm", "prod", "std", "var", "argmax", "argmin", "logsumexp", "any", "all")
_PLURAL = ("permute",)
_MOST_TARGETS = 4
_SCRAMBLED = 0.8  # effort that cutting across axes adds


def call_argument(situation: Situation) -> Iterator[Candidate]:
    """The failing call, or a reduction before it, with one thing changed; never one in a layer's own code."""
    if situation.in_torchs_code or situation.call.name.startswith("python."):
        return
    yield from _views(situation)
    yield from _kept_dims(situation)
    yield from _permutation(situation)
    yield from _sizes_of_split(situation)
    yield from _contiguous(situation)
    yield from _transposed_operands(situation)
    yield from _pad(situation)


def refitted_targets(situation: Situation) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The target of a failing view, expand or unflatten beside targets that its operand fits."""
    call, x = situation.call, _first(situation)
    try:
        target = listed(call, 1, "shape", "size", "sizes")
    except Unreadable:
        return
    if x is None or call.short_name not in (*_VIEWS, "expand"):
        return
    if call.short_name == "expand":
        pairs = list(zip(reversed(target), reversed(x.shape), strict=False))
        fitted = [own if own not in (1, wanted) and wanted != -1 else wanted for wanted, own in pairs]
        yield target, (*target[: len(target) - len(fitted)], *reversed(fitted))
        return
    yield from ((target, fitted) for fitted in _fitted(target, x))


def _fitted(target: tuple[int, ...], x: Operand) -> Iterator[tuple[int, ...]]:
    whole = x.numel
    if (wrong := _impossible(target)) >= 0:
        yield from (fitted for size in (-1, 1, *x.shape) if (fitted := _filled_in(target, wrong, size, whole)) is not None)
        return
    if -1 not in target:
        yield from refitted(target, whole)
        return
    free = target.index(-1)
    batch = x.shape[0] if x.shape else 1
    known = [at for at, size in enumerate(target) if size != -1]
    if len(known) == 1 and batch:
        at = known[0]
        size = batch if at == 0 else whole // batch
        if free == 0 or at == 0:
            yield (*target[:at], size, *target[at + 1 :])
    for at in known[1:]:
        yield from (replaced(target, at, size) for size in _divisors_near(target, at, whole))
    for at in known:
        for size in dict.fromkeys((*x.shape, product(x.shape[1:]))):
            changed = (*target[:at], size, *target[at + 1 :])
            fixed = product(other for other in changed if other != -1)
            if size not in (0, target[at]) and fixed and whole % fixed == 0:
                yield changed


def _divisors_near(target: tuple[int, ...], at: int, whole: int) -> list[int]:
    """The two sizes nearest to a stated one of which the elements are a multiple: 3 and 6 heads where 4 don't divide 18."""
    others = product(size for place, size in enumerate(target) if place != at and size != -1)
    rest = whole // others if others and whole % others == 0 else 0
    fitting = [size for size in range(2, rest) if rest % size == 0]
    return sorted(fitting, key=lambda size: (abs(size - target[at]), size))[:2]


def _impossible(target: tuple[int, ...]) -> int:
    """The place of a size that no view takes: 0, less than -1, or a second -1; -1 where there is none."""
    found = [at for at, size in enumerate(target) if size in (0,) or size < -1 or (size == -1 and -1 in target[:at])]
    return found[0] if len(found) == 1 else -1


def _filled_in(target: tuple[int, ...], at: int, size: int, whole: int) -> tuple[int, ...] | None:
    """The target with that size in that place, None where it doesn't hold the elements."""
    changed = (*target[:at], size, *target[at + 1 :])
    possible = changed.count(-1) <= 1 and 0 not in changed and filled(whole, changed) is not None
    return changed if possible else None


def _first(situation: Situation) -> Operand | None:
    first = situation.call.args[0] if situation.call.args else None
    return first if isinstance(first, Operand) else None


def _with_arguments(situation: Situation, arguments: tuple[int, ...], effort: float) -> Candidate:
    name = situation.call.short_name
    change = situation.call_change(situation.op, arguments=list(arguments))
    return Candidate(Fix(f"{name}({', '.join(map(str, arguments))})", (change,)), effort, reshapes=True)


def _views(situation: Situation) -> Iterator[Candidate]:
    targets = list(dict.fromkeys(after for _, after in refitted_targets(situation)))
    x = _first(situation)
    viewing = situation.call.short_name in _VIEWS
    if viewing and targets and x is not None and -1 not in targets[0] and targets[0][:1] == x.shape[:1]:
        targets.insert(0, (-1, *targets[0][1:]))  # a batch of any size
    for target in targets[:_MOST_TARGETS]:
        effort = 0.9 if target == targets[0] else 1.8
        scrambles = x is not None and viewing and not keeps_order(x.shape, filled(x.numel, target) or x.shape)
        yield _with_arguments(situation, target, effort + _SCRAMBLED * scrambles)


def _kept_dims(situation: Situation) -> Iterator[Candidate]:
    if situation.kind not in ("broadcast", "rank", "cat", "matmul_dims"):
        return
    for operand in situation.call.operands():
        for op in list(situation.makers(operand.id))[:4]:
            names = dict(op.arguments)
            if op.name.rpartition(".")[2] in _REDUCING and "dim" in names and names.get("keepdim", "False") == "False":
                change = situation.call_change(op, argument="keepdim", value=True)
                text = f"{op.name.rpartition('.')[2]}({names['dim']}, keepdim=True)"
                yield Candidate(Fix(text, (change,)), 0.5, reshapes=True)


def _permutation(situation: Situation) -> Iterator[Candidate]:
    """An order of as many axes as the tensor has."""
    x = _first(situation)
    if situation.call.short_name not in _PLURAL or x is None:
        return
    try:
        dims = listed(situation.call, 1, "dims")
    except Unreadable:
        return
    missing = tuple(dim for dim in range(x.ndim) if dim not in dims)
    if len(dims) < x.ndim and len(dims) + len(missing) == x.ndim:
        yield _with_arguments(situation, (*dims, *missing), 1.0)
    kept = tuple(dim for dim in dims if 0 <= dim < x.ndim)
    if len(dims) > x.ndim == len(kept):
        yield _with_arguments(situation, kept, 1.0)
    shifted = tuple(dim - 1 for dim in dims if dim)
    if len(dims) == x.ndim + 1 and len(shifted) == x.ndim:
        yield _with_arguments(situation, shifted, 0.9)


def _sizes_of_split(situation: Situation) -> Iterator[Candidate]:
    sizes = situation.call.get(1, "split_size_or_sections") or situation.call.get(1, "split_size")
    got = next(iter(situation.finding.got.values()), 0)
    if situation.kind != "split_sizes" or not isinstance(sizes, tuple):
        return
    numbers = [size for size in sizes if isinstance(size, int)]
    spare = got - sum(numbers)
    options = [[*numbers[:at], numbers[at] + spare, *numbers[at + 1 :]] for at in reversed(range(len(numbers))) if numbers[at] + spare > 0]
    if len(set(numbers)) == 1 and got % len(numbers) == 0:
        options.insert(0, [got // len(numbers)] * len(numbers))
    key: int | str = 1 if len(situation.call.args) > 1 else next(iter(situation.call.kwargs), 1)
    for option in options[:_MOST_TARGETS]:
        change = situation.call_change(situation.op, argument=key, value=option)
        yield Candidate(Fix(f"{situation.call.short_name}({option}, …)", (change,)), 1.0, reshapes=True)


def _contiguous(situation: Situation) -> Iterator[Candidate]:
    x = _first(situation)
    if situation.kind == "view_stride" and x is not None:
        step = Adaptation("contiguous", {}, x.shape, "contiguous()")
        candidate = at_operand(situation, x, step, 0.8)
        if candidate is not None:
            yield candidate


def _transposed_operands(situation: Situation) -> Iterator[Candidate]:
    """A matrix product, or any other call, with a table's last two axes swapped."""
    for operand in {operand.id: operand for operand in situation.call.operands()}.values():
        if operand.kind in ("parameter", "buffer", "constant") and operand.ndim > 1:
            step = transposed(operand.shape, operand.ndim - 2, operand.ndim - 1)
            if situation.fits(with_shape(operand, step.shape)):
                candidate = at_operand(situation, operand, step, 0.7)
                if candidate is not None:
                    yield candidate


def _pad(situation: Situation) -> Iterator[Candidate]:
    """A reflecting pad no longer than the axis allows."""
    call = situation.call
    given, x = call.get(1, "pad"), _first(situation)
    if situation.kind != "pad_size" or not isinstance(given, tuple) or x is None:
        return
    room = 0 if call.get(2, "mode") == "circular" else 1
    allowed: list[Any] = [
        min(value, x.shape[-1 - at // 2] - room) if isinstance(value, int) and at // 2 < x.ndim else value for at, value in enumerate(given)
    ]
    key: int | str = 1 if len(call.args) > 1 else "pad"
    change = situation.call_change(situation.op, argument=key, value=allowed)
    yield Candidate(Fix(f"F.pad({shown(situation, x)}, {allowed})", (change,)), 1.0, reshapes=True)
