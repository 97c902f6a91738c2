"""Rules of cat and stack."""

import itertools
from collections import Counter

from tb_shapeplugin.ops.reading import Unreadable, axes_text, axis_missing, distinct, rank, wrapped
from tb_shapeplugin.ops.rule import RULES, Outputs, Rule, any_of
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


def _cat_gives(call: OpCall) -> tuple[Outputs, ...]:
    pieces = _joined(call)
    usual = _usual_ndim(pieces)
    shapes = [piece.shape for piece in pieces if piece.ndim == usual]
    along = wrapped(call.integer(1, "dim", 0), usual)
    odd = len(pieces) - len(shapes)  # a piece with a forgotten axis most likely adds 1
    return any_of(_readings(shapes, along, sum(shape[along] for shape in shapes) + odd))


def _stack_requires(call: OpCall) -> Clash | None:
    first, *rest = _pieces(call)
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


RULES.register("cat", "concat", "concatenate")(Rule(_cat_requires, _cat_gives))
RULES.register("stack")(Rule(_stack_requires, _stack_gives))
