"""Rules of cat and stack, and of those that add axes before they join."""

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from tb_shapeplugin.ops.reading import Unreadable, axes_text, axis_missing, distinct, rank, replaced, wrapped
from tb_shapeplugin.ops.rule import RULES, Outputs, Rule, any_of, one
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall, Operand, Shape


def _pieces(call: OpCall) -> tuple[Operand, ...]:
    given = call.get(0, "tensors")
    if not isinstance(given, tuple):
        raise Unreadable(f"{call.name} got no list")
    pieces = tuple(piece for piece in given if isinstance(piece, Operand))
    if len(pieces) != len(given) or not pieces:
        raise Unreadable(f"{call.name} got no list of tensors")
    return pieces


def _joined(call: OpCall) -> tuple[Operand, ...]:
    """The pieces that count: cat passes over empty vectors."""
    pieces = _pieces(call)
    return tuple(piece for piece in pieces if piece.shape != (0,)) or pieces


def _odd_one(pieces: tuple[Operand, ...], ndim: int) -> Operand:
    return next(piece for piece in pieces if piece.ndim != ndim)


def _usual_ndim(pieces: tuple[Operand, ...]) -> int:
    """The number of axes that most pieces have; of equally many, the larger: an axis is more often forgotten than added."""
    counts = Counter(piece.ndim for piece in pieces)
    return max(counts, key=lambda ndim: (counts[ndim], ndim))


def _cat_requires(call: OpCall) -> Clash | None:
    pieces, dim = _joined(call), call.integer(1, "dim", 0)
    usual = _usual_ndim(pieces)
    if any(piece.ndim != usual for piece in pieces):
        odd = _odd_one(pieces, usual)
        return rank(odd, usual, f"{odd} has {axes_text(odd.ndim)}, the tensor it is joined with has {usual}")
    if clash := axis_missing(call, pieces[0], dim):
        return clash
    first, along = pieces[0], wrapped(dim, usual)
    for piece in pieces[1:]:
        differing = [at for at in range(usual) if at != along and piece.shape[at] != first.shape[at]]
        if differing:
            return _cat_clash(first, piece, differing, along)
    return None


def _cat_clash(first: Operand, piece: Operand, differing: list[int], along: int) -> Clash:
    at = differing[0]
    got, want = piece.shape[at], first.shape[at]
    more = "".join(f", dim {dim} {piece.shape[dim]} against {first.shape[dim]}" for dim in differing[1:])
    words = f"dim {at} of {piece} is {got}, of {first} it is {want}{more}; only dim {along}, the joined one, may differ"
    return Clash("cat", {"size": got}, {"size": want}, operand=piece.id, dim=at, other=first.id, other_dim=at, words=words)


def _readings(shapes: list[Shape], along: int, joined: int) -> tuple[Shape, ...]:
    columns = [(joined,) if at == along else distinct(sizes) for at, sizes in enumerate(zip(*shapes, strict=True))]
    return distinct(itertools.product(*columns))


def _along_another(shapes: list[Shape], along: int) -> Iterator[Shape]:
    """The one axis along which the pieces could be joined after all: the only one on which they differ."""
    differing = [at for at, sizes in enumerate(zip(*shapes, strict=True)) if len(set(sizes)) > 1]
    if len(differing) == 1 and differing[0] != along:
        at = differing[0]
        yield replaced(shapes[0], at, sum(shape[at] for shape in shapes))


def _cat_gives(call: OpCall) -> tuple[Outputs, ...]:
    pieces = _joined(call)
    usual = _usual_ndim(pieces)
    shapes = [piece.shape for piece in pieces if piece.ndim == usual]
    along = wrapped(call.integer(1, "dim", 0), usual)
    odd = len(pieces) - len(shapes)  # a piece with a forgotten axis most likely adds 1
    stated = _readings(shapes, along, sum(shape[along] for shape in shapes) + odd)
    alike = _readings(shapes, along, shapes[0][along] * len(pieces))[:2]  # or it is one of equal pieces, its axes in disorder
    return any_of(distinct((*stated[:5], *alike, *_along_another(shapes, along))))


