"""Where the memory that a capture tells belongs: the op that keeps a tensor, the call that an op goes back through."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

import tb_shapeplugin as shapes


class Checkpointed(nn.Module):
    """Four blocks that are computed once more in the backward."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 8)) for _ in range(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return x


class Gated(nn.Module):
    """norm -> up -> gelu -> down, a softmax gate shared by both of its calls: what is kept is an op's input, or its output."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.up, self.down, self.gate = nn.LayerNorm(8), nn.Linear(8, 32), nn.Linear(32, 8), nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.down(F.gelu(self.up(self.norm(x)))) * self.gate(x).softmax(-1)
        return self.gate(y).softmax(-1)


def test_what_is_kept_is_told_by_the_op_that_keeps_it() -> None:
    """The op's own output (softmax), or its input (gelu's is up's output), each made by the module that it ran in."""
    net, args = Gated(), (torch.randn(4, 8),)
    capture = shapes.capture(net, args, backward=True, loss_fn=lambda y: y.square().sum())
    memory = capture.memory
    assert memory is not None
    after_forward = next(end for phase, end in memory.phases if phase == "forward") - 1
    rows = memory.alive_at(after_forward)
    kept = {(row.module, row.made_by.split(".")[1], row.kept_by.split(".")[1], row.shape) for row in rows if row.kept_by and row.made_by}
    assert kept == {
        ("norm", "native_layer_norm", "addmm", (4, 8)),
        ("norm", "native_layer_norm", "native_layer_norm", (4, 1)),
        ("up", "addmm", "gelu", (4, 32)),
        ("", "gelu", "addmm", (4, 32)),
        ("down", "addmm", "mul", (4, 8)),
        ("", "_softmax", "_softmax", (4, 8)),
        ("", "mul", "addmm", (4, 8)),
    }
    assert sum(row.bytes for row in rows if row.kept_by) == capture.totals.saved_bytes
    assert {row.name for row in rows if row.term == "inputs"} == {"x"}
    assert memory.saved_input_bytes == 4 * 8 * 4 and memory.saved_buffer_bytes == 0


def test_what_is_kept_adds_up_over_calls() -> None:
    """Each call's with those of the calls inside; both calls of one module apart."""
    net, args = Gated(), (torch.randn(4, 8),)
    record = shapes.capture(net, args, backward=True, loss_fn=lambda y: y.square().sum()).record
    paths = [record.strings[record.modules.path[module]] for module in record.calls.module]
    kept = dict(zip(zip(paths, record.calls.number.tolist(), strict=True), record.calls.saved_bytes.tolist(), strict=True))
    batch = 4 * 4
    assert kept == {
        ("", 1): record.totals.saved_bytes,
        ("norm", 1): batch * 8 + 2 * batch,  # the input, mean and deviation
        ("up", 1): batch * 8,
        ("down", 1): batch * 32,
        ("gate", 1): 0,  # the input, which norm keeps already
        ("gate", 2): batch * 8,
    }


def test_an_op_of_the_backward_belongs_to_the_call_that_it_goes_back_through() -> None:
    """By the numbers of autograd's nodes, calls of one module apart; a block that runs once more is itself."""
    for net, args in ((Gated(), (torch.randn(4, 8),)), (Checkpointed(), (torch.randn(6, 8),))):
        record = shapes.capture(net, args, backward=True, loss_fn=lambda y: y.square().sum()).record
        assert record.memory is not None
        start, end = (end for phase, end in record.memory.phases if phase in ("loss", "backward"))
        of_matmuls = [
            record.strings[record.modules.path[record.calls.module[call]]]
            for name, call in zip(record.memory.ops.name[start:end], record.memory.ops.call[start:end], strict=True)
            if record.strings[name] == "aten.mm.default" and call >= 0
        ]
        if isinstance(net, Gated):
            assert of_matmuls == ["gate", "gate", "gate", "down", "down", "up", "up"]  # the input wants no gradient from the first gate
        else:
            blocks = [f"blocks.{block}.{layer}" for block in (3, 2, 1, 0) for layer in (2, 2, 0, 0)]
            assert of_matmuls == blocks[:-1]
