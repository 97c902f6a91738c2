"""Going on and values on demand are one mechanism: what a model reads, wherever it does, hides none of its faults."""

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tb_shapeplugin.record.trace import Trace
from tests.tracing.runs import run

X = torch.linspace(-1, 1, 30).reshape(3, 10)


def _by_item(x: torch.Tensor) -> int:
    return int(x.sum().item() > 0)


def _by_branch(x: torch.Tensor) -> int:
    return 1 if x.sum() > 0 else 0


def _by_mask(x: torch.Tensor) -> int:
    return x[x > 0].shape[0]


def _by_list(x: torch.Tensor) -> int:
    return len(x.flatten()[:3].tolist())


def _by_size(x: torch.Tensor) -> int:
    return torch.zeros(int(x.abs().max().item()) + 1).shape[0]


def _by_loop(x: torch.Tensor) -> int:
    rounds, norm = 0, x.norm()
    while norm > 0.5 and rounds < 3:
        norm, rounds = norm / 2, rounds + 1
    return rounds


def _by_places(x: torch.Tensor) -> int:
    return x.nonzero().shape[0]


def _by_array(x: torch.Tensor) -> int:
    return len(x.detach().numpy())


READS = (_by_item, _by_branch, _by_mask, _by_list, _by_size, _by_loop, _by_places, _by_array)


class Three(nn.Module):
    """x ─ a ─ b ✗ ─ c ─ d ✗ ─ e ─ f ✗, with a read of values at one of four places."""

    def __init__(self, read: Callable[[torch.Tensor], int], at: int) -> None:
        super().__init__()
        self.read, self.at = read, at
        self.a, self.b = nn.Linear(10, 16), nn.Linear(24, 16)
        self.c, self.d = nn.Linear(16, 8), nn.Linear(9, 4)
        self.e, self.f = nn.Linear(4, 4), nn.Linear(5, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        stages = [lambda x: x, lambda x: self.b(self.a(x)), lambda x: self.d(F.relu(self.c(x))), lambda x: self.f(self.e(x))]
        for at, stage in enumerate(stages):
            x = stage(x)
            if at == self.at:
                self.read(x)
        return x


def failing(trace: Trace) -> list[str]:
    """Module paths of the failures that nothing explains."""
    return [trace.modules[failure.module].path for failure in trace.failures if failure.caused_by < 0]


@pytest.mark.parametrize("at", range(4), ids=("before", "behind one", "behind two", "behind all"))
@pytest.mark.parametrize("read", READS, ids=lambda read: read.__name__)
def test_three_faults_and_a_read(read: Any, at: int) -> None:
    """All three are found, and the run goes through: contents that stand on a guess are zeros."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trace = run(Three(read, at), (X,))
    assert failing(trace) == ["b", "d", "f"]
    assert trace.execution == "fake"
    assert trace.tensors[trace.outputs[0].tensor].shape == (3, 2)


@pytest.mark.parametrize("at", (1, 2, 3), ids=("behind one", "behind two", "behind all"))
def test_what_stands_on_guessed_contents_is_said(at: int) -> None:
    """A value behind a fault is nobody's: the trace says where it was assumed."""
    trace = run(Three(_by_branch, at), (X,))
    assert [value.origin for value in trace.values] == ["assumed"]
    assert any("values that nobody gave" in text for text in trace.unchecked)


@pytest.mark.parametrize("at", range(4), ids=("before", "behind one", "behind two", "behind all"))
def test_without_values_the_faults_in_front_of_a_read_are_found(at: int) -> None:
    """A purely shape-level run can't go past the read, and says so."""
    trace = run(Three(_by_branch, at), (X,), execution="fake")
    assert failing(trace)[:-1] == ["b", "d", "f"][:at]
    assert trace.failures[-1].call.name == "python.value"


def test_a_fault_in_a_loop_over_a_value() -> None:
    """How often the loop runs is known until the first fault, and assumed behind it."""

    class Iterates(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.step, self.narrow, self.head = nn.Linear(10, 10), nn.Linear(11, 10), nn.Linear(10, 3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            rounds = 0
            while x.norm() > 1e-3 and rounds < 4:
                x, rounds = self.narrow(self.step(x)) / 2, rounds + 1
            return self.head(x)

    trace = run(Iterates(), (X,))
    assert set(failing(trace)) == {"narrow"}
    assert trace.tensors[trace.outputs[0].tensor].shape == (3, 3)


def widened(model: nn.Module, *paths: str) -> None:
    """Plants faults: those Linears take four more features than they get."""
    for path in paths:
        layer = model.get_submodule(path)
        assert isinstance(layer, nn.Linear)
        above, _, name = path.rpartition(".")
        setattr(model.get_submodule(above), name, nn.Linear(layer.in_features + 4, layer.out_features, bias=layer.bias is not None))


IDS = torch.randint(0, 50, (2, 7), generator=torch.Generator().manual_seed(0))
SMALL = {"vocab_size": 60, "num_hidden_layers": 2, "num_attention_heads": 4, "hidden_size": 32, "intermediate_size": 64}
LIBRARY: dict[str, tuple[dict[str, Any], tuple[str, ...], dict[str, torch.Tensor]]] = {
    "Bert": (SMALL, ("encoder.layer.0.intermediate.dense", "encoder.layer.1.attention.self.value"), {"input_ids": IDS}),
    "T5": (
        {"vocab_size": 60, "d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4},
        ("encoder.block.0.layer.1.DenseReluDense.wo", "decoder.block.1.layer.1.EncDecAttention.k"),
        {"input_ids": IDS, "decoder_input_ids": IDS[:, :5]},
    ),
    "Whisper": (
        {"vocab_size": 60, "num_mel_bins": 8, "d_model": 32, "max_source_positions": 16, "max_target_positions": 16, "pad_token_id": 0}
        | {"bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 3, "encoder_layers": 1, "decoder_layers": 2}
        | {"encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64},
        ("encoder.layers.0.fc2", "decoder.layers.1.encoder_attn.v_proj"),
        {"input_features": torch.ones(2, 8, 32), "decoder_input_ids": IDS},
    ),
    "Mamba": (
        {"vocab_size": 60, "hidden_size": 32, "num_hidden_layers": 2, "state_size": 4},
        ("layers.1.mixer.out_proj",),
        {"input_ids": IDS},
    ),
}


@pytest.mark.parametrize("family", LIBRARY)
def test_faults_in_a_librarys_models_that_read_values(family: str) -> None:
    """Their forwards look at masks and lengths on the way: the planted layers are found, no other."""
    transformers = pytest.importorskip("transformers")
    settings, planted, inputs = LIBRARY[family]
    model = getattr(transformers, f"{family}Model")(getattr(transformers, f"{family}Config")(**settings)).eval()
    widened(model, *planted)
    assert failing(run(model, (), inputs)) == list(planted)