def _stack_requires(call: OpCall) -> Clash | None:
    first, *rest = _pieces(call)
    dim = call.integer(1, "dim", 0)
    if not -first.ndim - 1 <= dim <= first.ndim:
        need = dim if dim >= 0 else -dim - 1
        return rank(first, need, f"{first} has {axes_text(first.ndim)}, a new axis at dim {dim} takes at least {need}")
    for piece in rest:
        if piece.ndim != first.ndim:
            words = f"item {piece} has {axes_text(piece.ndim)}, the first one {first} has {first.ndim}"
            return Clash("stack_ragged", {"ndim": piece.ndim}, {"ndim": first.ndim}, operand=piece.id, other=first.id, words=words)
        for dim, (got, want) in enumerate(zip(piece.shape, first.shape, strict=True)):
            if got != want:
                words = f"dim {dim} of item {piece} is {got}, of the first item {first} it is {want}"
                return Clash("stack_ragged", {"size": got}, {"size": want}, piece.id, dim, first.id, dim, words)
    return None


def _stack_gives(call: OpCall) -> tuple[Outputs, ...]:
    pieces = _pieces(call)
    ndim = pieces[0].ndim
    at = wrapped(call.integer(1, "dim", 0), ndim + 1)
    shapes = [piece.shape for piece in pieces if piece.ndim == ndim]
    columns = [distinct(sizes) for sizes in zip(*shapes, strict=True)]
    return any_of(distinct((*shape[:at], len(pieces), *shape[at:]) for shape in itertools.product(*columns)))


def _raised(piece: Operand, name: str) -> Operand:
    """The piece with the axes that hstack and its kin add before they join."""
    shape = piece.shape
    if name in ("vstack", "row_stack"):
        shape = (1,) * (2 - piece.ndim) + shape
    elif name == "hstack":
        shape = shape or (1,)
    elif name == "dstack":
        shape = (1, *(shape or (1,)), 1) if piece.ndim < 2 else (*shape, 1) if piece.ndim == 2 else shape
    elif piece.ndim < 2:  # column_stack
        shape = (*(shape or (1,)), 1)
    return replace(piece, shape=shape)


def _as_cat(call: OpCall) -> OpCall:
    name = call.short_name
    pieces = tuple(_raised(piece, name) for piece in _pieces(call))
    dim = {"vstack": 0, "row_stack": 0, "dstack": 2}.get(name, 0 if name == "hstack" and pieces[0].ndim == 1 else 1)
    return OpCall(call.name, (pieces, dim))


def _own_dim(call: OpCall, operand: int, dim: int) -> int:
    """The dim of the piece itself, -1 for an axis that was added."""
    piece = next((piece for piece in _pieces(call) if piece.id == operand), None)
    if piece is None or dim < 0:
        return -1
    name = call.short_name
    before = max(0, 2 - piece.ndim) if name in ("vstack", "row_stack") else int(name == "dstack" and piece.ndim < 2)
    return dim - before if 0 <= dim - before < piece.ndim else -1


def _stacked_requires(call: OpCall) -> Clash | None:
    clash = _cat_requires(_as_cat(call))
    if clash is None:
        return None
    return replace(clash, dim=_own_dim(call, clash.operand, clash.dim), other_dim=_own_dim(call, clash.other, clash.other_dim))


def _stacked_gives(call: OpCall) -> tuple[Outputs, ...]:
    return _cat_gives(_as_cat(call))


RULES.register("hstack", "vstack", "dstack", "column_stack", "row_stack")(Rule(_stacked_requires, _stacked_gives))
RULES.register("cat", "concat", "concatenate")(Rule(_cat_requires, _cat_gives))


def _padded_requires(call: OpCall) -> Clash | None:
    """Sequences of any length, but what they hold at each step has to be of one shape."""
    first, *rest = _pieces(call)
    for piece in rest:
        if piece.ndim != first.ndim:
            words = f"sequence {piece} has {axes_text(piece.ndim)}, the first one {first} has {first.ndim}"
            return Clash("stack_ragged", {"ndim": piece.ndim}, {"ndim": first.ndim}, operand=piece.id, other=first.id, words=words)
        for dim, (got, want) in enumerate(zip(piece.shape[1:], first.shape[1:], strict=True), 1):
            if got != want:
                words = f"dim {dim} of sequence {piece} is {got}, of the first one {first} it is {want}; only dim 0, the length, may differ"
                return Clash("stack_ragged", {"size": got}, {"size": want}, piece.id, dim, first.id, dim, words)
    return None


def _padded_gives(call: OpCall) -> tuple[Outputs, ...]:
    pieces = _pieces(call)
    longest, inner = max(piece.shape[0] for piece in pieces if piece.ndim), pieces[0].shape[1:]
    batch_first = call.get(1, "batch_first", False) is True
    return one((len(pieces), longest, *inner) if batch_first else (longest, len(pieces), *inner))


RULES.register("pad_sequence")(Rule(_padded_requires, _padded_gives))
RULES.register("stack")(Rule(_stack_requires, _stack_gives))
