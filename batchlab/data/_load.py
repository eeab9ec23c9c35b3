"""Documents from the embedded corpus, from files, from `datasets`, or from a hub.

    nothing, a path, a datasets object or a hub name  ->  Corpus

Files are .jsonl, .json, .csv, .parquet and .txt (one document a paragraph), or a folder of them.
A document is one text, a prompt with its answer (the prompt is not trained), or token ids.
"""

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from batchlab.data._corpus import Corpus, embedded, from_pieces

__all__ = ["Corpus", "embedded", "load", "records_of", "require_vocabulary", "tokenizer_from"]

CHUNK = 1024  # texts that are tokenized in one call
SUFFIXES = (".jsonl", ".json", ".csv", ".parquet", ".txt")
Row = Mapping[str, Any]


def load(
    source: Any = None,
    *,
    field: str | None = None,
    prompt_field: str | None = None,
    answer_field: str | None = None,
    tokenizer: Any = None,
    limit: int | None = None,
    split: str = "train",
) -> Corpus:
    """Read documents and turn them into tokens; without a source, the embedded corpus.

    field                      the text, or token ids (default: input_ids, else text)
    prompt_field, answer_field a prompt whose labels are ignored, and what is trained
    tokenizer                  a tokenizers or transformers object, a folder or a hub name; the
                               embedded one if none is given
    limit                      read only the first documents
    """
    if source is None:
        corpus = embedded()
        return corpus if limit is None else corpus[:limit]
    if (prompt_field is None) != (answer_field is None):
        raise ValueError("prompt_field and answer_field go together: give both or neither")
    name, rows = records_of(source, split=split)
    encode, vocabulary, chosen = _encoder(tokenizer)
    pairs = (
        _prompt_and_answer(row, f"{name}, document {number}", field, prompt_field, answer_field)
        for number, row in enumerate(_watched(itertools.islice(rows, limit), name))
    )
    prompts: list[list[int]] = []
    answers: list[list[int]] = []
    while chunk := list(itertools.islice(pairs, CHUNK)):
        prompts += _encoded([prompt for prompt, _ in chunk], encode)
        answers += _encoded([answer for _, answer in chunk], encode)
    if not answers:
        raise ValueError(f"{name}: no documents in it")
    highest = max(max(tokens, default=0) for part in (prompts, answers) for tokens in part)
    return from_pieces(
        name, prompts, answers, vocabulary=max(vocabulary, highest + 1), tokenizer=chosen
    )


def records_of(source: Any, *, split: str = "train") -> tuple[str, Iterator[Row]]:
    """Name and rows of a file, a folder of shards, a `datasets` object or a hub name."""
    if not isinstance(source, str | Path):
        return type(source).__name__, _rows_of_object(source)
    path = Path(source)
    if path.is_dir():
        if (path / "dataset_info.json").exists() or (path / "dataset_dict.json").exists():
            return path.name, _rows_saved(path, split)
        shards = sorted(p for p in path.iterdir() if p.suffix in SUFFIXES)
        if not shards:
            raise ValueError(f"{path}: no {', '.join(SUFFIXES)} file in this folder")
        return path.name, (row for shard in shards for row in _rows_of_file(shard))
    if path.is_file():
        return path.name, _rows_of_file(path)
    if path.suffix or path.is_absolute() or str(source).startswith("."):
        raise ValueError(f"{path}: no such file or folder")
    return str(source), _rows_of_hub(str(source), split)


def tokenizer_from(tokenizer: Any) -> Any:
    """A tokenizer object from an object, a folder or a hub name."""
    if not isinstance(tokenizer, str | Path):
        return tokenizer
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(str(tokenizer))
    except (OSError, ValueError, KeyError, TypeError) as error:
        first = str(error).strip().splitlines()[0]
        raise ValueError(f"{tokenizer}: not a tokenizer ({first})") from None


def require_vocabulary(corpus: Corpus, model: Any) -> None:
    """Refuse a corpus with token ids that the model has no entry for."""
    entries = model.config.vocab_size
    highest = int(corpus.tokens.max())
    if highest >= entries:
        raise ValueError(
            f"{corpus.name} has token id {highest:,}, the model has {entries:,} entries: "
            "use the tokenizer that belongs to the model"
        )


def _encoder(tokenizer: Any) -> tuple[Any, int, Any]:
    """(texts -> token ids of each, size of the vocabulary, tokenizer)."""
    chosen = embedded().tokenizer if tokenizer is None else tokenizer_from(tokenizer)
    if hasattr(chosen, "token_to_id"):  # tokenizers
        many = chosen.encode_batch
        return lambda texts: [one.ids for one in many(texts)], chosen.get_vocab_size(), chosen

    def encode(texts: list[str]) -> Any:  # token ids, as they are, need no end
        if getattr(chosen, "eos_token_id", None) is None:
            raise ValueError(
                f"tokenizer {getattr(chosen, 'name_or_path', '') or type(chosen).__name__} has no "
                "end-of-sequence token: set tokenizer.eos_token, so that documents can end"
            )
        return chosen(texts)["input_ids"]

    return encode, len(chosen), chosen


