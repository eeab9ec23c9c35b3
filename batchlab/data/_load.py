"""Documents from the embedded corpus, from files, from `datasets`, or from a hub.

    nothing, a path, a datasets object or a hub name  ->  Corpus

Files are .jsonl (also .gz and .zst), .json, .csv, .parquet and .txt, or a folder of them. A
document is one text, several fields joined, a prompt with its answer (the prompt is not trained), a
conversation, or token ids.
"""

import contextlib
import itertools
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from batchlab.data._columns import BadDocument, Columns
from batchlab.data._corpus import Corpus, embedded
from batchlab.data._documents import Fields, Kind, kind_of, names_of
from batchlab.data._files import FORMS, UNITS, Place, Row, arrow_rows, form_of, rows_of_file, where
from batchlab.data._tokens import Encoder, tokenizer_from
from batchlab.reading import require_target

__all__ = ["Corpus", "embedded", "load", "require_vocabulary", "rows_of", "tokenizer_from"]

CHUNK = 1024  # documents that are tokenized in one call
NAMED = 3  # files of a folder that are not read
NO_DOCUMENTS = re.compile(
    r"(README|LICENSE|NOTICE|CITATION).*|.*\.(index|md|py|ipynb)", re.I
).fullmatch
Rows = Iterator[tuple[Place, Row]]


def load(
    source: Any = None,
    *,
    field: str | Sequence[str] | None = None,
    prompt_field: str | Sequence[str] | None = None,
    answer_field: str | Sequence[str] | None = None,
    answers_only: bool = False,
    tokenizer: Any = None,
    limit: int | None = None,
    split: str | None = None,
    document: str | None = None,
) -> Corpus:
    """Read documents and turn them into tokens; without a source, the embedded corpus.

    field         the text, token ids or messages; several are joined by an empty line. By default
                  the first that is there of input_ids, messages, prompt with completion, text
    prompt_field, answer_field
                  what is given (its labels are ignored) and what is trained, joined as they are
    answers_only  of messages, train only what the assistant says (by default all, as TRL does)
    tokenizer     a tokenizers or transformers object, a folder or a hub name; messages go through
                  its chat template. The embedded one if none is given and texts need one
    limit         read only the first documents
    split         which split of a data set that has several
    document      what a document of a .txt file is: "file" (the default in a folder), "line" or
                  "paragraph" (the default of one file)

    Token ids keep what their `labels` ignore. What cannot be read is a `ValueError` with its place.

    >>> load([{"prompt": "2 + 2 =", "completion": " 4"}])[0]["labels"][:4].tolist()
    [-100, -100, -100, -100]
    """
    if source is None:
        corpus = embedded()
        return corpus if limit is None else corpus[:limit]
    fields = fields_of(field, prompt_field, answer_field, answers_only)
    name, rows = rows_of(source, split=split, document=document)
    encoder = Encoder(tokenizer)
    columns = _read(itertools.islice(rows, limit), fields, encoder, name)
    return columns.corpus(name, vocabulary=encoder.vocabulary, tokenizer=encoder.used)


def fields_of(
    field: str | Sequence[str] | None,
    prompt_field: str | Sequence[str] | None,
    answer_field: str | Sequence[str] | None,
    answers_only: bool,
) -> Fields:
    """The fields that were asked for; contradictions are refused."""
    if (prompt_field is None) != (answer_field is None):
        raise ValueError("prompt_field and answer_field go together: give both or neither")
    if field is not None and prompt_field is not None:
        raise ValueError("give field, or prompt_field and answer_field: not both")
    return Fields(names_of(field), names_of(prompt_field), names_of(answer_field), answers_only)


def _read(rows: Rows, fields: Fields, encoder: Encoder, name: str) -> Columns:
    """All rows as token ids, a chunk at a time."""
    columns = Columns()
    first = list(itertools.islice(rows, 1))
    if not first:
        raise ValueError(f"{name}: no documents in it")
    kind = kind_of_first(first[0], fields, encoder)
    rest = itertools.chain(first, rows)
    with _progress(name) as advance:
        while places := add(columns, itertools.islice(rest, CHUNK), kind, name):
            advance(len(places))
    return columns


def kind_of_first(first: tuple[Place, Row], fields: Fields, encoder: Encoder) -> Kind:
    """What a document of a source is, by its first row."""
    try:
        return kind_of(first[1], fields, encoder)
    except ValueError as error:
        raise ValueError(f"{where(first[0])}: {error}") from None


def add(columns: Columns, rows: Rows, kind: Kind, name: str) -> list[Place]:
    """Append rows as token ids; returns their places, none behind the last row."""
    places, items = [], []
    for place, row in rows:
        try:
            items.append(kind.pick(row))
        except ValueError as error:
            raise ValueError(f"{where(place)}: {error}") from None
        places.append(place)  # and not the row: its lists are packed by now
    if places:
        try:
            columns.add(*kind.made(items))
        except BadDocument as error:
            raise ValueError(f"{where(places[error.number])}: {error}") from None
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    return places


def rows_of(
    source: Any, *, split: str | None = None, document: str | None = None
) -> tuple[str, Rows]:
    """Name and rows, with their places, of a file, a folder, a `datasets` object or a hub name."""
    if document not in (None, *UNITS):
        raise ValueError(f"a document is a {', a '.join(UNITS)}; got {document!r}")
    if not isinstance(source, str | Path):
        return type(source).__name__, _rows_of_object(source, split)
    path = Path(source)
    if path.is_dir():
        return name_of_folder(path), _rows_of_folder(path, split, document)
    if path.is_file():
        refuse_split(split, path)
        return path.name, rows_of_file(path, document or "paragraph")
    if path.suffix or path.is_absolute() or str(source).startswith("."):
        raise ValueError(f"{path}: no such file or folder")
    return str(source), _rows_of_hub(str(source), split)


