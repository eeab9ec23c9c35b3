"""Four documents in two packed rows, tiny models of each family, and what both give: for tests."""

import torch
from torch.nn.utils import parameters_to_vector

from batchlab import loop

DOCUMENTS = [[5, 9, 3, 7, 2], [8, 1, 4], [6, 2, 9, 9, 1, 3, 5], [4, 4]]
ROWS = [[0, 1], [2, 3]]
ROW_LENGTH = 12
SIZES = {"vocab_size": 16, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}


def tiny(family):
    import transformers

    if family == "gpt2":
        config = transformers.GPT2Config(
            vocab_size=16, n_embd=32, n_layer=2, n_head=4, n_positions=64,
            resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
        )  # fmt: skip
    else:
        more = {"intermediate_size": 64, "num_key_value_heads": 2}
        kind = {"llama": "Llama", "qwen2": "Qwen2", "qwen3": "Qwen3", "mistral": "Mistral"}[family]
        config = getattr(transformers, f"{kind}Config")(**SIZES, **more)
        if family == "mistral":
            config.sliding_window = None
        if family == "qwen3":
            config.head_dim = 16
    config.bos_token_id = config.eos_token_id = None
    torch.manual_seed(0)
    config._attn_implementation = "sdpa"
    return transformers.AutoModelForCausalLM.from_config(config).eval()


def loss_and_gradient(model, micro_batches):
    model.zero_grad()
    loss = sum(
        loop.summed_loss(loop.logits_of(model, batch), batch["labels"]) for batch in micro_batches
    )
    loss.backward()
    return loss.detach(), parameters_to_vector([p.grad for p in model.parameters()]).clone()


def each_alone(logits):
    """(document, its logits) of the packed rows above."""
    for row, numbers in enumerate(ROWS):
        start = 0
        for number in numbers:
            yield number, logits[row, start : start + len(DOCUMENTS[number])]
            start += len(DOCUMENTS[number])
