"""Predicted against measured peaks on the CPU: families, adapters, optimizers, memory savers.

    python benchmarks/memory_errors.py [--output FILE] [--only WORD]

One line of records a case, written as soon as it is measured; cases that the file holds are not
measured again. The table shows the worst first. `tests/test_memory_errors.py` reads the same cases.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from batchlab import records
from batchlab.memory import adapters, optimizers, trace
from batchlab.model import set_checkpointing

BF16, FP16, FP32 = torch.bfloat16, torch.float16, torch.float32
VOCABULARY = 1024


@dataclass(frozen=True)
class Case:
    """A model and a step; a model that `change` changes is given whole, else its config is."""

    name: str
    family: str = "Llama"
    shape: dict[str, Any] = field(default_factory=dict)
    rows: int = 2
    length: int = 128
    step: dict[str, Any] = field(default_factory=dict)
    dtype: torch.dtype = FP32
    change: Callable[[Any], Any] | None = None
    plain: bool = False  # the shape is the whole config
    batch: Callable[[Any], dict[str, torch.Tensor]] | None = None  # config -> a micro-batch


def peft_model(model, **how):
    import peft

    options = {"r": 8, "target_modules": "all-linear", "task_type": "CAUSAL_LM"} | how
    return peft.get_peft_model(model, peft.LoraConfig(**options))


def lora(checkpointing=False, kind=None, **how):
    def change(model):
        set_checkpointing(model, checkpointing)
        made = peft_model(model, **how)
        return adapters.quantised(made, kind) if kind else made

    return change


def frozen(count):
    """The embedding and the first layers are not trained."""

    def change(model):
        inner = model.get_decoder()
        for module in (model.get_input_embeddings(), *inner.layers[:count]):
            module.requires_grad_(False)
        return model

    return change


def optimizer(name, **step):
    def make(parameters):  # not before it is asked for: an older torch has no Muon
        return optimizers.maker(name, vocabulary=VOCABULARY)(parameters)

    return step | {"make_optimizer": make}


def cases() -> list[Case]:
    tied, deep = {"tie_word_embeddings": True}, {"num_hidden_layers": 12}
    gemma = {"num_hidden_layers": 8, "head_dim": 16, "sliding_window": 32}
    experts = {"num_experts": 4, "num_experts_per_tok": 2}
    mixtral = {"num_local_experts": 4, "sliding_window": None}
    words = {"bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0}
    return [
        Case("llama"),
        Case("llama, tied", shape=tied),
        Case("llama, 12 layers, checkpointing", shape=deep, step={"checkpointing": True}),
        Case("llama, bf16", step={"dtype": BF16}, rows=4),
        Case("llama, bf16 autocast", step={"autocast": BF16}),
        Case("llama, fp16 autocast with a scaler", step={"autocast": FP16}),
        Case("llama, eager attention", step={"attention": "eager"}),
        Case("llama, rows of unequal length", step={"padded": True}),
        Case("llama, 4 micro-batches", step={"accumulation": 4}),
        Case("llama, bf16 summed in fp32",
             step={"dtype": BF16, "accumulate_in": FP32, "accumulation": 2}),
        Case("qwen2, tied", "Qwen2", tied),
        Case("qwen3, bf16", "Qwen3", {"head_dim": 32}, step={"dtype": BF16}),
        Case("mistral", "Mistral", {"sliding_window": None}),
        Case("phi3", "Phi3", words),
        Case("gpt2", "GPT2", {"bos_token_id": 0, "eos_token_id": 0}),
        Case("gemma2, eager", "Gemma2", gemma, step={"attention": "eager"}),
        Case("gemma3, tied, 8 layers", "Gemma3Text", gemma | tied),
        Case("gemma3, 26 layers, bf16", "Gemma3Text", gemma | {"num_hidden_layers": 26},
             step={"dtype": BF16}),
        Case("mixtral", "Mixtral", mixtral),
        Case("qwen3 mixture, bf16", "Qwen3Moe", experts | {"head_dim": 16}, step={"dtype": BF16}),
        Case("olmoe, checkpointing", "Olmoe", experts | words, step={"checkpointing": True}),
        *(Case(f"llama, {name}", rows=1, length=8, step=optimizer(name))
          for name in optimizers.OPTIMIZERS),
        Case("llama, tied, muon, 2 micro-batches", shape=tied,
             step=optimizer("muon", accumulation=2)),
        Case("llama, loss in chunks", length=256, step={"loss_chunk": 64}),
        Case("qwen2, tied, loss in chunks, bf16", "Qwen2", tied, length=256,
             step={"loss_chunk": 100, "dtype": BF16}),
        Case("llama, offload", step={"offload": True}),
        Case("qwen3, offload, bf16", "Qwen3", {"head_dim": 32},
             step={"offload": True, "dtype": BF16}),
        Case("llama, offload, checkpointing", shape=deep,
             step={"offload": True, "checkpointing": True}),
        Case("llama, LoRA", change=lora()),
        Case("llama, LoRA, bf16", change=lora(), dtype=BF16),
        Case("llama, LoRA, 2 micro-batches", change=lora(), step={"accumulation": 2}),
        Case("llama, LoRA on q and v", change=lora(target_modules=["q_proj", "v_proj"])),
        Case("llama, LoRA with dropout", change=lora(lora_dropout=0.1)),
        Case("llama, DoRA", change=lora(use_dora=True)),
        Case("llama, LoRA, 12 layers, checkpointing", shape=deep, change=lora(True), dtype=BF16),
        Case("gemma3, LoRA", "Gemma3Text", gemma, change=lora(), dtype=BF16),
        Case("mixtral, LoRA on attention", "Mixtral", mixtral, change=lora()),
        Case("qwen2, LoRA, loss in chunks, offload", "Qwen2", tied, length=256, change=lora(),
             dtype=BF16, step={"loss_chunk": 64, "offload": True}),
        Case("llama, LoRA over nf4", change=lora(kind="nf4"), dtype=BF16),
        Case("llama, LoRA over nf4-double, checkpointing", shape=deep,
             change=lora(True, kind="nf4-double"), dtype=BF16),
        Case("llama, LoRA over nf4, 8-bit AdamW", change=lora(kind="nf4"), dtype=BF16,
             step=optimizer("adamw8bit")),
        Case("llama, lower layers frozen", shape={"num_hidden_layers": 6}, change=frozen(3)),
        Case("qwen3, embedding frozen, bf16", "Qwen3", {"head_dim": 32}, change=frozen(0),
             dtype=BF16),
    ]  # fmt: skip


def irregular() -> list[Case]:
    """Layers that differ by a rule or a list: dense ones below a mixture, hybrids, windows."""
    experts = {"n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 48,
               "n_group": 1, "topk_group": 1}  # fmt: skip
    latent = experts | {"kv_lora_rank": 16, "q_lora_rank": 24, "qk_nope_head_dim": 16,
                        "qk_rope_head_dim": 8, "v_head_dim": 16,
                        "num_key_value_heads": 4}  # fmt: skip
    qwen = {"num_experts": 4, "num_experts_per_tok": 2, "head_dim": 16, "moe_intermediate_size": 48}
    mamba = {"mamba_n_heads": 8, "mamba_d_head": 16, "mamba_d_state": 16, "mamba_chunk_size": 32}
    ernie = {"moe_num_experts": 4, "moe_k": 2, "moe_intermediate_size": 48,
             "moe_layer_start_index": 1, "moe_layer_end_index": 10}  # fmt: skip
    jamba = {"num_experts": 4, "num_experts_per_tok": 2, "attn_layer_period": 4,
             "attn_layer_offset": 2, "mamba_d_state": 8, "mamba_dt_rank": 8}  # fmt: skip
    linear = {"linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 16,
              "linear_value_head_dim": 16, "shared_expert_intermediate_size": 48}  # fmt: skip
    griffin = {"lru_width": 64, "attention_window_size": 32, "num_key_value_heads": 1}
    blocks = ["hybrid" if layer in (3, 9) else "mamba" for layer in range(12)]
    shared = {"mamba_ngroups": 1, "n_mamba_heads": 8, "mamba_d_state": 16, "chunk_size": 32,
              "hybrid_layer_ids": [3, 9], "num_key_value_heads": 4,
              "layers_block_type": blocks}  # fmt: skip
    found = [
        ("deepseek v2, 4 dense layers", "DeepseekV2", latent | {"first_k_dense_replace": 4}),
        ("deepseek v3, 3 dense layers", "DeepseekV3", latent | {"first_k_dense_replace": 3}),
        ("glm 4 mixture, 1 dense layer", "Glm4Moe",
         experts | {"first_k_dense_replace": 1, "head_dim": 16}),
        ("qwen3 mixture, dense layers listed", "Qwen3Moe", qwen | {"mlp_only_layers": [1, 5]}),
        ("qwen3 mixture, every second", "Qwen3Moe", qwen | {"decoder_sparse_step": 2}),
        ("ernie 4.5 mixture, ends dense", "Ernie4_5_Moe", ernie),
        ("llama 4, every second a mixture", "Llama4Text",
         {"num_local_experts": 4, "intermediate_size_mlp": 128, "interleave_moe_layer_step": 2,
          "head_dim": 16, "attention_chunk_size": 32}),
        ("jamba", "Jamba", jamba | {"num_hidden_layers": 16}),
        ("bamba", "Bamba", mamba | {"attn_layer_indices": [3, 9]}),
        ("granite hybrid", "GraniteMoeHybrid",
         mamba | {"num_local_experts": 0, "num_experts_per_tok": 0, "shared_intermediate_size": 96,
                  "layer_types": (["mamba"] * 3 + ["attention"]) * 3}),
        ("falcon h1", "FalconH1", mamba | {"mamba_d_ssm": 128, "head_dim": 16}),
        ("zamba 2, shared blocks", "Zamba2", shared),
        ("recurrent gemma", "RecurrentGemma", griffin | {"head_dim": 16}),
        ("lfm 2", "Lfm2", {"layer_types": (["conv"] * 2 + ["full_attention"]) * 4}),
        ("qwen3 next", "Qwen3Next", qwen | linear),
        ("minimax, linear attention", "MiniMax",
         {"num_local_experts": 4, "num_experts_per_tok": 2, "head_dim": 16, "block_size": 32,
          "layer_types": (["linear_attention"] * 3 + ["full_attention"]) * 3}),
        ("smollm3, some layers without positions", "SmolLM3", {"pad_token_id": 0}),
    ]  # fmt: skip
    return [
        Case(name, family, {"num_hidden_layers": 12} | shape, length=64)
        for name, family, shape in found
    ]


def others() -> list[Case]:
    """Models that bring their own loss, and those without attention: a step of their own."""
    shape = {"num_key_value_heads": 2, "pad_token_id": 0}
    bert = {"intermediate_size": 192}
    words = {"bos_token_id": 1, "eos_token_id": 2, "cls_token_id": 1, "sep_token_id": 2}
    t5 = {"vocab_size": VOCABULARY, "d_model": 64, "d_ff": 192, "num_layers": 6, "num_heads": 4,
          "d_kv": 16, "decoder_start_token_id": 0}  # fmt: skip
    bart = {"vocab_size": VOCABULARY, "d_model": 64, "encoder_layers": 4, "decoder_layers": 4,
            "encoder_ffn_dim": 192, "decoder_ffn_dim": 192, "encoder_attention_heads": 4,
            "decoder_attention_heads": 4, "max_position_embeddings": 512}  # fmt: skip
    mamba = {"vocab_size": VOCABULARY, "hidden_size": 64, "state_size": 16}
    second = {"num_heads": 8, "head_dim": 16, "n_groups": 1, "chunk_size": 32}

    def named(name: str) -> dict[str, Any]:
        return {"architectures": [name]}

    return [
        Case("bert, classifier", "Bert", bert | named("BertForSequenceClassification")),
        Case("bert, gaps filled", "Bert", bert | named("BertForMaskedLM"), rows=4),
        Case("bert, one class a token", "Bert", bert | named("BertForTokenClassification")),
        Case("llama, classifier, bf16", "Llama", shape | named("LlamaForSequenceClassification"),
             step={"dtype": BF16}),
        Case("modernbert, gaps filled", "ModernBert",
             {"pad_token_id": 0} | words | named("ModernBertForMaskedLM")),
        Case("t5", "T5", t5, plain=True),
        Case("t5, 2 micro-batches", "T5", t5, plain=True, step={"accumulation": 2}),
        Case("t5, checkpointing", "T5", t5, plain=True, step={"checkpointing": True}),
        Case("bart, bf16 autocast", "Bart", bart, plain=True, step={"autocast": BF16}),
        Case("mamba, 12 layers", "Mamba", mamba | {"num_hidden_layers": 12}, plain=True, length=32),
        Case("mamba 2", "Mamba2", mamba | second | {"num_hidden_layers": 6}, plain=True, length=64),
        Case("llava, two images", "Llava", seen(), plain=True, batch=images),
    ]  # fmt: skip


def seen() -> dict[str, Any]:
    """A tower of four patches above a small Llama."""
    import transformers

    tower = transformers.CLIPVisionConfig(
        hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        image_size=28, patch_size=14,
    )  # fmt: skip
    text = transformers.LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=64, intermediate_size=192, num_hidden_layers=4,
        num_attention_heads=4, num_key_value_heads=2,
    )  # fmt: skip
    return {"vision_config": tower, "text_config": text, "image_token_index": VOCABULARY - 1}


def images(config: Any) -> dict[str, torch.Tensor]:
    """Two rows, each with an image of four patches at its head."""
    ids = torch.arange(128).view(2, 64) % 900
    ids[:, :4] = config.image_token_index
    return {"input_ids": ids, "labels": ids.clone(), "pixel_values": torch.zeros(2, 3, 28, 28)}


def compared(case: Case) -> trace.Comparison:
    import transformers

    shape = {
        "vocab_size": VOCABULARY, "hidden_size": 64, "intermediate_size": 192,
        "num_hidden_layers": 6, "num_attention_heads": 4, "num_key_value_heads": 2,
        "max_position_embeddings": 512, "tie_word_embeddings": False,
    } | case.shape  # fmt: skip
    shape = case.shape if case.plain else shape
    config = getattr(transformers, f"{case.family}Config")(**shape)
    how = {"rows": case.rows, "length": case.length, **case.step}
    if case.change is None and case.batch is None:
        return trace.compare(config, **how)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        made = transformers.AutoModelForCausalLM
        if case.batch is not None:
            how["batch"] = case.batch(config)
            made = transformers.AutoModelForImageTextToText
        model = made.from_config(config, dtype=case.dtype)
    model = case.change(model) if case.change else model
    return trace.compare(model.train(), **how)


def measured(case: Case) -> dict[str, Any]:
    found = compared(case)
    return {
        "kind": "memory_error",
        "case": case.name,
        "rows": case.rows,
        "length": case.length,
        "predicted_bytes": found.predicted.total_bytes,
        "measured_bytes": found.measured_bytes,
        "error": found.error,
        "phase": found.predicted.phase,
        "traced_layers": list(found.predicted.traced_layers),
        "environment": records.environment(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("memory_errors.jsonl"))
    parser.add_argument("--only", default="", help="cases whose name holds this")
    args = parser.parse_args()
    there = list(records.read(args.output)) if args.output.exists() else []
    done = {one["case"] for one in there}
    for case in [*cases(), *irregular(), *others()]:
        if case.name not in done and args.only in case.name:
            record = measured(case)
            records.append(args.output, record)
            there.append(record)
            print(f"{100 * record['error']:+8.3f} %  {case.name}", flush=True)
    worst = sorted(there, key=lambda one: -abs(one["error"]))
    print(f"\n{len(worst)} cases; predicted / measured - 1, the worst first:")
    for one in worst[:10]:
        print(f"{100 * one['error']:+8.3f} %  {one['measured_bytes']:>12,} bytes  {one['case']}")


if __name__ == "__main__":
    main()
