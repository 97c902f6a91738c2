"""Recurrent nets, transformers and tied tables, tiny."""

import importlib
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from tests.zoo.entry import Built, Enclosure

SEQUENCES = Enclosure()


class LSTMClassifier(nn.Module):
    def __init__(self, features: int = 12) -> None:
        super().__init__()
        self.embedding = nn.Embedding(50, features)
        self.lstm = nn.LSTM(12, 8, num_layers=2, batch_first=True, bidirectional=True)
        self.head = nn.Linear(16, 3)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        states, _ = self.lstm(self.embedding(tokens))
        return self.head(states[:, -1])


@SEQUENCES.entry("lstm_classifier")
def lstm_classifier() -> Built:
    """tokens[4,7] → Embedding 12 → LSTM 2·8 both ways → last step → Linear 3."""
    return LSTMClassifier(), (torch.randint(0, 50, (4, 7)),), {}


class PackedLSTM(LSTMClassifier):
    def forward(self, tokens: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:  # as every forward does
        packed = pack_padded_sequence(self.embedding(tokens), lengths, batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return self.head(states.mean(1))


@SEQUENCES.entry("packed_lstm", reads_values=True)
def packed_lstm() -> Built:
    """The same on sequences packed by their lengths: what the packing gives depends on the lengths' values."""
    return PackedLSTM(), (torch.randint(0, 50, (4, 7)), torch.tensor([7, 3, 5, 1])), {}


@SEQUENCES.entry("nn_transformer", reads_values=True)
def nn_transformer() -> Built:
    """nn.Transformer with a causal mask. torch reads the mask to learn whether it is causal.

    source ─ encoder ×1 ─┐
    target ─ decoder ×1 ─┴─ out
    """
    model = nn.Transformer(16, 2, 1, 1, 32, batch_first=True)
    mask = nn.Transformer.generate_square_subsequent_mask(5)
    return model, (torch.randn(2, 6, 16), torch.randn(2, 5, 16)), {"tgt_mask": mask}


class TiedLanguageModel(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(30, 8)
        self.mixer = nn.Linear(8, 8)
        self.head = nn.Linear(8, 30, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.head(F.gelu(self.mixer(self.embedding(tokens))))


@SEQUENCES.entry("tied_embedding")
def tied_embedding() -> Built:
    """tokens ─ embedding ─ mixer ─ head, where head.weight *is* embedding.weight."""
    return TiedLanguageModel(), (torch.randint(0, 30, (2, 5)),), {}


def _from_config(model: str, config: str, **sizes: Any) -> nn.Module:
    transformers = importlib.import_module("transformers")
    built: nn.Module = getattr(transformers, model)(getattr(transformers, config)(**sizes))
    return built.eval()


_SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}


@SEQUENCES.entry("bert", needs="transformers", reads_values=True)
def bert() -> Built:
    """tokens ─ embeddings ─ 2 × (attention, feed-forward) ─ pooler ─ classifier; reads its mask; gives a ModelOutput."""
    sizes = {"vocab_size": 40, **_SIZES}
    model = _from_config("BertForSequenceClassification", "BertConfig", max_position_embeddings=16, **sizes)
    tokens = torch.randint(0, 40, (2, 6))
    return model, (), {"input_ids": tokens, "attention_mask": torch.ones_like(tokens), "labels": torch.tensor([0, 1])}


@SEQUENCES.entry("gpt2", needs="transformers")
def gpt2() -> Built:
    """tokens ─ wte + wpe ─ 2 × block ─ ln ─ head tied to wte; gives logits and a cache of keys and values."""
    model = _from_config("GPT2LMHeadModel", "GPT2Config", vocab_size=40, n_positions=16, n_embd=16, n_layer=2, n_head=2)
    return model, (torch.randint(0, 40, (2, 6)),), {}


@SEQUENCES.entry("mixtral", needs="transformers", reads_values=True)
def mixtral() -> Built:
    """tokens ─ embed ─ 2 × (attention, router ─ 4 experts by grouped products) ─ head.

    The shape-level kernel of the grouped product refuses float32, which eager accepts.
    """
    sizes = {"vocab_size": 40, "num_key_value_heads": 2, "num_local_experts": 4, "num_experts_per_tok": 2, **_SIZES}
    model = _from_config("MixtralForCausalLM", "MixtralConfig", max_position_embeddings=16, **sizes)
    return model, (), {"input_ids": torch.randint(0, 40, (2, 6)), "use_cache": False}


@SEQUENCES.entry("vit", needs="transformers")
def vit() -> Built:
    """image[1,3,32,32] ─ 16 patches + cls ─ 2 × block ─ ln ─ classifier on cls."""
    sizes = {
        "image_size": 32,
        "patch_size": 8,
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 32,
    }
    return _from_config("ViTForImageClassification", "ViTConfig", **sizes), (), {"pixel_values": torch.randn(1, 3, 32, 32)}
