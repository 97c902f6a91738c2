"""A configuration of the package transformers made small: its sizes by the names that they have."""

from collections.abc import Sequence
from typing import Any

HIDDEN, HEADS, LAYERS, WORDS = 64, 4, 2, 512

_SIZES = (
    (HIDDEN, "hidden_size d_model n_embd embedding_size emb_dim decoder_hidden_size encoder_hidden_size text_hidden_size"),
    (HIDDEN, "input_hidden_size out_hidden_size model_dim projection_dim word_embed_proj_dim"),
    (HEADS, "num_attention_heads n_head n_heads num_heads attention_heads encoder_attention_heads decoder_attention_heads"),
    (HEADS, "decoder_num_attention_heads swa_num_attention_heads linear_num_value_heads index_n_heads"),
    (HEADS // 2, "num_key_value_heads swa_num_key_value_heads linear_num_key_heads"),
    (HIDDEN // HEADS, "head_dim d_kv dim_head qk_nope_head_dim qk_rope_head_dim v_head_dim kv_lora_rank q_lora_rank swa_head_dim"),
    (HIDDEN // HEADS, "linear_key_head_dim linear_value_head_dim index_head_dim"),
    (2 * HIDDEN // HEADS, "qk_head_dim"),
    (2 * HIDDEN, "intermediate_size d_ff ffn_dim ffn_hidden_size encoder_ffn_dim decoder_ffn_dim mlp_dim dim_feedforward n_inner"),
    (2 * HIDDEN, "decoder_intermediate_size"),
    (HIDDEN // 2, "moe_intermediate_size shared_expert_intermediate_size expert_ffn_hidden_size"),
    (LAYERS, "num_hidden_layers n_layer n_layers num_layers encoder_layers decoder_layers num_decoder_layers num_encoder_layers depth"),
    (LAYERS, "decoder_num_hidden_layers decoder_num_layers"),
    (WORDS, "vocab_size"),
    (4, "num_experts num_local_experts n_routed_experts moe_num_experts"),
    (2, "num_experts_per_tok num_experts_per_token"),
    (1, "n_group topk_group first_k_dense_replace"),
    (WORDS, "max_position_embeddings n_positions max_source_positions max_target_positions"),
)
SMALL = {name: size for size, names in _SIZES for name in names.split()}
_COUNTS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers", "depth")
_KINDS = ("layer_types", "layers_block_type", "block_types")


def shrink(config: Any, **sizes: Any) -> Any:
    """The same configuration, small, its parts too.

    Of layers of several kinds one of each is left, and lists with an entry a layer are cut with them; identifiers of special
    tokens are moved into the small vocabulary, axes of rotary embeddings scaled to the small heads.

    Args:
        config: a configuration, changed in place.
        sizes: what this configuration needs otherwise, by name; a dict for one of its parts.
    """
    held = vars(config)
    stages = held.get("depths")  # of a pyramid: their number is no number of layers
    before = 0 if stages else next((held[name] for name in _COUNTS if isinstance(held.get(name), int)), 0)
    kept = _layers_kept(next((held[name] for name in _KINDS if isinstance(held.get(name), (list, tuple))), [""] * before))
    one_head_each = held.get("num_key_value_heads", 0) == held.get("num_attention_heads")
    for name, value in list(held.items()):
        if hasattr(value, "to_dict"):
            shrink(value)
        elif isinstance(value, int) and not isinstance(value, bool) and not (stages and name in _COUNTS):
            setattr(config, name, _small(name, value, len(kept)))
        elif isinstance(value, (list, tuple)) and before > LAYERS and len(value) == before:
            setattr(config, name, type(value)(value[layer] for layer in kept))
        elif name == "depths":
            setattr(config, name, type(value)(min(depth, 2) for depth in value))
    if one_head_each:
        config.num_key_value_heads = config.num_attention_heads
    for name, size in sizes.items():
        part = getattr(config, name, None)
        if isinstance(size, dict) and hasattr(part, "to_dict"):
            shrink(part, **size)
        else:
            setattr(config, name, size)
    _turn_less(config)
    return config


def _layers_kept(kinds: Sequence[Any]) -> list[int]:
    """The first layer of each kind, and at least LAYERS of them where there are so many."""
    first = [index for index, kind in enumerate(kinds) if kind not in kinds[:index]]
    others = [index for index in range(len(kinds)) if index not in first]
    return sorted([*first, *others[: max(0, LAYERS - len(first))]])


def _small(name: str, value: int, layers: int) -> int:
    if name.endswith(("token_id", "token_index")):
        return value if 0 <= value < WORDS else WORDS - 1 - value % 97
    if name in _COUNTS:
        return min(value, max(LAYERS, layers))
    return min(value, SMALL.get(name, value))


def _turn_less(config: Any) -> None:
    """Rotary embeddings whose axes share a head: the shares add up to half of the small head."""
    for name in ("rope_parameters", "rope_scaling"):
        rope = getattr(config, name, None)
        for parameters in (rope, *rope.values()) if isinstance(rope, dict) else ():
            shares = parameters.get("mrope_section") if isinstance(parameters, dict) else None
            if shares:
                half = (getattr(config, "head_dim", None) or HIDDEN // HEADS) // 2
                small = [max(1, share * half // sum(shares)) for share in shares]
                parameters["mrope_section"] = [half - sum(small[1:]), *small[1:]]
