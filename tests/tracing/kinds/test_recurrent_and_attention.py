"""LSTM, GRU and packed sequences; attention, and torch's fused paths that recording takes away."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pack_sequence, pad_packed_sequence

import tb_shapeplugin as shapes
from tests.tracing.kinds.checking import WITH_VALUES, checked, places

RECURRENT: dict[str, tuple[Callable[[], nn.Module], str]] = {
    "rnn": (lambda: nn.RNN(4, 5), "rnn_tanh"),
    "relu_rnn": (lambda: nn.RNN(4, 5, nonlinearity="relu"), "rnn_relu"),
    "gru": (lambda: nn.GRU(4, 5, 2, batch_first=True), "gru"),
    "lstm": (lambda: nn.LSTM(4, 5, 2, batch_first=True, bidirectional=True, dropout=0.3), "lstm"),
    "projected_lstm": (lambda: nn.LSTM(4, 5, proj_size=2), "lstm"),
}


@pytest.mark.parametrize("name", RECURRENT)
def test_a_recurrent_layer_is_one_op(name: str) -> None:
    """On a batch, and on a single sequence without one."""
    build, op = RECURRENT[name]
    for shape in ((6, 3, 4), (6, 4)):
        made = places(checked(build(), (torch.randn(shape),)))
        assert [place for place in made if place[0] == op] == [(op, "")]
        assert {other for other, _ in made} <= {op, "zeros", "unsqueeze", "squeeze"}  # the first states, and a batch of one


CELLS = {"rnn_tanh_cell": nn.RNNCell, "gru_cell": nn.GRUCell, "lstm_cell": nn.LSTMCell}


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_in_a_loop_is_called_once_a_step(name: str) -> None:
    """The calls of the cell are numbered."""

    class Unrolled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.cell = CELLS[name](4, 5)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            state = None
            for step in x:
                state = self.cell(step, state)
            return state[0] if isinstance(state, tuple) else state

    capture = checked(Unrolled(), (torch.randn(3, 2, 4),))
    assert [op.call for op in capture.ops if op.name.endswith(name)] == [1, 2, 3]


class PackedRNN(nn.Module):
    """packed sequence ─ rnn ─ its own output, packed"""

    def __init__(self, rnn: nn.Module) -> None:
        super().__init__()
        self.rnn = rnn

    def forward(self, packed: PackedSequence) -> PackedSequence:
        return self.rnn(packed)[0]


@pytest.mark.parametrize("name", RECURRENT)
def test_a_packed_sequence_goes_in_and_comes_out(name: str) -> None:
    """Its parts are named as Python names them."""
    packed = pack_sequence([torch.randn(length, 4) for length in (5, 2, 1)], enforce_sorted=True)
    capture = checked(PackedRNN(RECURRENT[name][0]()), (packed,), executions=WITH_VALUES)
    assert [end.name for end in capture.inputs if end.tensor >= 0] == ["packed.data", "packed.batch_sizes"]
    assert [end.name for end in capture.outputs if end.tensor >= 0] == ["output.data", "output.batch_sizes"]


@pytest.mark.parametrize("name", RECURRENT)
def test_packing_and_padding_inside_a_forward(name: str) -> None:
    """Lengths are values: auto reads them, and only what they depend on runs for real."""

    class Packs(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.widen = nn.Linear(3, 4)
            self.rnn = RECURRENT[name][0]()

        def forward(self, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
            first = getattr(self.rnn, "batch_first", False)
            packed = pack_padded_sequence(self.widen(x), lengths, batch_first=first, enforce_sorted=False)
            padded, _ = pad_packed_sequence(self.rnn(packed)[0], batch_first=first)
            return padded

    first = Packs().rnn.batch_first
    x = torch.randn((3, 6, 3) if first else (6, 3, 3))
    checked(Packs(), (x, torch.tensor([2, 6, 3])), executions=WITH_VALUES)


class SelfAttention(nn.Module):
    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True, **options)

    def forward(self, x: torch.Tensor, **options: Any) -> Any:
        return self.attention(x, x, x, **options)


def test_attention_in_training_is_one_op() -> None:
    """No fused path exists there: nothing to note."""
    capture = checked(SelfAttention(dropout=0.1), (torch.randn(2, 5, 8),))
    assert ("multi_head_attention_forward", "attention") in places(capture)
    assert not [text for text in capture.unchecked if "fused" in text]


FUSED: dict[str, tuple[Callable[[], nn.Module], str]] = {
    "attention": (SelfAttention, "torch._native_multi_head_attention"),
    "layer": (lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), "torch._transformer_encoder_layer_fwd"),
    "encoder": (
        lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2),
        "torch._transformer_encoder_layer_fwd",
    ),
}


@pytest.mark.parametrize("name", FUSED)
@pytest.mark.parametrize("execution", ["auto", "real", "fake"])
def test_a_fused_path_that_recording_takes_away_is_noted(name: str, execution: Any) -> None:
    """A plain run in evaluation without gradients takes one kernel; the record holds the slow path and says which module and kernel."""
    build, kernel = FUSED[name]
    model, x = build().eval(), torch.randn(2, 5, 8)
    with torch.no_grad():
        assert kernel.removeprefix("torch.") in plain_kernels(model, x)
        capture = checked(model, (x,), executions=[execution], ran="real" if execution == "real" else "fake")
    noted = [text for text in capture.unchecked if kernel in text]
    assert len(noted) == 1, capture.unchecked
    assert "slow path" in noted[0]


@pytest.mark.parametrize("name", FUSED)
def test_where_a_plain_run_takes_the_slow_path_too_nothing_is_noted(name: str) -> None:
    """In training, and in evaluation with gradients."""
    model, x = FUSED[name][0](), torch.randn(2, 5, 8)
    for ready in (model, model.eval()):
        assert not [kernel for kernel in plain_kernels(ready, x) if kernel.endswith(("layer_fwd", "multi_head_attention"))]
        assert not [text for text in shapes.capture(ready, (x,)).unchecked if "slow path" in text]


def plain_kernels(model: nn.Module, x: torch.Tensor) -> set[str]:
    """Names of the aten ops that a run without any recording takes."""
    with torch.profiler.profile() as profile:
        model(x)
    return {event.key.removeprefix("aten::") for event in profile.key_averages()}


def test_scaled_dot_product_attention_is_one_op_with_its_parts_as_children() -> None:
    """With a mask, causal, and with dropout."""

    class Attends(nn.Module):
        def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            one = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
            return one + F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=0.1)

    heads = [torch.randn(2, 4, 6, 8) for _ in range(3)]
    capture = checked(Attends(), (*heads, torch.ones(6, 6, dtype=torch.bool).tril()))
    assert [name for name, _ in places(capture)] == ["scaled_dot_product_attention", "scaled_dot_product_attention", "add"]
    assert capture.ops[0].children


def test_a_whole_transformer_with_padding() -> None:
    """Encoder, decoder, causal mask and padding: torch itself reads mask values there."""
    model = nn.Transformer(8, 2, 1, 1, 16, batch_first=True)
    padding = torch.tensor([[False] * 5, [False] * 3 + [True] * 2])
    options = {
        "tgt_mask": nn.Transformer.generate_square_subsequent_mask(4),
        "src_key_padding_mask": padding,
        "memory_key_padding_mask": padding,
    }
    checked(model, (torch.randn(2, 5, 8), torch.randn(2, 4, 8)), options, executions=WITH_VALUES)
