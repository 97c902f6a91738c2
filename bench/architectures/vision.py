"""Models that look at pictures and films."""

from architectures.building import Builder, from_config, image, of_any_image, of_image

_PROMPTS = {
    "prompt_encoder_config": {"image_size": 64, "image_embedding_size": 4, "hidden_size": 256},
    "mask_decoder_config": {"hidden_size": 256},
}

VISION: dict[str, Builder] = {
    "vit": of_image("ViTForImageClassification"),
    "deit": of_image("DeiTForImageClassification"),
    "beit": of_image("BeitForImageClassification"),
    "dinov2": of_image("Dinov2ForImageClassification", patch_size=16),
    "dinov3": of_image("DINOv3ViTModel"),
    "swin": of_image("SwinForImageClassification", size=224),
    "swinv2": of_image("Swinv2ForImageClassification"),
    "swin2sr": of_image("Swin2SRForImageSuperResolution"),
    "hiera": of_any_image("HieraForImageClassification", size=224),
    "pvt_v2": of_any_image("PvtV2ForImageClassification"),
    "levit": of_image("LevitForImageClassification", size=224),
    "cvt": of_any_image("CvtForImageClassification"),
    "focalnet": of_image("FocalNetForImageClassification"),
    "poolformer": of_any_image("PoolFormerForImageClassification"),
    "mobilevit": of_image("MobileViTForImageClassification"),
    "vit_mae": of_image("ViTMAEForPreTraining"),
    "convnext": of_any_image("ConvNextForImageClassification"),
    "convnextv2": of_any_image("ConvNextV2ForImageClassification"),
    "resnet": of_any_image("ResNetForImageClassification"),
    "regnet": of_any_image("RegNetForImageClassification"),
    "efficientnet": of_any_image("EfficientNetForImageClassification", width_coefficient=0.5, depth_coefficient=0.5, hidden_dim=640),
    "mobilenet_v2": of_any_image("MobileNetV2ForImageClassification"),
    "segformer": of_any_image("SegformerForSemanticSegmentation"),
    "upernet": of_any_image("UperNetForSemanticSegmentation"),
    "dpt": of_image("DPTForDepthEstimation", num_hidden_layers=4, backbone_out_indices=[0, 1, 2, 3]),
    "mask2former": of_any_image("Mask2FormerForUniversalSegmentation"),
    "maskformer": of_any_image("MaskFormerForInstanceSegmentation"),
    "detr": of_any_image("DetrForObjectDetection", given={"use_timm_backbone": False}),
    "deformable_detr": of_any_image("DeformableDetrForObjectDetection", given={"use_timm_backbone": False}),
    "rt_detr": of_any_image("RTDetrForObjectDetection", num_queries=20),
    "yolos": of_any_image("YolosForObjectDetection", image_size=[64, 64]),
    "sam": of_any_image("SamModel", vision_config={"image_size": 64, "output_channels": 256}, **_PROMPTS),
    "videomae": lambda: (from_config("VideoMAEForVideoClassification", image_size=64), (), {"pixel_values": image(rows=16)[None]}),
    "timesformer": lambda: (from_config("TimesformerForVideoClassification", image_size=64), (), {"pixel_values": image(rows=8)[None]}),
    "superpoint": of_any_image("SuperPointForKeypointDetection"),
}
