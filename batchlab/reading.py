"""What a stranger's file says, or the line at which it stops making sense.

    path  ->  text, or lines with their numbers  ->  JSON values

Text is UTF-8; a byte order mark in front is no part of it. Lines of a file that ends in `.gz` or
`.zst` are unpacked while they are read. What cannot be read is a `ValueError` in one line: file,
line, what was wrong.
"""

import codecs
import gzip
import io
import itertools
import json
import reprlib
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["PACKED", "NotJson", "json_lines", "json_of", "lines_of", "parsed", "require_target",
           "shown", "text_of"]  # fmt: skip

PACKED = (".gz", ".zst")  # endings of compressed files

DECODER = json.JSONDecoder()


class NotJson(ValueError):
    """Why a text is not JSON, and in which of its lines."""

    def __init__(self, reason: str, line: int, at_end: bool = False):
        super().__init__(f"not JSON ({reason})")
        self.line = line
        self.at_end = at_end  # it stopped in the middle: more of it may have been meant to come


def parsed(text: str, *, unique_names: bool = False) -> Any:
    """The value that a JSON text stands for; anything else is `NotJson`.

    Of a name that stands twice in an object, JSON readers take the last, and `unique_names` none.

    >>> parsed('{"length": 3}')
    {'length': 3}
    """
    try:
        if unique_names:
            return json.loads(text, object_pairs_hook=_unique)
        if text[:1] in "{[":  # the usual line, without the detours of json.loads
            value, end = DECODER.raw_decode(text)
            if end == len(text) or text[end:].isspace():
                return value
        return json.loads(text)
    except json.JSONDecodeError as error:
        at_end = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
        raise NotJson(error.msg, error.lineno, at_end) from None
    except NotJson:
        raise
    except RecursionError:
        raise NotJson("lists or objects are nested too deeply", 1) from None
    except ValueError:  # Python reads no longer integers: a guard against quadratic time
        raise NotJson("a number has thousands of digits", 1) from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise NotJson(f"{twice!r} stands there twice", 1)
    return found


def require_target(path: Path) -> None:
    """ValueError if a path, or a folder on its way, is a link to what is not there."""
    for one in (path, *path.parents):
        if one.is_symlink() and not one.exists():
            raise ValueError(
                f"{one}: a link to {one.readlink()}, which is not there: point the link "
                "elsewhere, or give the path itself"
            )


def text_of(path: Path) -> str:
    """The whole text of a file."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path, error) from None


def lines_of(path: Path, *, newline: str | None = None) -> Iterator[tuple[int, str]]:
    """The lines of a file, numbered from 1, one at a time; `newline` as `open` takes it."""
    number = 0
    try:
        with _opened(path) as file:  # the codec utf-8-sig is written in Python, and slow
            if file.peek(3).startswith(codecs.BOM_UTF8):
                file.read(3)
            with io.TextIOWrapper(file, "utf-8", newline=newline) as lines:
                for number, line in enumerate(lines, start=1):
                    yield number, line
    except (OSError, UnicodeDecodeError, EOFError, zlib.error) as error:
        if path.suffix.lower() in PACKED and not isinstance(
            error, FileNotFoundError | UnicodeDecodeError
        ):
            raise ValueError(f"{path}: cannot be unpacked behind line {number} ({error})") from None
        raise _unreadable(path, error) from None


def _opened(path: Path) -> Any:
    """The bytes of a file, unpacked."""
    if path.suffix.lower() == ".gz":
        return gzip.open(path)
    if path.suffix.lower() == ".zst":
        import pyarrow

        return io.BufferedReader(pyarrow.input_stream(str(path), compression="zstd"))
    return path.open("rb")


def json_of(path: Path) -> tuple[str, Any]:
    """Text and value of a JSON file."""
    text = text_of(path)
    try:
        return text, parsed(text)
    except NotJson as error:
        hint = "; one value a line is read from .jsonl" if "Extra data" in str(error) else ""
        raise ValueError(f"{path}, line {error.line}: {error}{hint}") from None


def json_lines(path: Path, start: int = 0, step: int = 1) -> Iterator[tuple[int, str, Any]]:
    """Number, text and JSON value of lines that are not empty: `start`, `start + step`, ...

    The others are not parsed.
    """
    there = ((number, line) for number, line in lines_of(path) if line and not line.isspace())
    for number, line in itertools.islice(there, start, None, step):
        try:
            value = parsed(line)
        except NotJson as error:
            raise ValueError(f"{path}, line {number}: {error}") from None
        yield number, line, value


def shown(value: object, most: int = 40) -> str:
    """A value as an error shows it: its beginning, on one line, and its type.

    >>> print(shown("seven"), shown(None))
    'seven' (str) None (NoneType)
    """
    short = reprlib.Repr()
    short.maxlevel, short.maxother, short.maxlong, short.maxstring = 3, most, most, most
    try:
        text = " ".join(short.repr(value).split())
    except ValueError:  # an integer of thousands of digits
        text = "a number of thousands of digits"
    return f"{text if len(text) <= most else text[:most] + '...'} ({type(value).__name__})"


def _unreadable(path: Path, error: Exception) -> ValueError:
    if isinstance(error, FileNotFoundError):
        require_target(path)
        return ValueError(f"{path}: no such file")
    if isinstance(error, OSError):
        return ValueError(f"{path}: cannot be read ({error.strerror or error})")
    with _opened(path) as lines:
        for number, line in enumerate(lines, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as inside:
                at = f"byte 0x{line[inside.start]:02x} at column {inside.start + 1}"
                return ValueError(f"{path}, line {number}: cannot be read as UTF-8 ({at})")
    return ValueError(f"{path}: cannot be read as UTF-8")
