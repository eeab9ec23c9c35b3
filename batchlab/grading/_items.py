"""Files that strangers handed in, read without following, running or unpacking anything.

    a folder, a zip or one notebook  ->  Item, Item, ...: where it lies, when it came, its bytes

Nothing is ever extracted: a member of a zip is read into memory up to a limit, so a path that
climbs out of its archive leads nowhere. What is no plain file of its own is an item with a fault.

Words
    parts  the names from the top of what was handed in down to the file
    fault  why an item is not read: a link, a pipe, an encrypted member; empty for a good one
"""

import os
import re
import stat
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

__all__ = ["LARGEST", "Item", "Unreadable", "items", "plain_bytes"]

LARGEST = 2**27  # bytes of one notebook: what it printed is left out when it is read
MOST, DEEPEST = 50_000, 8  # files of one class, folders above a file
DOS_EPOCH = 1980  # a zip member without a time says this year
SKIPPED = {".ipynb_checkpoints", "__MACOSX", "__pycache__", ".git"}


class Unreadable(ValueError):
    """A file could not be read as it should; the message is the reason."""


@dataclass(frozen=True)
class Item:
    """One file, still unread."""

    parts: tuple[str, ...]
    when: str  # ISO time in UTC; empty where nobody knows
    read: Callable[[], bytes]
    fault: str = ""

    @property
    def name(self) -> str:
        return self.parts[-1]


def items(path: Path) -> list[Item]:
    """Every file below a folder, in a zip, or the one file itself, in the order of names.

    `ValueError` where nothing can be read at all, or where more lies there than a class hands in.
    """
    if path.is_dir():
        found = list(_below(path, ()))
    elif path.is_file() and zipfile.is_zipfile(path):
        found = _members(path)
    elif path.is_file() and path.suffix == ".ipynb":
        found = [_item(path, (path.name,))]
    elif path.is_file() and path.suffix == ".zip":
        raise ValueError(f"{path}: no zip, or cut off (download it again)")
    elif path.exists():
        raise ValueError(f"{path}: a folder, a .zip or a notebook is needed")
    else:
        raise ValueError(f"{path}: no such file or folder")
    return sorted(found, key=lambda item: item.parts)


def _below(folder: Path, parts: tuple[str, ...]) -> Iterator[Item]:
    try:
        with os.scandir(folder) as entries:
            there = sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        yield _faulty((*parts, ""), f"the folder cannot be read ({error.strerror})")
        return
    if len(there) > MOST:
        raise ValueError(f"{folder}: {len(there):,} files; a class hands in at most {MOST:,}")
    for entry in there:
        inside = (*parts, entry.name)
        if entry.name in SKIPPED:
            continue
        if entry.is_dir(follow_symlinks=False) and not entry.name.endswith(".ipynb"):
            if len(inside) > DEEPEST:
                yield _faulty(inside, "too many folders in folders")
            else:
                yield from _below(Path(entry.path), inside)
        else:
            yield _item(Path(entry.path), inside)


def _item(path: Path, parts: tuple[str, ...]) -> Item:
    try:
        told = path.lstat()
    except OSError as error:
        return _faulty(parts, f"it cannot be read ({error.strerror})")
    when = datetime.fromtimestamp(told.st_mtime, UTC).isoformat(timespec="seconds")
    return Item(parts, when, lambda: plain_bytes(path), _odd(told))


def _odd(told: os.stat_result) -> str:
    """Why this is no plain file of its own."""
    kinds = (
        (stat.S_ISLNK, "it is a link to another place"),
        (stat.S_ISDIR, "it is a folder"),
        (stat.S_ISFIFO, "it is a pipe"),
        (stat.S_ISSOCK, "it is a socket"),
    )
    for test, fault in kinds:
        if test(told.st_mode):
            return fault
    if not stat.S_ISREG(told.st_mode):
        return "it is a device"
    if told.st_nlink > 1:
        return "it has a second name elsewhere (a hard link): copy it"
    return "" if told.st_size <= LARGEST else _too_large(told.st_size)


def _too_large(size: int) -> str:
    return f"{size:,} bytes; a notebook has at most {LARGEST:,}"


def plain_bytes(path: Path) -> bytes:
    """The bytes of a plain file; it may have become something else since it was found."""
    try:
        door = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | _NO_WAIT)
    except OSError as error:
        raise Unreadable(f"it cannot be read ({error.strerror})") from None
    with os.fdopen(door, "rb") as file:
        if odd := _odd(os.fstat(file.fileno())):
            raise Unreadable(odd)
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise Unreadable(_too_large(len(content)))
    return content


_NO_WAIT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def _members(path: Path) -> list[Item]:
    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
    except (zipfile.BadZipFile, OSError, NotImplementedError, ValueError) as error:
        raise ValueError(f"{path}: the archive is cut off or broken ({error})") from None
    if len(infos) > MOST:
        raise ValueError(f"{path}: {len(infos):,} members; a class hands in at most {MOST:,}")
    often = Counter(info.filename for info in infos)
    found = []
    for info in infos:
        parts = tuple(part for part in re.split(r"[/\\]", info.filename) if part not in ("", "."))
        if info.is_dir() or not parts or SKIPPED & set(parts):
            continue
        fault = _bad(info) or ("its name stands twice" if often[info.filename] > 1 else "")
        found.append(Item(parts, _when(info), lambda info=info: _member(path, info), fault))  # type: ignore[misc]
    return found


def _bad(info: zipfile.ZipInfo) -> str:
    """Why a member is not read."""
    name = info.orig_filename
    if name.startswith(("/", "\\")) or re.match(r"[A-Za-z]:", name) or "\0" in name:
        return "its name is no place in the archive"
    if ".." in re.split(r"[/\\]", name):
        return "its name climbs out of the archive"
    mode = info.external_attr >> 16
    if mode and stat.S_IFMT(mode) and not stat.S_ISREG(mode):
        return "it is a link, or no file"
    if info.flag_bits & 0x1:
        return "it is encrypted"
    return "" if info.file_size <= LARGEST else _too_large(info.file_size)


def _member(path: Path, info: zipfile.ZipInfo) -> bytes:
    """The bytes of a member: never more than a notebook may have, whatever it says of itself."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open(info) as file:
            content = file.read(LARGEST + 1)
    except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError) as error:
        raise Unreadable(f"it is broken in the archive ({error})") from None
    except Exception as error:  # zlib.error and its likes have no common parent
        raise Unreadable(f"it is broken in the archive ({type(error).__name__})") from None
    if len(content) > LARGEST:
        raise Unreadable(_too_large(len(content)))
    return content


def _when(info: zipfile.ZipInfo) -> str:
    """The time of a member, which a zip tells in local time and without saying so."""
    try:
        told = datetime(*info.date_time)
    except ValueError:
        return ""
    if told.year <= DOS_EPOCH:
        return ""
    return told.astimezone(UTC).isoformat(timespec="seconds")


def _faulty(parts: tuple[str, ...], fault: str) -> Item:
    def read() -> bytes:
        raise Unreadable(fault)

    return Item(parts, "", read, fault)
