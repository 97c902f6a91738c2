"""Models that hear and speak."""

import torch

from architectures.building import Builder, from_config, of_tokens, of_wave, tokens

AUDIO: dict[str, Builder] = {
    "wav2vec2": of_wave("Wav2Vec2ForCTC"),
    "wav2vec2_conformer": of_wave("Wav2Vec2ConformerForCTC", vocab_size=32),
    "wav2vec2_bert": lambda: (from_config("Wav2Vec2BertForCTC", vocab_size=32), (), {"input_features": torch.randn(1, 40, 160)}),
    "hubert": of_wave("HubertForCTC"),
    "wavlm": of_wave("WavLMForCTC"),
    "sew": of_wave("SEWForCTC"),
    "sew_d": of_wave("SEWDForCTC"),
    "unispeech": of_wave("UniSpeechForCTC"),
    "data2vec_audio": of_wave("Data2VecAudioForCTC"),
    "ast": lambda: (from_config("ASTForAudioClassification", max_length=64), (), {"input_values": torch.randn(1, 64, 128)}),
    "encodec": lambda: (
        from_config("EncodecModel", hidden_size=32, codebook_dim=32, num_filters=4),
        (),
        {"input_values": torch.randn(1, 1, 4000)},
    ),
    "dac": lambda: (from_config("DacModel"), (), {"input_values": torch.randn(1, 1, 4096)}),
    "mimi": lambda: (
        from_config("MimiModel", upsample_groups=64, num_filters=8, codebook_dim=32, vector_quantization_hidden_dimension=32),
        (),
        {"input_values": torch.randn(1, 1, 4000)},
    ),
    "univnet": lambda: (from_config("UnivNetModel"), (), {"input_features": torch.randn(1, 20, 100)}),
    "hifigan": lambda: (from_config("SpeechT5HifiGan"), (), {"spectrogram": torch.randn(20, 80)}),
    "fastspeech2": lambda: (from_config("FastSpeech2ConformerModel"), (), {"input_ids": tokens(1, words=78)}),
    "vits": of_tokens("VitsModel", rows=1, vocab_size=512),
    "parakeet": lambda: (from_config("ParakeetForCTC"), (), {"input_features": torch.randn(1, 100, 80)}),
}
