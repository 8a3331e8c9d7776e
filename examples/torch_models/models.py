# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small forms of models of `transformers` and `diffusers`, with random weights.

They need the extra `models`: `pip install 'pyshardy[jax,torch,models]'`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import diffusers
import torch
import transformers
from transformers import logging

logging.set_verbosity_error()  # about kernels for GPUs

BATCH, LENGTH, VOCABULARY, WIDTH = 8, 16, 64, 32


@dataclass(frozen=True)
class Model:
    """A model, its inputs, and the weights that tensor and expert parallelism shard.

    Attributes:
        make: returns the model.
        inputs: returns the keyword inputs. The first dimension of each but scalars is the batch.
        columns: patterns of the weights whose output dimension is sharded, the first one.
        rows: patterns of the weights whose input dimension is sharded, the second one.
        experts: patterns of the weights whose first dimension is that of experts.
    """

    make: Callable[[], torch.nn.Module]
    inputs: Callable[[], Mapping[str, torch.Tensor]]
    columns: Sequence[str]
    rows: Sequence[str]
    experts: Sequence[str] = field(default=())


def _tokens(length: int = LENGTH) -> torch.Tensor:
    return torch.randint(1, VOCABULARY, (BATCH, length))


def _prompt() -> Mapping[str, torch.Tensor]:
    return {"input_ids": _tokens()}


def _decoder(name: str, **options: Any) -> Model:
    """Return a decoder of the form of Llama."""
    sizes = {
        "vocab_size": VOCABULARY,
        "hidden_size": WIDTH,
        "intermediate_size": 2 * WIDTH,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 8,
        "max_position_embeddings": 2 * LENGTH,
        "use_cache": False,
        "tie_word_embeddings": False,
    }

    def make() -> torch.nn.Module:
        config = getattr(transformers, options.get("config", f"{name}Config"))
        sized = config(**{**sizes, **{k: v for k, v in options.items() if k != "config"}})
        return getattr(transformers, f"{name}ForCausalLM")(sized)

    columns = [f"*.{each}_proj.weight" for each in ("q", "k", "v", "q_b", "kv_b", "gate", "up")]
    rows = ["*.o_proj.weight", "*.down_proj.weight"]
    experts = (
        ["*.experts.gate_up_proj", "*.experts.down_proj"]
        if "num_experts_per_tok" in options
        else []
    )
    return Model(make, _prompt, [*columns, "lm_head.weight"], rows, experts)


_LATENT_ATTENTION = {
    "num_key_value_heads": 4,
    "q_lora_rank": 16,
    "kv_lora_rank": 16,
    "qk_rope_head_dim": 4,
    "qk_nope_head_dim": 8,
    "v_head_dim": 8,
    "head_dim": 4,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "n_shared_experts": 1,
    "moe_intermediate_size": 16,
    "first_k_dense_replace": 1,
    "n_group": 2,
    "topk_group": 1,
}


def _gpt2() -> torch.nn.Module:
    config = transformers.GPT2Config(
        vocab_size=VOCABULARY,
        n_positions=2 * LENGTH,
        n_embd=WIDTH,
        n_layer=2,
        n_head=4,
        use_cache=False,
        bos_token_id=0,
        eos_token_id=0,
    )
    return transformers.GPT2LMHeadModel(config)


def _t5() -> torch.nn.Module:
    config = transformers.T5Config(
        vocab_size=VOCABULARY,
        d_model=WIDTH,
        d_kv=8,
        d_ff=2 * WIDTH,
        num_layers=2,
        num_heads=4,
        decoder_start_token_id=0,
        use_cache=False,
    )
    return transformers.T5ForConditionalGeneration(config)


_ENCODER = {
    "hidden_size": WIDTH,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 2 * WIDTH,
}


def _bert() -> torch.nn.Module:
    config = transformers.BertConfig(
        vocab_size=VOCABULARY, max_position_embeddings=2 * LENGTH, **_ENCODER
    )
    return transformers.BertForMaskedLM(config)


def _vit() -> torch.nn.Module:
    config = transformers.ViTConfig(image_size=32, patch_size=8, num_labels=8, **_ENCODER)
    return transformers.ViTForImageClassification(config)


def _whisper() -> torch.nn.Module:
    config = transformers.WhisperConfig(
        vocab_size=VOCABULARY,
        num_mel_bins=8,
        d_model=WIDTH,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=2 * WIDTH,
        decoder_ffn_dim=2 * WIDTH,
        max_source_positions=LENGTH,
        max_target_positions=LENGTH,
        use_cache=False,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=1,
    )
    return transformers.WhisperForConditionalGeneration(config)


def _mamba() -> torch.nn.Module:
    config = transformers.MambaConfig(
        vocab_size=VOCABULARY,
        hidden_size=WIDTH,
        state_size=8,
        num_hidden_layers=2,
        use_cache=False,
    )
    return transformers.MambaForCausalLM(config)


