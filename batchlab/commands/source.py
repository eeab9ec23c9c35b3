"""Which documents a verb looks at: the embedded list, a list of lengths, or texts to count.

    --data, --field, --split, --document, --tokenizer  ->  name, lengths

Lengths are read as they are. Only texts load a tokenizer, and with it the heavy libraries.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from batchlab import lengths, reading
from batchlab.data_files import UNITS

__all__ = ["add", "lengths_of"]

LISTS = {
    "embedded": ("standard library", lengths.embedded),
    "gsm8k": ("GSM8K training problems", lengths.gsm8k),
}


def add(parser: argparse.ArgumentParser) -> None:
    """Offer the data: a file in first place or after --data, its field, a tokenizer."""
    parser.add_argument(
        "file",
        nargs="?",
        metavar="DATA",
        help="lengths or documents: .npy .txt .json .jsonl .csv .parquet, a folder, a hub name, "
        "or gsm8k (default: the embedded list)",
    )
    parser.add_argument("--data", metavar="DATA", help="the same, as an option")
    parser.add_argument(
        "--field",
        metavar="A[,B...]",
        help="which field holds the length, the token ids, the text or the messages; several "
        "are joined",
    )
    parser.add_argument(
        "--split", metavar="NAME", help="which split of a data set that has several"
    )
    parser.add_argument(
        "--document", choices=UNITS, help="what a document of a .txt is (default: a paragraph)"
    )
    parser.add_argument("--tokenizer", metavar="NAME", help="folder or hub name that counts texts")
    parser.add_argument("--model", metavar="NAME", help="count texts with this model's tokenizer")


def lengths_of(args: argparse.Namespace) -> tuple[str, np.ndarray]:
    """Name and lengths of what the words ask for."""
    first, field, tokenizer, split, document = (
        getattr(args, name, None) for name in ("file", "field", "tokenizer", "split", "document")
    )
    tokenizer = tokenizer or getattr(args, "model", None)
    if first and args.data:
        raise ValueError(f"two data sets were given: {first} and {args.data}; choose one")
    chosen = first or args.data or "embedded"
    if chosen in LISTS and not Path(chosen).exists():
        if field or tokenizer or split or document:
            raise ValueError(f"--field and --tokenizer go with your own documents, not {chosen}")
        return LISTS[chosen][0], LISTS[chosen][1]()
    try:
        if not (tokenizer or split or document) and _holds_lengths(Path(chosen), field):
            return Path(chosen).name, lengths.read(chosen, field=field)
        return _counted(chosen, field, tokenizer, split, document)
    except ValueError as error:
        if field or "the fields are" not in str(error):
            raise
        has_option = hasattr(args, "field")
        choose = "choose one with --field" if has_option else "this verb reads no other field"
        raise ValueError(f"{error}; {choose}") from None


def _counted(
    chosen: str,
    field: str | None,
    tokenizer: str | None,
    split: str | None,
    document: str | None,
) -> tuple[str, np.ndarray]:
    """Name and lengths of documents, and by which tokenizer they were counted."""
    from batchlab import data

    fields = field.split(",") if field else None
    corpus = data.load(chosen, field=fields, tokenizer=tokenizer, split=split, document=document)
    if corpus.tokenizer is None:
        return corpus.name, lengths.checked(corpus.lengths)
    counted = f"tokens of {tokenizer}" if tokenizer else "tokens of the embedded tokenizer"
    return f"{corpus.name} ({counted})", lengths.checked(corpus.lengths)


def _holds_lengths(path: Path, field: str | None) -> bool:
    """Whether a file lists lengths or token ids; what cannot be told is left to its reader."""
    if path.suffix not in {".npy", ".txt", ".json", ".jsonl"}:
        return False
    if path.suffix == ".npy" or not path.is_file():
        return True
    try:
        if path.suffix == ".json":
            _, entry = reading.json_of(path)
            return not _is_document(entry[0] if isinstance(entry, list) and entry else entry, field)
        first = _first_line(path)
        if path.suffix == ".jsonl":
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
