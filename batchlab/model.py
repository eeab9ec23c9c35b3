"""A causal language model: a small one made here, or yours from a folder or a hub.

    nothing, a folder or a hub name  ->  model on the CPU

transformers builds the block-diagonal mask of a packed row from positions that restart, for models
with plain causal attention. Other families attend through windows, soft caps or states that run
on across the border of two documents: `require_packable` refuses them and says why.
"""

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from batchlab.reading import require_target

if TYPE_CHECKING:
    import torch

__all__ = [
    "PACKABLE",
    "VARLEN",
    "config_of",
    "fingerprint",
    "has_varlen",
    "load",
    "recomputes",
    "require_packable",
    "set_checkpointing",
    "small",
    "tokenizer_name",
]


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


def small(
    vocabulary: int = 4096,
    *,
    layers: int = 2,
    hidden: int = 128,
    heads: int = 4,
    kv_heads: int | None = None,
    intermediate: int | None = None,
    longest: int = 8192,
    seed: int = 0,
    attention: str = "sdpa",
) -> Any:
    """A Llama with random weights from a fixed seed: float32, on the CPU, no download.

    The global random state is left as it was.
    """
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    if hidden % heads:
        raise ValueError(f"hidden {hidden} does not divide over {heads} heads")
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=hidden,
        intermediate_size=intermediate or 4 * hidden,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=kv_heads or heads,
        max_position_embeddings=longest,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=None,
    )
    config._attn_implementation = attention
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return LlamaForCausalLM(config)


def set_checkpointing(model: Any, on: bool) -> None:
    """Recompute activations in the backward pass, or keep them (transformers 5.x, old and new)."""
    word = "enable" if on else "disable"
    new = getattr(model, f"activation_checkpointing_{word}", None)
    call = new or getattr(model, f"gradient_checkpointing_{word}")
    call({"use_reentrant": False}) if on else call()


def recomputes(model: Any) -> bool:
    """Whether activations of this model are recomputed in the backward pass."""
    names = ("is_activation_checkpointing", "is_gradient_checkpointing")
    name = next((name for name in names if hasattr(type(model), name)), "")
    return bool(getattr(model, name, False))


def fingerprint(model: Any) -> str:
    """Eight hex digits of what a config says: another number of heads is another model.

    Where it came from, its dtype and the version that wrote it do not count.
    """
    told: dict[str, Any] = getattr(getattr(model, "config", None), "to_dict", dict)()
    written = ("transformers_version", "dtype", "torch_dtype", "architectures")
    kept = {k: v for k, v in told.items() if k not in written and not k.startswith("_")}
    text = json.dumps(kept, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def load(
    name_or_path: str | Path | None = None,
    *,
    dtype: "torch.dtype | None" = None,
    attention: str = "sdpa",
    seed: int = 0,
) -> Any:
    """Load a model from a folder or a hub name; without either, make the small one.

    A folder that holds only a config.json gives that architecture with random weights from `seed`,
    which is enough to measure time and memory. Only a hub name may download.
    """
    if name_or_path is None:
        model = small(attention=attention, seed=seed)
        return model if dtype is None else model.to(dtype)
    folder = Path(name_or_path)
    require_target(folder)
    if folder.is_file() and folder.suffix == ".json":
        return _from_config(folder, dtype, attention, seed)
    if folder.is_dir():
        if not (folder / "config.json").exists():
            raise ValueError(f"{folder}: no config.json in this folder, so it holds no model")
        weights = [*folder.glob("*.safetensors"), *folder.glob("pytorch_model*.bin")]
        if not weights:
            return _from_config(folder, dtype, attention, seed)
    elif folder.is_absolute() or str(name_or_path).startswith("."):
        raise ValueError(f"{folder}: no such folder")
    from transformers import AutoModelForCausalLM

    try:
        return AutoModelForCausalLM.from_pretrained(
            str(name_or_path), dtype=dtype or "auto", attn_implementation=attention
        )
    except Exception as error:  # a config of wrong types, weights that are cut
        why = _said(error)
        raise ValueError(f"{name_or_path}: cannot be loaded as a causal LM ({why})") from None


def tokenizer_name(name_or_path: str | Path | None) -> str | None:
    """Where the tokenizer of this model is; None for the small one and a folder without any."""
    if name_or_path is None:
        return None
    folder = Path(name_or_path)
    if folder.is_file():
        folder = folder.parent
    if folder.is_dir():
        return str(folder) if any((folder / one).exists() for one in TOKENIZERS) else None
    missing = folder.is_absolute() or folder.suffix == ".json" or str(name_or_path).startswith(".")
    return None if missing else str(name_or_path)  # `load` says what is missing


TOKENIZERS = ("tokenizer.json", "tokenizer_config.json", "tokenizer.model", "vocab.json")


def _from_config(folder: Path, dtype: Any, attention: str, seed: int) -> Any:
    import torch
    from transformers import AutoModelForCausalLM

    config = config_of(folder)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        try:
            return AutoModelForCausalLM.from_config(
                config, dtype=dtype or torch.float32, attn_implementation=attention
            )
        except Exception as error:  # whatever sizes that fit nothing lead to
            raise ValueError(f"{folder}: no model can be made of it ({_said(error)})") from None


def config_of(name_or_path: str | Path) -> Any:
    """The config of transformers behind a name; what is none is refused in one line."""
    from transformers import AutoConfig

    try:
        return AutoConfig.from_pretrained(str(name_or_path))
    except Exception as error:  # validators of other libraries have errors of their own
        raise ValueError(f"{name_or_path}: not a model config ({_said(error)})") from None


def _said(error: Exception) -> str:
    """The line of an error that says most: the first, or the one that a validator found."""
    lines = [line.strip() for line in str(error).strip().splitlines()] or [type(error).__name__]
    return lines[-1] if "alidation error" in lines[0] else lines[0]


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


def has_varlen(model: Any) -> bool:
    """Whether attention of this model computes pairs inside documents only."""
    implementation = getattr(getattr(model, "config", None), "_attn_implementation", "") or ""
    return implementation == VARLEN or "flash" in implementation
