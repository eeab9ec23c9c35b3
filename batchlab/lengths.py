"""How many tokens each document has: the only thing that padding and packing ask.

    path, name or seed  ->  flat int64 array, one number a document

Words
    length   tokens in one document; an integer of at least 1
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from batchlab import reading

__all__ = ["Summary", "checked", "embedded", "gsm8k", "lognormal", "read", "summary"]


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


def checked(lengths: ArrayLike) -> np.ndarray:
    """Return `lengths` as a flat int64 array, or say which value is no length.

    >>> checked([5, 0, 3])
    Traceback (most recent call last):
        ...
    ValueError: lengths must be integers >= 1, got 0 at position 1
    """
    try:
        tokens = np.asarray(lengths)
    except ValueError:
        raise ValueError("lengths must be a flat list of integers, got lists inside") from None
    if tokens.ndim != 1:
        raise ValueError(f"lengths must be a flat list, got an array of shape {tokens.shape}")
    if tokens.size == 0:
        raise ValueError("lengths are empty: at least one document is needed")
    if not np.issubdtype(tokens.dtype, np.integer):
        raise ValueError(f"lengths must be integers >= 1, got {_first_odd(tokens)}")
    if tokens.min() < 1:
        where = int(np.argmax(tokens < 1))
        raise ValueError(f"lengths must be integers >= 1, got {tokens[where]} at position {where}")
    return tokens.astype(np.int64, copy=False)


def _first_odd(tokens: np.ndarray) -> str:
    for position, value in enumerate(tokens.tolist()):
        if isinstance(value, bool) or not isinstance(value, int):
            return f"{value!r:.40} ({type(value).__name__}) at position {position}"
        if abs(value) >= 2**63:
            return f"{value:.3e} at position {position}, more than 64 bits hold"
    return f"values of type {tokens.dtype}"


def embedded() -> np.ndarray:
    """Lengths of the embedded corpus, as a dated list: the same on every Python version."""
    return _evidence("stdlib_lengths.txt")


def gsm8k() -> np.ndarray:
    """Lengths of the 7,473 GSM8K training problems (Cobbe et al. 2021): a mild distribution."""
    return _evidence("gsm8k_train_lengths.txt")


def _evidence(name: str) -> np.ndarray:
    text = (files("batchlab") / "evidence" / name).read_text(encoding="utf-8")
    return checked(_from_lines(text, name))


def lognormal(
    count: int, *, median: float, sigma: float, longest: int, seed: int = 0
) -> np.ndarray:
    """Draw long-tailed lengths, clipped to 1..`longest`; `sigma` is that of the logarithm."""
    if not (count >= 1 and median > 0 and sigma >= 0 and longest >= 1):  # NaN is refused too
        raise ValueError(
            f"lognormal lengths need count >= 1, median > 0, sigma >= 0 and longest >= 1, "
            f"got {count}, {median}, {sigma}, {longest}"
        )
    drawn = np.random.default_rng(seed).lognormal(np.log(median), sigma, count)
    return np.clip(drawn, 1, longest).astype(np.int64)


def read(path: str | Path, *, field: str | None = None) -> np.ndarray:
    """Read lengths from .npy, .txt (one integer a line), .json or .jsonl.

    A JSON line is a number, or an object with `field` (by default "length", else "input_ids",
    whose entries are counted).
    """
    path = Path(path)
    readers: dict[str, Callable[[Path, str | None], ArrayLike]]
    readers = {".npy": _from_npy, ".json": _from_json, ".jsonl": _from_jsonl, ".txt": _from_txt}
    if path.suffix not in readers:
        raise ValueError(f"{path}: lengths are read from {', '.join(readers)}")
    lengths = readers[path.suffix](path, field)
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
