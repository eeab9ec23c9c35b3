"""How many tokens each document has: the only thing that padding and packing ask.

    path, name or seed  ->  flat int64 array, one number a document

Words
    length   tokens in one document; an integer of at least 1
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from batchlab import reading, units

__all__ = ["Summary", "bounded", "checked", "embedded", "exact", "gsm8k", "ids_of", "lognormal",
           "no_truth_values", "of", "of_dataset", "read", "summary"]  # fmt: skip

INT64 = np.dtype(np.int64)
BLOCK = 65_536  # documents of a data set whose lengths are read at a time
FEW = 64  # up to here Python is faster than a call of NumPy
_TOO_WIDE = ", more than 64 bits hold"
MOST_DRAWN = 10**8  # documents; their lengths take 0.75 GiB


@dataclass(frozen=True)
class Summary:
    """The shape of a list of lengths in seven numbers."""

    documents: int
    tokens: int
    shortest: int
    median: float
    p90: float
    longest: int

    @property
    def mean(self) -> float:
        return self.tokens / self.documents


def summary(lengths: ArrayLike) -> Summary:
    """Count documents and tokens, and say how long the tail is.

    >>> summary([5, 3, 8, 2]).longest, summary([5, 3, 8, 2]).mean
    (8, 4.5)
    """
    tokens = checked(lengths)
    median, p90 = np.percentile(tokens, [50, 90])
    shortest, longest = int(tokens.min()), int(tokens.max())
    return Summary(len(tokens), int(tokens.sum()), shortest, float(median), float(p90), longest)


def of(document: Any) -> int:
    """How many tokens one document has.

    A document is a mapping with `input_ids`, or the sequence of token ids itself.

    >>> of({"input_ids": [5, 6, 7]}), of([5, 6])
    (3, 2)
    """
    return len(ids_of(document))


def of_dataset(dataset: Any, column: str = "input_ids") -> np.ndarray:
    """Tokens of each document of a `datasets.Dataset`, without a look at its tokens."""
    import pyarrow.compute as pc

    if column not in (getattr(dataset, "column_names", None) or []):
        got = type(dataset).__name__
        raise ValueError(f"a datasets.Dataset with a column {column} is needed, got {got}")
    tables = dataset.select_columns([column]).with_format("arrow").iter(batch_size=BLOCK)
    sizes = [pc.list_value_length(table[column]).to_numpy() for table in tables]
    return checked(np.concatenate(sizes) if sizes else [])


def ids_of(document: Any) -> Sequence[int]:
    """The token ids of one document; a text is refused, since its letters are no tokens."""
    ids = document
    if isinstance(document, dict | Mapping):  # a dict is known sooner
        if "input_ids" not in document:
            there = ", ".join(map(str, document)) or "none"
            raise ValueError(f"a document has no field input_ids; its fields are {there}")
        ids = document["input_ids"]
    if isinstance(ids, np.ndarray) and ids.ndim:
        return ids  # type: ignore[return-value]
    if isinstance(ids, str | bytes) or not hasattr(ids, "__len__"):
        raise ValueError(f"a document is a list of token ids, got {ids!r:.40}: tokenize it first")
    return ids  # type: ignore[no-any-return]


def checked(lengths: ArrayLike) -> np.ndarray:
    """Return `lengths` as a flat int64 array, or say which value is no length.

    Integers of any width are taken; float, bool and text are not, nor lengths that add up to more
    than 2**53 tokens: every sum of lengths is exact in 64 bits and in a float.

    >>> checked([5, 0, 3])
    Traceback (most recent call last):
        ...
    ValueError: lengths must be integers >= 1, got 0 at position 1
    """
    return bounded(lengths)[0]


def bounded(lengths: ArrayLike) -> tuple[np.ndarray, int, int]:
    """`lengths` as `checked` returns them, the shortest and the longest.

    >>> bounded([5, 3, 8, 2])[1:]
    (2, 8)
    """
    try:
        tokens = np.asarray(lengths)
    except (ValueError, TypeError, OverflowError):
        raise ValueError("lengths must be a flat list of integers, got lists inside") from None
    if tokens.ndim != 1:
        raise ValueError(f"lengths must be a flat list, got an array of shape {tokens.shape}")
    if tokens.size == 0:
        raise ValueError("lengths are empty: at least one document is needed")
    if tokens.dtype.kind not in "iu":
        tokens = _integers(lengths if isinstance(lengths, list | tuple) else tokens.tolist())
    if len(tokens) <= FEW:
        ranked = sorted(tokens.tolist())
        shortest, longest = ranked[0], ranked[-1]
    else:
        shortest, longest = int(tokens.min()), int(tokens.max())
    if shortest < 1:
        where = int(np.argmax(tokens < 1))
        raise ValueError(f"lengths must be integers >= 1, got {tokens[where]} at position {where}")
    if shortest == 1 and isinstance(lengths, list | tuple):
        no_truth_values(lengths, tokens, "lengths")
    if longest * len(tokens) > units.MOST and sum(tokens.tolist()) > units.MOST:
        where = int(np.argmax(tokens))
        raise ValueError(
            f"lengths must add up to at most {units.MOST:,} tokens; "
            f"document {where} alone has {longest:,}"
        )
    return tokens if tokens.dtype is INT64 else tokens.astype(np.int64), shortest, longest


def exact(values: np.ndarray, largest: int) -> np.ndarray:
    """`values`, as integers of Python if `largest`, computed from them, is beyond 64 bits.

    >>> squares = exact(np.array([2**40]), largest=2**80) ** 2
    >>> int(squares.sum()) == 2**80
    True
    """
    return values if largest < 2**63 else values.astype(object)


def no_truth_values(values: Sequence[Any], numbers: np.ndarray, name: str) -> None:
    """Refuse True and False, which NumPy reads as 1 and 0 where integers stand beside them."""
    for where in np.flatnonzero(numbers <= 1).tolist():
        if isinstance(values[where], bool | np.bool_):
            raise ValueError(f"{name} must be integers, got {values[where]} (bool) at {where}")


def _integers(values: Sequence[Any]) -> np.ndarray:
    """Integers that NumPy reads as something else (mixed widths, objects), or the first odd one."""
    for position, value in enumerate(values):
        found, more = reading.shown(value), ""
        if isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64):
            number = int(value)
            if abs(number) < 2**63:
                continue
            found, more = f"{float(number):.3e}" if abs(number) < 10**300 else found, _TOO_WIDE
        raise ValueError(f"lengths must be integers >= 1, got {found} at position {position}{more}")
    return np.array([int(value) for value in values], dtype=np.int64)


def embedded() -> np.ndarray:
    """Lengths of the embedded corpus, as a dated list, read-only: the same on every Python."""
    return _evidence("stdlib_lengths.txt")


def gsm8k() -> np.ndarray:
    """Lengths of the 7,473 GSM8K training problems (Cobbe et al. 2021), mild, read-only."""
    return _evidence("gsm8k_train_lengths.txt")


def _evidence(name: str) -> np.ndarray:
    text = (files("batchlab") / "evidence" / name).read_text(encoding="utf-8")
    tokens = checked(_from_lines(text, name))
    tokens.setflags(write=False)  # shared: whoever sorts it in place would change what follows
    return tokens


def lognormal(
    count: int, *, median: float, sigma: float, longest: int, seed: int = 0
) -> np.ndarray:
    """Draw long-tailed lengths, clipped to 1..`longest`; `sigma` is that of the logarithm."""
    count = units.whole(count, "count", most=MOST_DRAWN)
    longest = units.whole(longest, "longest", most=units.MOST // count)
    median, sigma = units.real(median, "median", above=0), units.real(sigma, "sigma", least=0)
    rng = np.random.default_rng(units.whole(seed, "seed", least=0, most=None))
    return np.clip(rng.lognormal(np.log(median), sigma, count), 1, longest).astype(np.int64)


def read(path: str | Path, *, field: str | None = None) -> np.ndarray:
    """Read lengths from .npy, .txt (one integer a line), .json or .jsonl.

    A JSON line is a number, or an object with `field` (by default "length", else "input_ids",
    whose entries are counted).
    """
    path = Path(path)
    readers: dict[str, Callable[[Path, str | None], ArrayLike]]
    readers = {".npy": _from_npy, ".json": _from_json, ".jsonl": _from_jsonl, ".txt": _from_txt}
    suffix = path.suffix.lower()
    if suffix not in readers:
        raise ValueError(f"{path}: lengths are read from {', '.join(readers)}")
    lengths = readers[suffix](path, field)
    try:
        return checked(lengths)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _from_npy(path: Path, field: str | None) -> np.ndarray:
    """The array of a .npy file, mapped first: a header cannot ask for more than is there."""
    try:
        with path.open("rb") as file:
            np.lib.format.read_magic(file)
        return np.array(np.load(path, mmap_mode="r", allow_pickle=False))
    except FileNotFoundError:
        raise ValueError(f"{path}: no such file") from None
    except Exception as error:  # whatever NumPy stumbles over, the file is what is wrong
        why = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"{path}: not a plain .npy array ({why:.120})") from None


def _from_txt(path: Path, field: str | None) -> list[int]:
    return _from_lines(reading.text_of(path), str(path))


def _from_lines(text: str, name: str) -> list[int]:
    """One integer a line; empty lines and lines that begin with # are skipped."""
    found = []
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.strip()
        if line and not line.startswith("#"):
            if not re.fullmatch(r"[+-]?[0-9]{1,99}", line):
                raise ValueError(f"{name}, line {number}: {line[:40]!r} is no integer")
            found.append(_length(int(line), f"{name}, line {number}"))
    if not found:
        raise ValueError(f"{name}: no lengths in it")
    return found


