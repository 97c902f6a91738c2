"""Rule of torch.compile: a size that is declared variable may not be pinned to a constant."""

from tb_shapeplugin.ops.reading import tensor
from tb_shapeplugin.ops.rule import RULES, Rule
from tb_shapeplugin.record.finding import Clash
from tb_shapeplugin.record.values import OpCall


def _requires(call: OpCall) -> Clash | None:
    x, dim, size = tensor(call, 0, "input"), call.kwargs.get("dim"), call.kwargs.get("size")
    if not isinstance(dim, int) or not isinstance(size, int):
        return None
    pinning, place = call.operand(1, "pinning"), call.kwargs.get("pinned_at")
    word = "batch" if dim == 0 else "size"
    by = f" at {place}" if place else ""
    words = f"dim {dim} of {x.name or 'its input'} {x} is declared variable, the code pins it to {size}{by}"
    return Clash("compile_guard", {word: size}, {word: size}, pinning.id if pinning else x.id, other=x.id, other_dim=dim, words=words)


RULES.register("compile")(Rule(_requires))