def _text(row: Row, field: str, where: str) -> str:
    value = _value(row, field, where)
    if not isinstance(value, str) or not value:
        raise ValueError(
            f"{where}: field {field!r} must be a non-empty text, got "
            f"{type(value).__name__} {value!r:.40}"
        )
    return value


def _prompt_and_answer(
    row: Row, where: str, field: str | None, prompt_field: str | None, answer_field: str | None
) -> tuple[str | list[int], str | list[int]]:
    if prompt_field and answer_field:
        return _text(row, prompt_field, where), _text(row, answer_field, where)
    return [], _text_or_tokens(row, field, where)


def _encoded(items: list[str | list[int]], encode: Any) -> list[list[int]]:
    """Tokens of every item: texts together in one call, token ids as they are."""
    texts = [item for item in items if isinstance(item, str)]
    tokens = iter(encode(texts) if texts else [])
    return [next(tokens) if isinstance(item, str) else item for item in items]


def _text_or_tokens(row: Row, field: str | None, where: str) -> str | list[int]:
    """A text, or token ids as they are."""
    field = field or ("input_ids" if "input_ids" in row else "text")
    value = _value(row, field, where)
    if isinstance(value, str) or value is None:
        return _text(row, field, where)
    try:
        tokens = [int(token) for token in value]
    except (TypeError, ValueError):
        tokens = []
    if not tokens or min(tokens) < 0:
        raise ValueError(
            f"{where}: field {field!r} must be a text or token ids >= 0, got {value!r:.40}"
        )
    return tokens


def _value(row: Row, field: str, where: str) -> Any:
    if field not in row:
        raise ValueError(f"{where}: no field {field!r}; the fields are {', '.join(map(str, row))}")
    return row[field]


def _rows_of_object(source: Any) -> Iterator[Row]:
    if isinstance(source, Mapping):
        raise ValueError(f"a data set with splits was given: choose one of {', '.join(source)}")
    if not isinstance(source, Iterable):
        raise ValueError(f"cannot read documents from {type(source).__name__}")
    for row in source:
        yield row if isinstance(row, Mapping) else {"input_ids": row}


def _rows_saved(path: Path, split: str) -> Iterator[Row]:
    from datasets import load_from_disk

    found = load_from_disk(str(path))
    if isinstance(found, Mapping):
        if split not in found:
            raise ValueError(f"{path}: no split {split!r}; there are {', '.join(found)}")
        found = found[split]
    yield from found


def _rows_of_hub(name: str, split: str) -> Iterator[Row]:
    try:
        from datasets import load_dataset
    except ImportError:
        raise ValueError(
            f"{name}: no such file, and a hub name needs the package datasets"
        ) from None
    try:
        yield from load_dataset(name, split=split)
    except (OSError, ValueError) as error:
        first = str(error).strip().splitlines()[0]
        raise ValueError(f"{name}: neither a file here nor readable from a hub ({first})") from None


def _rows_of_file(path: Path) -> Iterator[Row]:
    """Rows of one file; whatever is broken names this file."""
    try:
        if path.suffix == ".jsonl":
            yield from _rows_of_jsonl(path)
        elif path.suffix == ".json":
            entries = json.loads(path.read_text(encoding="utf-8"))
            if not isinstance(entries, list):
                raise ValueError("a JSON list of objects is needed")
            yield from entries
        elif path.suffix == ".txt":
            parts = path.read_text(encoding="utf-8").split("\n\n")
            yield from ({"text": part.strip()} for part in parts if part.strip())
        elif path.suffix in (".csv", ".parquet"):
            yield from _rows_of_table(path)
        else:
            raise ValueError(f"documents are read from {', '.join(SUFFIXES)}")
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}, line {error.lineno}: not JSON ({error.msg})") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: cannot be read ({error})") from None
    except ValueError as error:
        raise ValueError(str(error) if str(path) in str(error) else f"{path}: {error}") from None


def _rows_of_jsonl(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                try:
                    row = json.loads(line)
                except json.JSONDecodeError as error:
                    raise ValueError(f"{path}, line {number}: not JSON ({error.msg})") from None
                if not isinstance(row, dict):
                    raise ValueError(f"{path}, line {number}: a JSON object is needed")
                yield row


def _rows_of_table(path: Path) -> Iterator[Row]:
    import csv

    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            yield from csv.DictReader(file)
        return
    import pyarrow
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as table:
            for batch in table.iter_batches():
                yield from batch.to_pylist()
    except pyarrow.ArrowInvalid as error:
        raise ValueError(f"{path}: not a Parquet file ({error})") from None


def _watched(rows: Iterator[Row], name: str) -> Iterator[Row]:
    """A progress bar on stderr once reading takes more than a second."""
    try:
        from tqdm import tqdm
    except ImportError:
        return rows
    return iter(tqdm(rows, desc=name, unit=" documents", delay=1.0, leave=False))