def _from_json(path: Path, field: str | None) -> list[int]:
    _, entries = reading.json_of(path)
    if not isinstance(entries, list):
        raise ValueError(f"{path}: a JSON list is needed, got {type(entries).__name__}")
    return [_length_of(e, field, f"{path}, entry {i}") for i, e in enumerate(entries)]


def _from_jsonl(path: Path, field: str | None) -> list[int]:
    return [
        _length_of(entry, field, f"{path}, line {number}")
        for number, _, entry in reading.json_lines(path)
    ]


def _length_of(entry: Any, field: str | None, where: str) -> int:
    """A number as it is, or the field of an object: a number, or token ids to be counted."""
    value = entry
    if isinstance(entry, dict):
        names = [field] if field else ["length", "input_ids"]
        name = next((name for name in names if name in entry), None)
        if name is None:
            there = ", ".join(map(str, entry)) or "none"
            raise ValueError(f"{where}: no field {' or '.join(names)}; the fields are {there:.200}")
        value = entry[name]
        if isinstance(value, list):
            if not {int}.issuperset(map(type, value)):
                odd = next(token for token in value if type(token) is not int)
                raise ValueError(f"{where}: token ids are integers, got {reading.shown(odd)}")
            value = len(value)
    return _length(value, where)


def _length(value: Any, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{where}: a length is an integer, got {reading.shown(value)}")
    if value < 1:
        raise ValueError(f"{where}: a length is at least 1, got {value!s:.40}")
    if value >= 2**63:
        raise ValueError(f"{where}: a length of {len(str(value))} digits is more than 64 bits hold")
    return value
