"""The rows of a file: JSON lines (also .gz and .zst), JSON, CSV, Parquet or text.

    path  ->  rows, each a mapping with its place

What a file cannot say is refused with its line: nothing is filled in and nothing is left out.

Words
    place   file, unit and number of a row; put into words only for an error
"""

import contextlib
import csv
import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from batchlab import reading

__all__ = ["FORMS", "UNITS", "NoBooleans", "Place", "Row", "arrow_rows", "form_of", "json_row",
           "parquet_rows", "rows_of_file", "where"]  # fmt: skip

FORMS = (".jsonl", ".jsonl.gz", ".jsonl.zst", ".json", ".csv", ".parquet", ".txt")
UNITS = ("file", "line", "paragraph")  # what one document of a text file can be
BATCH = 1024  # rows that are taken from a table at once
FIELD_BYTES = 2**31 - 1  # longest CSV field; Python's own limit of 131,072 refuses long documents
WRONG_CSV = {  # what the csv module says, and what is wrong
    "unexpected end of data": "a quote is opened and never closed",
    "',' expected after '\"'": "a quote is closed inside a text; inside of quotes, a quote is "
    'written twice: ""',
    "new-line character seen": "a carriage return outside of quotes ends no row and is no text",
}

Row = Mapping[str, Any]
Place = tuple[object, str, Any]


def where(place: Place) -> str:
    """A place in words; a number that is a function is asked for now.

    >>> where(("a.jsonl", "line", 3))
    'a.jsonl, line 3'
    """
    number = place[2]() if callable(place[2]) else place[2]
    return f"{place[0]}, {place[1]} {number:,}"


def form_of(path: Path) -> str:
    """What a file is read as, one of FORMS by the end of its name; "" if none."""
    return next((form for form in FORMS if path.name.lower().endswith(form)), "")


def rows_of_file(
    path: Path, unit: str = "paragraph", start: int = 0, step: int = 1
) -> Iterator[tuple[Place, Row]]:
    """Rows `start`, `start + step`, ... of one file; `unit` is what a document of a .txt file is.

    Other lines of a .jsonl file are not parsed.
    """
    if form_of(path).startswith(".jsonl"):
        for number, text, row in reading.json_lines(path, start, step):
            yield (path, "line", number), json_row(text, row, (path, "line", number))
        return
    yield from itertools.islice(_all_rows(path, unit), start, None, step)


def _all_rows(path: Path, unit: str) -> Iterator[tuple[Place, Row]]:
    form = form_of(path)
    if form == ".json":
        text, entries = reading.json_of(path)
        if not isinstance(entries, list):
            raise ValueError(
                f"{path}: a JSON list of objects is needed, got {reading.shown(entries)}"
            )
        has_booleans = _may_hold_booleans(text)
        for number, row in enumerate(entries):
            place = (path, "entry", number)
            yield place, _object(row, place, has_booleans)
    elif form == ".csv":
        yield from _csv_rows(path)
    elif form == ".parquet":
        yield from parquet_rows(path)
    elif form == ".txt":
        yield from _texts(path, unit)
    else:
        raise ValueError(f"{path}: documents are read from {', '.join(FORMS)}")


class NoBooleans(dict[str, Any]):
    """A JSON object in whose text no boolean stands: its lists need no look at every entry."""


def json_row(text: str, row: Any, place: Place) -> Row:
    """What a line of JSON stands for, if it is an object."""
    return _object(row, place, _may_hold_booleans(text))


def _object(row: Any, place: Place, has_booleans: bool) -> Row:
    if type(row) is not dict:
        raise ValueError(f"{where(place)}: a JSON object is needed, got {reading.shown(row)}")
    return row if has_booleans else NoBooleans(row)


def _may_hold_booleans(text: str) -> bool:
    return "true" in text or "false" in text


def _texts(path: Path, unit: str) -> Iterator[tuple[Place, Row]]:
    """Documents of a text file; empty lines part paragraphs and are no document themselves."""
    if unit == "file":
        yield (path, "line", 1), {"text": reading.text_of(path)}
        return
    kept: list[str] = []
    first = 1
    for number, line in itertools.chain(reading.lines_of(path), [(0, "")]):
        if line.strip():
            if not kept:
                first = number
            kept.append(line)
        if kept and (unit == "line" or not line.strip()):
            yield (path, "line", first), {"text": "".join(kept).strip("\n")}
            kept = []


