"""Models that send each word to a few of many experts."""

from architectures.building import Builder, of_pairs, of_tokens

MIXTURE_OF_EXPERTS: dict[str, Builder] = {
    "mixtral": of_tokens("MixtralForCausalLM"),
    "qwen2_moe": of_tokens("Qwen2MoeForCausalLM"),
    "qwen3_moe": of_tokens("Qwen3MoeForCausalLM"),
    "deepseek_v2": of_tokens("DeepseekV2ForCausalLM", num_experts_per_tok=2),
    "deepseek_v3": of_tokens("DeepseekV3ForCausalLM"),
    "olmoe": of_tokens("OlmoeForCausalLM"),
    "granitemoe": of_tokens("GraniteMoeForCausalLM"),
    "phimoe": of_tokens("PhimoeForCausalLM"),
    "gpt_oss": of_tokens("GptOssForCausalLM"),
    "jetmoe": of_tokens("JetMoeForCausalLM"),
    "llama4": of_tokens("Llama4ForCausalLM"),
    "glm4_moe": of_tokens("Glm4MoeForCausalLM"),
    "minimax": of_tokens("MiniMaxForCausalLM"),
    "ernie4_5_moe": of_tokens("Ernie4_5_MoeForCausalLM", moe_k=2),
    "switch_transformers": of_pairs("SwitchTransformersForConditionalGeneration"),
    "nllb_moe": of_pairs("NllbMoeForConditionalGeneration"),
}
