"""Models that put text beside pictures, sounds or pages."""

from typing import Any

import torch

from architectures.building import Builder, from_config, image, tokens, with_places

IMAGE_PLACE = 500  # the identifier that stands where a picture's vectors go


def _both(model: str, size: int = 64, **sizes: Any) -> Builder:
    """A builder of a model that compares words with a picture."""
    parts = {"vision_config": {"image_size": size}} | sizes
    return lambda: (from_config(model, **parts), (), {"input_ids": tokens(1), "pixel_values": image(size)})


def _with_picture(model: str, places: int, pixels: torch.Tensor, grid: list[int] | None = None, **sizes: Any) -> Builder:
    """A builder of a model that reads words with a picture's vectors among them."""

    def build() -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        built = from_config(model, image_token_id=IMAGE_PLACE, **sizes)
        given = {"input_ids": with_places(tokens(1), IMAGE_PLACE, places), "pixel_values": pixels}
        if grid:
            given |= {"image_grid_thw": torch.tensor([grid]), "mm_token_type_ids": (given["input_ids"] == IMAGE_PLACE).long()}
        return built, (), given

    return build


def _boxes(length: int = 16) -> torch.Tensor:
    return torch.arange(length)[:, None].repeat(1, 4)[None]


_TURNS = {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 3, 3]}}

MULTIMODAL: dict[str, Builder] = {
    "clip": _both("CLIPModel"),
    "siglip": _both("SiglipModel", text_config={"projection_size": 64}),
    "chinese_clip": _both("ChineseCLIPModel"),
    "align": _both("AlignModel", projection_dim=640),
    "altclip": _both("AltCLIPModel"),
    "blip": _both("BlipForConditionalGeneration"),
    "groupvit": _both("GroupViTModel", size=224),
    "owlvit": _both("OwlViTForObjectDetection"),
    "clipseg": _both("CLIPSegForImageSegmentation", extract_layers=[0, 1]),
    "git": _both("GitForCausalLM"),
    "flava": lambda: (
        from_config("FlavaModel", image_config={"image_size": 64}),
        (),
        {"input_ids": tokens(1), "pixel_values": image()},
    ),
    "bridgetower": _both("BridgeTowerModel"),
    "vilt": lambda: (from_config("ViltForImageAndTextRetrieval", image_size=64), (), {"input_ids": tokens(1), "pixel_values": image()}),
    "layoutlm": lambda: (from_config("LayoutLMForMaskedLM"), (), {"input_ids": tokens(1), "bbox": _boxes()}),
    "layoutlmv3": lambda: (
        from_config("LayoutLMv3Model", input_size=64, coordinate_size=8, shape_size=16),
        (),
        {"input_ids": tokens(1), "bbox": _boxes(), "pixel_values": image()},
    ),
    "clap": lambda: (
        from_config("ClapModel", audio_config={"hidden_size": 768}),
        (),
        {"input_ids": tokens(1), "input_features": torch.randn(1, 1, 64, 64)},
    ),
    "llava": _with_picture("LlavaForConditionalGeneration", 16, image(56), vision_config={"image_size": 56}),
    "vipllava": _with_picture(
        "VipLlavaForConditionalGeneration", 16, image(56), vision_config={"image_size": 56}, vision_feature_layers=[-1, -2]
    ),
    "paligemma": _with_picture("PaliGemmaForConditionalGeneration", 16, image(56), vision_config={"image_size": 56}),
    "aya_vision": _with_picture("AyaVisionForConditionalGeneration", 4, image(56), vision_config={"image_size": 56}),
    "internvl": _with_picture("InternVLForConditionalGeneration", 4, image(56), vision_config={"image_size": (56, 56)}),
    "qwen2_vl": _with_picture("Qwen2VLForConditionalGeneration", 4, torch.randn(16, 3 * 2 * 14 * 14), [1, 4, 4], text_config=_TURNS),
    "qwen2_5_vl": _with_picture("Qwen2_5_VLForConditionalGeneration", 4, torch.randn(16, 3 * 2 * 14 * 14), [1, 4, 4], text_config=_TURNS),
    "qwen3_vl": _with_picture("Qwen3VLForConditionalGeneration", 4, torch.randn(16, 3 * 2 * 16 * 16), [1, 4, 4]),
    "idefics3": _with_picture("Idefics3ForConditionalGeneration", 1, image(64)[None], vision_config={"image_size": 64}),
    "blip2": _with_picture("Blip2ForConditionalGeneration", 32, image(56), vision_config={"image_size": 56}),
    "florence2": _with_picture("Florence2ForConditionalGeneration", 5, image(64)),
    "lxmert": lambda: (
        from_config("LxmertModel"),
        (),
        {"input_ids": tokens(1), "visual_feats": torch.randn(1, 4, 2048), "visual_pos": torch.rand(1, 4, 4)},
    ),
    "grounding_dino": lambda: (
        from_config("GroundingDinoForObjectDetection", num_queries=20),
        (),
        {"input_ids": tokens(1), "pixel_values": image()},
    ),
}
