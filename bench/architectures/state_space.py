"""Models that carry a state along the sequence, alone or among layers of attention."""

from architectures.building import Builder, of_tokens

_MAMBA = {"mamba_n_heads": 8, "mamba_d_head": 16, "mamba_d_state": 16, "mamba_chunk_size": 8}
_ZAMBA = {"n_mamba_heads": 8, "mamba_headdim": 16, "attention_head_dim": 32, "attention_hidden_size": 128, "hybrid_layer_ids": [1]}

STATE_SPACE: dict[str, Builder] = {
    "mamba": of_tokens("MambaForCausalLM"),
    "mamba2": of_tokens("Mamba2ForCausalLM", num_heads=8, n_groups=2, chunk_size=8),
    "falcon_mamba": of_tokens("FalconMambaForCausalLM"),
    "jamba": of_tokens("JambaForCausalLM", attn_layer_period=2, attn_layer_offset=1),
    "bamba": of_tokens("BambaForCausalLM", attn_layer_indices=[1], **_MAMBA),
    "zamba2": of_tokens("Zamba2ForCausalLM", chunk_size=8, **_ZAMBA),
    "rwkv": of_tokens("RwkvForCausalLM", attention_hidden_size=64),
    "recurrent_gemma": of_tokens("RecurrentGemmaForCausalLM", num_hidden_layers=3, lru_width=64),
    "xlstm": of_tokens("xLSTMForCausalLM", embedding_dim=64, num_blocks=2, chunk_size=16, qk_dim_factor=1.0),
    "falcon_h1": of_tokens("FalconH1ForCausalLM", mamba_chunk_size=8),
    "qwen3_next": of_tokens("Qwen3NextForCausalLM"),
    "nemotron_h": of_tokens("NemotronHForCausalLM"),
    "granitemoehybrid": of_tokens("GraniteMoeHybridForCausalLM", layer_types=["linear_attention", "full_attention"], **_MAMBA),
    "lfm2": of_tokens("Lfm2ForCausalLM"),
}