def require_vocabulary(corpus: Corpus, model: Any) -> None:
    """Refuse a corpus with token ids that the model has no entry for."""
    entries = model.config.vocab_size
    highest = int(corpus.tokens.max())
    if highest >= entries:
        raise ValueError(
            f"{corpus.name} has token id {highest:,}, the model has {entries:,} entries: "
            "use the tokenizer that belongs to the model"
        )


def _rows_of_object(source: Any, split: str | None) -> Rows:
    if isinstance(source, Mapping):
        source = chosen(source, split, type(source).__name__)
    else:
        refuse_split(split, type(source).__name__)
    if isinstance(source, str | bytes) or not isinstance(source, Iterable):
        raise ValueError(f"cannot read documents from {type(source).__name__}")
    name = type(source).__name__
    for number, row in enumerate(_plain_rows(source)):
        yield (name, "document", number), row if isinstance(row, Mapping) else {"input_ids": row}


def _plain_rows(source: Iterable[Any]) -> Iterator[Any]:
    """Rows of any iterable; those of a plain `datasets.Dataset` straight from its Arrow table."""
    form = getattr(source, "format", None)
    if isinstance(form, dict) and form.get("type") is None and hasattr(source, "with_format"):
        for table in source.with_format("arrow").iter(batch_size=CHUNK):
            yield from arrow_rows(table)
    else:
        yield from source


def _rows_of_folder(path: Path, split: str | None, document: str | None) -> Rows:
    """Rows of a saved data set, or of all shards in the order of their names."""
    if (path / "dataset_info.json").exists() or (path / "dataset_dict.json").exists():
        from datasets import load_from_disk

        found = load_from_disk(str(path))
        if isinstance(found, Mapping):
            found = chosen(found, split, str(path))
        else:
            refuse_split(split, path)
        yield from (((path, *place[1:]), row) for place, row in _rows_of_object(found, None))
        return
    refuse_split(split, path)
    for shard in files_in(path):
        yield from rows_of_file(shard, document or "file")


def files_in(path: Path) -> list[Path]:
    """The files of a folder that hold documents, in the order of their names.

    Hidden ones are no documents: a Mac lays a `._a.jsonl` beside each file that it copies.
    """
    shards = sorted(p for p in path.iterdir() if form_of(p) and not p.name.startswith("."))
    if not shards:
        raise ValueError(f"{path}: no {', '.join(FORMS)} file in this folder")
    return shards


def name_of_folder(path: Path) -> str:
    """A folder's own name, with what lies in it and looks like documents that are not read."""
    name = path.resolve().name or str(path)
    if (path / "dataset_info.json").exists() or (path / "dataset_dict.json").exists():
        return name
    inside = [p for p in sorted(path.iterdir()) if not p.name.startswith(".")]
    left = [p.name for p in inside if p.is_file() and not form_of(p) and _may_be_documents(p, path)]
    left += [
        f"{folder.name}/"
        for folder in inside
        if folder.is_dir() and any(_may_be_documents(p, path) for p in folder.rglob("*"))
    ]
    more = f" and {len(left) - NAMED} more" if len(left) > NAMED else ""
    told = os.fsencode(", ".join(left[:NAMED])).decode(errors="replace")  # it may be no UTF-8
    return f"{name} (not read: {' '.join(told.split())}{more})" if left else name


def _may_be_documents(file: Path, folder: Path) -> bool:
    """Whether a file in a folder, or below, is neither hidden nor a README, code or the like."""
    hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
    return not hidden and not NO_DOCUMENTS(file.name) and file.is_file()


def _rows_of_hub(name: str, split: str | None) -> Rows:
    found = of_hub(name, split)
    if split is None:
        found = chosen(found, None, name)
    yield from (((name, *place[1:]), row) for place, row in _rows_of_object(found, None))


def of_hub(name: str, split: str | None, *, streaming: bool = False) -> Any:
    """The data set of a hub: downloaded, or read while it is asked for."""
    require_target(Path(name))
    try:
        from datasets import load_dataset
    except ImportError:
        raise ValueError(
            f"{name}: no such file, and a hub name needs the package datasets"
        ) from None
    try:
        return load_dataset(name, split=split, streaming=streaming)
    except (OSError, ValueError) as error:
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise ValueError(f"{name}: neither a file here nor readable from a hub ({first})") from None


def chosen(splits: Mapping[str, Any], split: str | None, name: str) -> Any:
    """The split that was named, or the only one."""
    there = f"{', '.join(map(str, splits)):.200}"
    if split is None and len(splits) == 1:
        return next(iter(splits.values()))
    if split is None:
        raise ValueError(f"{name}: it has the splits {there}; choose one with split= (--split)")
    if split not in splits:
        raise ValueError(f"{name}: no split {split!r}; there are {there}")
    return splits[split]


def refuse_split(split: str | None, name: object) -> None:
    if split is not None:
        raise ValueError(f"{name}: it has no splits, and {split!r} was asked for")


@contextlib.contextmanager
def _progress(name: str) -> Iterator[Callable[[int], object]]:
    """A progress bar on stderr once reading takes more than a second."""
    try:
        from tqdm import tqdm
    except ImportError:
        yield lambda documents: None
        return
    with tqdm(desc=name, unit=" documents", delay=1.0, leave=False) as bar:
        yield bar.update
