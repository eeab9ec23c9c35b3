"""Whatever holds documents, as blocks of which each can be read by itself.

nothing, a path, a datasets object, a sequence or a hub name  ->  Shards
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from batchlab.data._corpus import embedded
from batchlab.data._files import UNITS
from batchlab.data._load import chosen, files_in, name_of_folder, of_hub, refuse_split, rows_of
from batchlab.data._shards import Shards, of_files, of_iterable, of_sequence

__all__ = ["shards_of"]


def shards_of(source: Any, lanes: int, split: str | None, document: str | None) -> Shards:
    """The blocks of a source; `split` and `document` as `load` takes them."""
    if document not in (None, *UNITS):
        raise ValueError(f"a document is a {', a '.join(UNITS)}; got {document!r}")
    if source is None:
        return of_sequence(embedded(), "stdlib")
    if not isinstance(source, str | Path):
        return _of_object(source, type(source).__name__, lanes, split)
    path = Path(source)
    if path.is_dir():
        if (path / "dataset_info.json").exists() or (path / "dataset_dict.json").exists():
            from datasets import load_from_disk

            return _of_object(load_from_disk(str(path)), str(path), lanes, split)
        refuse_split(split, path)
        return of_files(name_of_folder(path), files_in(path), lanes, document or "file")
    if path.is_file():
        refuse_split(split, path)
        return of_files(path.name, [path], lanes, document or "paragraph")
    if path.suffix or path.exists():
        rows_of(source)  # says what is wrong with it
    found = of_hub(str(source), split or "train", streaming=True)
    return _of_object(found, str(source), lanes, None)


def _of_object(source: Any, name: str, lanes: int, split: str | None) -> Shards:
    if isinstance(source, Mapping):
        source = chosen(source, split, name)
    else:
        refuse_split(split, name)
    if isinstance(source, str | bytes) or not isinstance(source, Iterable):
        raise ValueError(f"cannot read documents from {name}")
    if hasattr(source, "__len__") and hasattr(source, "__getitem__"):
        return of_sequence(source, name)  # type: ignore[arg-type]
    return of_iterable(source, name, lanes)