def _csv_rows(path: Path) -> Iterator[tuple[Place, Row]]:
    """Rows of a CSV file with a header; every row has as many fields as the header."""
    lines = (line for _, line in reading.lines_of(path, newline="\n"))
    numbered = _csv_records(csv.reader(lines, strict=True), path)
    _, header = next(numbered, (0, []))
    if twice := [name for name in header if header.count(name) > 1]:
        raise ValueError(f"{path}, line 1: the header names {twice[0]!r} twice")
    for number, values in numbered:
        if len(values) != len(header):
            raise ValueError(
                f"{path}, line {number}: {_counted(values)}, and the header has "
                f"{_counted(header)}; a text with a comma needs quotes around it"
            )
        yield (path, "line", number), dict(zip(header, values, strict=True))


def _csv_records(reader: Any, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Records that are not empty, each with the line where it begins."""
    first, ended = 1, False
    while not ended:
        found: list[tuple[int, list[str]]] = []
        with _long_fields():
            try:
                for values in itertools.islice(reader, BATCH):
                    found.append((first, values))
                    first = reader.line_num + 1
                ended = len(found) < BATCH
            except csv.Error as error:
                begins = (why for start, why in WRONG_CSV.items() if str(error).startswith(start))
                raise ValueError(f"{path}, line {first}: {next(begins, str(error))}") from None
        yield from ((number, values) for number, values in found if values)


@contextlib.contextmanager
def _long_fields() -> Iterator[None]:
    """Allow fields as long as documents are; the limit is one for the whole process."""
    before = csv.field_size_limit(FIELD_BYTES)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _counted(values: list[str]) -> str:
    return f"{len(values)} field" + "s" * (len(values) != 1)


def parquet_rows(
    path: Path, groups: list[int] | None = None, number: int = 0
) -> Iterator[tuple[Place, Row]]:
    """Rows of some row groups, or of all; the first one has this number."""
    from pyarrow import parquet

    def batches() -> Iterator[Any]:
        with parquet.ParquetFile(path) as table:
            yield from table.iter_batches(batch_size=BATCH, row_groups=groups)

    if not path.is_file():
        raise ValueError(f"{path}: no such file")
    read = batches()
    while True:
        try:
            batch = next(read, None)
        except Exception as error:  # pyarrow has a dozen kinds; all mean that the file is broken
            why = " ".join(str(error).split()) or type(error).__name__
            raise ValueError(f"{path}: not a Parquet file ({why:.120})") from None
        if batch is None:
            return
        for row in arrow_rows(batch):
            yield (path, "row", number), row
            number += 1


def arrow_rows(batch: Any) -> Iterator[Row]:
    """Rows of an Arrow batch or table; a column is converted when it is first asked for."""
    names = batch.schema.names
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"the table has two columns {twice[0]!r}")
    columns = _Columns(batch)
    return (_ArrowRow(columns, number) for number in range(batch.num_rows))


class _Columns(dict[str, list[Any]]):
    """Columns of one Arrow batch as lists, each made once."""

    def __init__(self, batch: Any):
        super().__init__()
        self.batch = batch

    def __missing__(self, name: str) -> list[Any]:
        if name not in self.batch.schema.names:
            raise KeyError(name)
        self[name] = _listed(self.batch.column(name))
        return self[name]


class _ArrowRow(Mapping[str, Any]):
    """One row of a batch, as a mapping."""

    __slots__ = ("columns", "number")

    def __init__(self, columns: _Columns, number: int):
        self.columns, self.number = columns, number

    def __getitem__(self, name: str) -> Any:
        return self.columns[name][self.number]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns.batch.schema.names)

    def __len__(self) -> int:
        return len(self.columns.batch.schema.names)


def _listed(column: Any) -> list[Any]:
    """Values of a column; lists of numbers without gaps as views of one NumPy array."""
    import pyarrow

    if isinstance(column, pyarrow.ChunkedArray):
        column = column.combine_chunks()
    kind = column.type
    if pyarrow.types.is_list(kind) or pyarrow.types.is_large_list(kind):
        values = column.flatten()
        if pyarrow.types.is_integer(kind.value_type) and not column.null_count + values.null_count:
            offsets = column.offsets.to_numpy()
            flat, at = values.to_numpy(), (offsets - offsets[0]).tolist()
            return [flat[begin:end] for begin, end in itertools.pairwise(at)]
    return list(column.to_pylist())