def _unet() -> torch.nn.Module:
    return diffusers.UNet2DConditionModel(
        sample_size=8,
        block_out_channels=(32, 64),
        layers_per_block=1,
        cross_attention_dim=16,
        down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
        up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
        norm_num_groups=8,
        attention_head_dim=4,
    )


def _vae() -> torch.nn.Module:
    return diffusers.AutoencoderKL(
        block_out_channels=(16, 32),
        down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2,
        latent_channels=4,
        norm_num_groups=8,
        sample_size=16,
    )


def _dit() -> torch.nn.Module:
    return diffusers.DiTTransformer2DModel(
        num_attention_heads=4,
        attention_head_dim=8,
        in_channels=4,
        out_channels=8,
        num_layers=2,
        sample_size=8,
        patch_size=2,
        num_embeds_ada_norm=16,
        norm_num_groups=8,
    )


_DIFFUSER_COLUMNS = ("*.to_q.weight", "*.to_k.weight", "*.to_v.weight", "*.ff.net.0.proj.weight")
_DIFFUSER_ROWS = ("*.to_out.0.weight", "*.ff.net.2.weight")

MODELS: Mapping[str, Model] = {
    "Llama": _decoder("Llama"),
    "Qwen 3": _decoder("Qwen3"),
    "Qwen 3 MoE": _decoder(
        "Qwen3Moe", num_experts=4, num_experts_per_tok=2, moe_intermediate_size=16
    ),
    "GPT-2": Model(
        _gpt2,
        _prompt,
        # Its weights are transposed.
        ["*.attn.c_proj.weight", "*.mlp.c_proj.weight"],
        ["*.attn.c_attn.weight", "*.mlp.c_fc.weight"],
    ),
    "Mixtral": _decoder("Mixtral", num_local_experts=4, num_experts_per_tok=2),
    "DeepSeek V2": _decoder("DeepseekV2", **_LATENT_ATTENTION),
    "DeepSeek V3": _decoder("DeepseekV3", **_LATENT_ATTENTION),
    "Gemma 2": _decoder("Gemma2", sliding_window=8),
    "Gemma 3": _decoder("Gemma3", config="Gemma3TextConfig", sliding_window=8),
    "T5": Model(
        _t5,
        lambda: {"input_ids": _tokens(), "decoder_input_ids": _tokens(8)},
        ["*Attention.q.weight", "*Attention.k.weight", "*Attention.v.weight", "*.wi.weight"],
        ["*Attention.o.weight", "*.wo.weight"],
    ),
    "BERT": Model(
        _bert,
        lambda: {**_prompt(), "attention_mask": torch.ones(BATCH, LENGTH, dtype=torch.long)},
        ["*.query.weight", "*.key.weight", "*.value.weight", "*.intermediate.dense.weight"],
        ["*.output.dense.weight"],
    ),
    "ViT": Model(
        _vit,
        lambda: {"pixel_values": torch.randn(BATCH, 3, 32, 32)},
        ["*.q_proj.weight", "*.k_proj.weight", "*.v_proj.weight", "*.fc1.weight"],
        ["*.o_proj.weight", "*.fc2.weight"],
    ),
    "Whisper": Model(
        _whisper,
        lambda: {
            "input_features": torch.randn(BATCH, 8, 2 * LENGTH),
            "decoder_input_ids": _tokens(8),
        },
        ["*.q_proj.weight", "*.k_proj.weight", "*.v_proj.weight", "*.fc1.weight"],
        ["*.out_proj.weight", "*.fc2.weight"],
    ),
    "Mamba": Model(
        _mamba,
        _prompt,
        ["*.in_proj.weight", "*.conv1d.weight", "*.dt_proj.weight", "*.A_log"],
        ["*.x_proj.weight", "*.out_proj.weight"],
    ),
    "UNet of Stable Diffusion": Model(
        _unet,
        lambda: {
            "sample": torch.randn(BATCH, 4, 8, 8),
            "timestep": torch.tensor(10),
            "encoder_hidden_states": torch.randn(BATCH, 6, 16),
        },
        [*_DIFFUSER_COLUMNS, "*.resnets.*.conv1.weight", "*.time_emb_proj.weight"],
        [*_DIFFUSER_ROWS, "*.resnets.*.conv2.weight"],
    ),
    "VAE of Stable Diffusion": Model(
        _vae,
        lambda: {"sample": torch.randn(BATCH, 3, 16, 16)},
        ["*.to_q.weight", "*.to_k.weight", "*.to_v.weight", "*.resnets.*.conv1.weight"],
        ["*.to_out.0.weight", "*.resnets.*.conv2.weight"],
    ),
    "DiT": Model(
        _dit,
        lambda: {
            "hidden_states": torch.randn(BATCH, 4, 8, 8),
            "timestep": torch.randint(100, (BATCH,)),
            "class_labels": torch.randint(16, (BATCH,)),
        },
        _DIFFUSER_COLUMNS,
        _DIFFUSER_ROWS,
    ),
}
"""The models by name."""
