"""The model of a run, and what is left of it for others: a folder that transformers loads.

settings, documents  ->  model in its form, optimizer;  a trained model  ->  RUN/model
"""

import contextlib
import hashlib
import json
import secrets
import shutil
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict

from batchlab import data, units
from batchlab import model as models
from batchlab.cluster._own import note
from batchlab.cluster._pointer import OWN, changed, cleared, seen, strangers
from batchlab.cluster.training import Settings

__all__ = ["MODEL", "fingerprint", "made", "read", "tokenizer_of", "write_folder"]

MODEL = "model"  # the folder
FAST = "PreTrainedTokenizerFast"  # what transformers makes of a bare tokenizer


def tokenizer_of(settings: Settings) -> str | None:
    """Where the tokenizer of the model is; documents of another one are refused."""
    found = models.tokenizer_name(settings.model)
    if found and not settings.documents:
        raise ValueError(
            f"{settings.model} has a tokenizer of its own, and the embedded documents are words of "
            "another: give --data"
        )
    return found


def fingerprint(corpus: data.Corpus) -> str:
    """A short name of what is read: the tokens, and what each entry of the vocabulary stands for.

    An entry or a merge that these documents do not use changes no step, but the trained model.
    """
    told: list[Any] = [corpus.fingerprint]
    if (one := corpus.tokenizer) is not None:
        bare = getattr(one, "backend_tokenizer", one)  # a slow one has none, and no merges to tell
        inside = json.loads(bare.to_str())["model"] if hasattr(bare, "to_str") else {}
        told += [sorted(one.get_vocab().items()), inside.get("merges")]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]


LONG = {"drop": "left out", "split": "split", "truncate": "truncated", "refuse": "refused"}


def read(corpus: data.Corpus, settings: Settings) -> str:
    """What was read, in a line; a ValueError where no document would be left."""
    sizes = corpus.lengths
    long = int((sizes > settings.length).sum())
    told = f"{units.several(len(sizes), 'document')} of {corpus.name}, "
    told += units.several(int(sizes.sum()), "token")
    if not long:
        return told
    told += f"; {long:,} longer than a row of {settings.length:,}"
    cure = "a larger --length, or --too-long split"
    if settings.too_long == "drop" and long == len(sizes):
        raise ValueError(f"{told}, so that none is left: {cure}")
    return f"{told}: {LONG[settings.too_long]}" + (
        f" ({cure} keeps them)" if settings.too_long == "drop" and settings.documents else ""
    )


def made(
    settings: Settings, corpus: data.Corpus, device: str
) -> tuple[nn.Module, torch.optim.Optimizer]:
    """The model in its form, the same on every process, and AdamW of what is trained."""
    if (adapter := Path(settings.model or "") / "adapter_config.json").is_file():
        raise ValueError(
            f"{adapter} lies beside a model: merge the adapter into it, or take the file out"
        )
    if settings.model:
        net = models.load(settings.model, seed=settings.seed)
    else:
        net = models.small(corpus.vocabulary, seed=settings.seed)
    data.require_vocabulary(corpus, net)
    if settings.lora:
        from batchlab.memory import adapters

        torch.manual_seed(settings.seed)  # of the adapters
        net = adapters.lora(net, settings.lora)
    net = net.to(device)
    layers = set(getattr(net, "_no_split_modules", None) or ())
    parts = [one for one in net.modules() if type(one).__name__ in layers]
    if settings.compile:
        for part in parts or [net]:
            part.compile()
    if settings.form == "ddp":
        net = nn.parallel.DistributedDataParallel(net)
    elif settings.form == "fsdp":
        from torch.distributed.fsdp import fully_shard

        for part in [*parts, net]:
            fully_shard(part)
    trained = [one for one in net.parameters() if one.requires_grad]
    return net, torch.optim.AdamW(trained, lr=settings.rate)


def write_folder(
    folder: Path, model: nn.Module, tokenizer: Any, line: dict[str, Any], run: str
) -> None:
    """Leave model and tokenizer where transformers loads them, adapters where peft does.

    Every process calls this. The folder is there whole or not at all, and tells its run and the
    line of the curve behind which it was left: no two trainings have equal ones, to their seconds.
    """
    options = StateDictOptions(full_state_dict=True, cpu_offload=True)
    weights = get_model_state_dict(model, options=options)
    if dist.get_rank():
        return
    part = folder / f"{MODEL}.part"
    shutil.rmtree(part, ignore_errors=True)
    inside: Any = getattr(model, "module", model)
    bare = tokenizer is not None and not hasattr(tokenizer, "save_pretrained")
    if bare:  # the embedded one: its only special token ends a document
        ((end, token),) = tokenizer.get_added_tokens_decoder().items()
        inside.config.eos_token_id = inside.generation_config.eos_token_id = end
    for one in getattr(inside, "peft_config", {}).values():
        if isinstance(one.target_modules, set):  # in another order each time
            one.target_modules = sorted(one.target_modules)
    inside.save_pretrained(part, state_dict=weights)
    if bare:
        tokenizer.save(str(part / "tokenizer.json"))
        words = {"tokenizer_class": FAST, "eos_token": token.content}
        (part / "tokenizer_config.json").write_text(json.dumps(words))
    elif tokenizer is not None:
        tokenizer.save_pretrained(part)
    files = seen(part)
    told = {"steps": line["step"], "run": run, "line": line, "files": files}
    (part / OWN).write_text(json.dumps(told))
    for name in files:  # safetensors hides its file from everybody else
        (part / name).chmod((part / OWN).stat().st_mode)
    old = folder / f"{MODEL}.old_{secrets.token_hex(4)}"
    with contextlib.suppress(FileNotFoundError):
        (folder / MODEL).rename(old)  # away as a whole: some of its files may not be removed
    part.rename(folder / MODEL)
    for left in folder.glob(f"{MODEL}.old_*"):
        if theirs := [*strangers(left), *changed(left)]:
            cleared(left, theirs)
            note(folder, f"{left} keeps {', '.join(theirs)}, which no run wrote")
        elif (left / OWN).exists():
            shutil.rmtree(left, ignore_errors=True)
        elif left == old:
            note(folder, f"{left} keeps what lay in {folder / MODEL}, which no run wrote")
