"""Architectures by family, small and with random weights, each with an input: what the coverage is measured on."""

from architectures.audio import AUDIO
from architectures.building import Builder
from architectures.encoder_decoder import ENCODER_DECODER
from architectures.handwritten import HANDWRITTEN
from architectures.mixture_of_experts import MIXTURE_OF_EXPERTS
from architectures.multimodal import MULTIMODAL
from architectures.state_space import STATE_SPACE
from architectures.text import TEXT
from architectures.vision import VISION

FAMILIES: dict[str, dict[str, Builder]] = {
    "text": TEXT,
    "vision": VISION,
    "audio": AUDIO,
    "multimodal": MULTIMODAL,
    "mixture_of_experts": MIXTURE_OF_EXPERTS,
    "state_space": STATE_SPACE,
    "encoder_decoder": ENCODER_DECODER,
    "handwritten": HANDWRITTEN,
}
