"""Which documents a verb looks at: the embedded list, a list of lengths, or texts to count.

    --data, --field, --split, --tokenizer  ->  name, lengths

Lengths are read as they are. Only texts load a tokenizer, and with it the heavy libraries.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from batchlab import lengths, reading

__all__ = ["WORDS", "corpus_of", "lengths_of", "model_name"]

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
    fields = field.split(",") if field else None
    if not split and args.data and _may_have_splits(Path(args.data)):
        split = "train"
    how = {"split": split} if split else {}
    return data.load(args.data, field=fields, tokenizer=tokenizer, **how)


def model_name(name: str | None) -> str:
    """A model as records name it: a folder by its own name, however the way there is spelled."""
    if name is None:
        return "small"
    return Path(name).resolve().name if Path(name).exists() else name


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
    suffix = path.suffix.lower()
    if suffix not in {".npy", ".txt", ".json", ".jsonl"}:
        return False
    if suffix == ".npy" or not path.is_file():
        return True
    try:
        if suffix == ".json":
            _, entry = reading.json_of(path)
            return not _is_document(entry[0] if isinstance(entry, list) and entry else entry, field)
        first = _first_line(path)
        if suffix == ".jsonl":
            return not _is_document(reading.parsed(first), field)
    except ValueError:
        return True
    return not first or first.lstrip("+-.")[:1].isdigit() or first.lower() in {"nan", "inf"}


def _first_line(path: Path) -> str:
    """The first line that is neither empty nor a comment."""
    stripped = (line.strip() for _, line in reading.lines_of(path))
    return next((line for line in stripped if line and not line.startswith("#")), "")


def _is_document(entry: Any, field: str | None) -> bool:
    """Whether a row holds a text or messages, and not a length or token ids."""
    if not isinstance(entry, dict):
        return isinstance(entry, str)
    if field and field not in entry:
        return "," in field
    if not field and "length" not in entry and "input_ids" not in entry:
        return any(name in entry for name in ("text", "messages", "prompt"))
    entry = entry[field or ("length" if "length" in entry else "input_ids")]
    return isinstance(entry, str) or (
        isinstance(entry, list) and bool(entry) and isinstance(entry[0], dict)
    )
