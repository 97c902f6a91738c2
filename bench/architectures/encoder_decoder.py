"""Models with a part that reads and a part that writes."""

import torch

from architectures.building import Builder, from_config, of_pairs, tokens

ENCODER_DECODER: dict[str, Builder] = {
    "t5": of_pairs("T5ForConditionalGeneration"),
    "mt5": of_pairs("MT5ForConditionalGeneration"),
    "umt5": of_pairs("UMT5ForConditionalGeneration"),
    "longt5": of_pairs("LongT5ForConditionalGeneration"),
    "bart": of_pairs("BartForConditionalGeneration"),
    "mbart": of_pairs("MBartForConditionalGeneration"),
    "pegasus": of_pairs("PegasusForConditionalGeneration"),
    "pegasus_x": of_pairs("PegasusXForConditionalGeneration"),
    "marian": of_pairs("MarianMTModel"),
    "m2m_100": of_pairs("M2M100ForConditionalGeneration"),
    "blenderbot": of_pairs("BlenderbotForConditionalGeneration"),
    "prophetnet": of_pairs("ProphetNetForConditionalGeneration"),
    "led": of_pairs("LEDForConditionalGeneration", attention_window=[16, 16]),
    "bigbird_pegasus": of_pairs("BigBirdPegasusForConditionalGeneration"),
    "fsmt": of_pairs("FSMTForConditionalGeneration"),
    "t5gemma": of_pairs("T5GemmaForConditionalGeneration", decoder={"cross_attention_hidden_size": 64}),
    "whisper": lambda: (
        from_config("WhisperForConditionalGeneration", max_source_positions=50),
        (),
        {"input_features": torch.randn(1, 80, 100), "decoder_input_ids": tokens(1, 8)},
    ),
    "speech_to_text": lambda: (
        from_config("Speech2TextForConditionalGeneration"),
        (),
        {"input_features": torch.randn(1, 100, 80), "decoder_input_ids": tokens(1, 8)},
    ),
    "pix2struct": lambda: (
        from_config("Pix2StructForConditionalGeneration"),
        (),
        {"flattened_patches": torch.cat([torch.arange(18).view(1, 9, 2), torch.randn(1, 9, 768)], -1), "decoder_input_ids": tokens(1, 8)},
    ),
}
