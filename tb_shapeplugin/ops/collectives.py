"""What collectives of torch.distributed require: the parts of all ranks are of one shape, and there is a place for each."""

from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall, Operand, Value

PREFIX = "torch.distributed."
# How a collective moves its parts, as tracing tells it under ``form``: every rank's input into a list of outputs, a list of inputs
# into one output, the same with all parts in one tensor, list into list.
GATHERED, SCATTERED, GATHERED_WHOLE, SCATTERED_WHOLE, EXCHANGED = "gathered", "scattered", "gathered whole", "scattered whole", "exchanged"


def collective_clash(call: OpCall) -> Clash | None:
    """The clash of parts and places that don't fit; None where they do or nobody knows.

    Example:
        >>> places, part = (Operand(0, (4, 3), "float32"),), Operand(1, (5, 3), "float32")
        >>> collective_clash(OpCall("torch.distributed.all_gather", (places, part), {"form": GATHERED, "ranks": 1})).got
        {'rows': 5}
    """
    form, ranks = call.kwargs.get("form"), call.kwargs.get("ranks")
    if len(call.args) < 2 or not isinstance(ranks, int):
        return None
    places, parts = _tensors(call.args[0]), _tensors(call.args[1])
    if form in (GATHERED_WHOLE, SCATTERED_WHOLE) and places and parts:
        return _whole(places[0], parts[0], ranks) if form == GATHERED_WHOLE else _whole(parts[0], places[0], ranks, gathered=False)
    listed = {GATHERED: places, SCATTERED: parts, EXCHANGED: places}.get(str(form), ())
    if not listed or not places or not parts:
        return None
    if len(listed) != ranks:
        word = "outputs" if listed is places else "inputs"
        told = f"there are {len(listed)} {word} for {ranks} ranks"
        return Clash("collective", {"tensors": len(listed)}, {"ranks": ranks}, listed[0].id, words=told)
    pairs = zip(places, parts, strict=False) if form == EXCHANGED else ((a, b) for a in places for b in parts)
    return next((clash for rank, (place, part) in enumerate(pairs) if (clash := _pair(place, part, rank))), None)


def _tensors(value: Value) -> tuple[Operand, ...]:
    return tuple(item for item in (value if isinstance(value, tuple) else (value,)) if isinstance(item, Operand))


def _pair(place: Operand, part: Operand, rank: int) -> Clash | None:
    if part.shape == place.shape:
        return None
    if part.ndim != place.ndim:
        words = f"the part {part} and the place {place} for rank {rank}'s differ in their axes; every rank has to give the same shape"
        return Clash("collective", {"ndim": part.ndim}, {"ndim": place.ndim}, part.id, other=place.id, words=words)
    dim = next(at for at in range(part.ndim) if part.shape[at] != place.shape[at])
    word, got, want = "rows" if dim == 0 else "size", part.shape[dim], place.shape[dim]
    words = (
        f"dim {dim} of the part {part} is {got}, of the place {place} for rank {rank}'s it is {want}; every rank has to give the same shape"
    )
    return Clash("collective", {word: got}, {word: want}, part.id, dim, place.id, dim, words)


def _whole(large: Operand, small: Operand, ranks: int, *, gathered: bool = True) -> Clash | None:
    """One tensor that holds the parts of all ranks, one below the other, beside one that holds a single part."""
    if large.numel == small.numel * ranks:
        return None
    holds = "output holds all parts" if gathered else "input is cut into parts"
    words = f"the {holds}: {large} has {large.numel} elements, {ranks} times {small} are {small.numel * ranks}"
    got, want = (small.numel * ranks, large.numel) if gathered else (large.numel, small.numel * ranks)
    faulty, other = (small, large) if gathered else (large, small)
    if large.ndim and small.ndim and large.shape[1:] == small.shape[1:]:
        rows = (small.shape[0] * ranks, large.shape[0]) if gathered else (large.shape[0], small.shape[0] * ranks)
        words = f"the {holds}: {large} has {large.shape[0]} rows, {ranks} times {small} are {small.shape[0] * ranks}"
        return Clash("collective", {"rows": rows[0]}, {"rows": rows[1]}, faulty.id, 0, other.id, 0, words)
    return Clash("collective", {"numel": got}, {"numel": want}, faulty.id, other=other.id, words=words)
