"""The models that faults are planted in: each runs, is small, and is built anew for each plant."""

from collections.abc import Callable

import torch
from architectures.building import from_config, image, of_image, of_pairs, of_tokens
from architectures.handwritten import HANDWRITTEN, DiffusionUNet
from models import UNet

from planting.handmade import HANDMADE, Built
from tests.zoo.models import ZOO

_OF_THE_ZOO = ("mlp", "cnn", "resnet_training", "vae", "dcgan_generator", "lstm_classifier", "tied_embedding", "bert", "gpt2", "vit")
_HANDWRITTEN = ("nerf", "rnnt", "gnn")
_TWO_STAGES = {"hidden_sizes": [16, 32], "depths": [1, 2]}
_SEGFORMER = {"num_encoder_blocks": 2, "sr_ratios": [4, 2], "patch_sizes": [7, 3], "strides": [4, 2], "decoder_hidden_size": 16} | {
    "num_attention_heads": [1, 2],
    "mlp_ratios": [2, 2],
}
_SWIN = {"patch_size": 4, "embed_dim": 16, "depths": [1, 2], "num_heads": [2, 4], "window_size": 4}

SUBJECTS: dict[str, Callable[[], Built]] = {
    **HANDMADE,
    **{name: ZOO[name] for name in _OF_THE_ZOO},
    **{name: HANDWRITTEN[name] for name in _HANDWRITTEN},
    "unet": lambda: (UNet(width=4, depth=3), (torch.randn(1, 3, 32, 32),), {}),
    "diffusion-unet": lambda: (DiffusionUNet(width=8, timed=16), (torch.randn(2, 3, 16, 16), torch.tensor([3, 70])), {}),
    "distilbert": of_tokens("DistilBertForSequenceClassification", dim=32, hidden_dim=64),
    "llama": of_tokens("LlamaForCausalLM", length=12),
    "t5": of_pairs("T5ForConditionalGeneration", num_layers=1, num_decoder_layers=1),
    "swin": of_image("SwinForImageClassification", size=32, **_SWIN),
    "convnext": lambda: _of_picture("ConvNextForImageClassification", num_stages=2, **_TWO_STAGES),
    "resnet": lambda: _of_picture("ResNetForImageClassification", embedding_size=8, **_TWO_STAGES),
    "segformer": lambda: _of_picture("SegformerForSemanticSegmentation", **_TWO_STAGES, **_SEGFORMER),
}


def built(name: str) -> Built:
    """A model with its arguments, the same numbers each time."""
    torch.manual_seed(0)
    return SUBJECTS[name]()


def _of_picture(model: str, **sizes: object) -> Built:
    return from_config(model, given=sizes), (), {"pixel_values": image(32)}
