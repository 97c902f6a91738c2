"""What is tried to go on past a failure is no part of the run."""

import torch
from torch import nn

from tb_shapeplugin.tracing.execution import Options, examine
from tb_shapeplugin.tracing.subject import Subject


class Parts(nn.Module):
    """x[2,5,6] ─ qkv 18 ─ split along the wrong axis: one part where three are taken ✗."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(6, 18)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.qkv(x).split(6, dim=1)
        return q + k + v


def test_a_module_that_is_tried_on_other_inputs_leaves_no_ops() -> None:
    """Only what the run itself called is written down, up to the unpacking that failed."""
    trace = examine(Subject("model", nn.Sequential(Parts(), nn.ReLU()), (torch.zeros(2, 5, 6),), {}), Options()).trace
    assert [op.name.rpartition(".")[2] for op in trace.ops][:3] == ["linear", "split", "unpack"]
    assert not any(op.name == "python.opaque" for op in trace.ops)
