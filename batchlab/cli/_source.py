"""Which documents a verb looks at: the embedded list, a list of lengths, or texts to count.

    --data, --field, --split, --tokenizer  ->  name, lengths

Lengths are read as they are. Only texts load a tokenizer, and with it the heavy libraries.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from batchlab import lengths

__all__ = ["WORDS", "corpus_of", "lengths_of"]

WORDS = ("data", "field", "split", "tokenizer")

LISTS = {
    "embedded": ("standard library", lengths.embedded),
    "gsm8k": ("GSM8K training problems", lengths.gsm8k),
}


def corpus_of(args: argparse.Namespace) -> Any:
    """The documents themselves, as tokens of the model or of the tokenizer that was asked for."""
    from batchlab import data, model

    chosen = getattr(args, "tokenizer", None)
    tokenizer = chosen or model.tokenizer_name(getattr(args, "model", None))
    field, split = getattr(args, "field", None), getattr(args, "split", None)
    if not split and args.data and _may_have_splits(Path(args.data)):
        split = "train"
    how = {"split": split} if split else {}
    return data.load(args.data, field=field, tokenizer=tokenizer, **how)


def lengths_of(args: argparse.Namespace) -> tuple[str, np.ndarray]:
    """Name and lengths of what the words ask for."""
    field, split, tokenizer = (getattr(args, name, None) for name in WORDS[1:])
    chosen = args.data or "embedded"
    if chosen in LISTS and not Path(chosen).exists():
        for word in WORDS[1:]:
            if getattr(args, word, None):
                raise ValueError(f"--{word} goes with your own documents, not {chosen}")
        return LISTS[chosen][0], LISTS[chosen][1]()
    if not tokenizer and _holds_lengths(Path(chosen), field):
        if split:
            raise ValueError(f"--split {split}: {chosen} is one list, without splits")
        return Path(chosen).name, _read(chosen, field, hint=hasattr(args, "field"))
    corpus = corpus_of(args)
    if corpus.tokenizer is None:
        return corpus.name, lengths.checked(corpus.lengths)
    counted = f"tokens of {tokenizer}" if tokenizer else "tokens of the embedded tokenizer"
    return f"{corpus.name} ({counted})", lengths.checked(corpus.lengths)


def _may_have_splits(path: Path) -> bool:
    """A hub name, or a folder that `datasets` saved with its splits."""
    return not path.exists() or (path / "dataset_dict.json").exists()


def _read(path: str, field: str | None, *, hint: bool) -> np.ndarray:
    try:
        return lengths.read(path, field=field)
    except ValueError as error:
        if field or "the fields are" not in str(error):
            raise
        choose = "choose one with --field" if hint else "this verb reads no other field"
        raise ValueError(f"{error}; {choose}") from None


def _holds_lengths(path: Path, field: str | None) -> bool:
    """Whether a file lists lengths or token ids; what cannot be told is left to its reader."""
    if path.suffix not in {".npy", ".txt", ".json", ".jsonl"}:
        return False
    if path.suffix == ".npy" or not path.is_file():
        return True
    first = _first_line(path)
    if path.suffix == ".txt":
        return not first or first.lstrip("+-.")[:1].isdigit() or first.lower() in {"nan", "inf"}
    try:
        entry = json.loads(first if path.suffix == ".jsonl" else path.read_text(encoding="utf-8"))
    except ValueError:
        return True
    if path.suffix == ".json" and isinstance(entry, list) and entry:
        entry = entry[0]
    return not _is_text(entry, field)


def _first_line(path: Path) -> str:
    """The first line that is neither empty nor a comment."""
    with path.open(encoding="utf-8", errors="replace") as lines:
        stripped = (line.strip() for line in lines)
        return next((line for line in stripped if line and not line.startswith("#")), "")


def _is_text(entry: Any, field: str | None) -> bool:
    if isinstance(entry, dict):
        known = (name for name in ("length", "input_ids", "text") if name in entry)
        entry = entry.get(field or next(known, ""))
    return isinstance(entry, str)
