"""Which model families keep packed documents apart, and why others do not.

    model  ->  nothing, or a ValueError with the reason

transformers builds the block-diagonal mask of a packed row from positions that restart, for models
with plain causal attention. Other families attend through windows, soft caps or states that run
on across the border of two documents.
"""

from typing import Any

__all__ = ["PACKABLE", "VARLEN", "require_packable"]

PACKABLE = ("llama", "qwen2", "qwen3", "mistral", "gpt2")
VARLEN = "batchlab_varlen"  # how transformers knows batchlab.attention

_REASONS = {
    "gemma2": "soft-capped attention over sliding windows",
    "gemma3_text": "sliding windows in most layers",
    "gpt_oss": "sliding windows and attention sinks",
    "phi3": "a sliding window",
    "mamba": "a state that runs on from one document into the next",
    "mamba2": "a state that runs on from one document into the next",
    "bert": "no causal mask",
}


def require_packable(model: Any) -> None:
    """Refuse a model that would mix the documents of a packed row.

    A module of your own may declare `packs_documents = True` once you have tested that it keeps
    documents apart by `position_ids`.
    """
    if getattr(model, "packs_documents", False):
        return
    config = getattr(model, "config", None)
    family = getattr(config, "model_type", None)
    if family is None:
        raise ValueError(
            f"{type(model).__name__} has no config.model_type, so nothing says that it keeps "
            "packed documents apart; set packs_documents = True if it does, or use padded rows"
        )
    if family not in PACKABLE:
        reason = _REASONS.get(family, "not tested here")
        raise ValueError(
            f"packed rows are refused for {family} ({reason}); "
            f"supported are {', '.join(PACKABLE)}: use padded rows"
        )
    window = getattr(config, "sliding_window", None)
    if window and getattr(config, "use_sliding_window", True):
        raise ValueError(
            f"packed rows are refused for {family} with sliding_window={window}: the window is "
            "not tested across documents; set sliding_window=None or use padded rows"
        )
