"""One JSON file for each graded submission: the only state that grading keeps.

    graded/02_padding/ada/0001.json

A record is written whole: to a temporary name, to the disk, then under its own name. A kill at any
moment leaves the old state or the new one. Records are never changed; a new grade is a new file,
and the current one is the newest submission's last. A file that a disk emptied or cut off stays
where it is: until another stands behind it, this student has no grade in this lesson.

Words
    key    what the grade follows from: submission, lesson, checks (with the library behind them
           and the engine's revision), environment, level, seed
    score  the points of all questions; None where there is none (nothing came, or our own fault)
"""

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from batchlab.grading import _names as names
from batchlab.grading._verdict import NOTES, Judged, looked_at, total

__all__ = [
    "Record",
    "all_current",
    "current",
    "history",
    "keep",
    "kept",
    "key",
    "locked",
    "lost",
    "whole",
    "write",
]

SCHEMA = 1
TEMPORARY = ".part-"


class Torn(ValueError):
    """A record that is empty or cut off."""


@dataclass(frozen=True)
class Record:
    """How one submission was graded, and from what."""

    lesson: str
    student: str
    name: str  # as the LMS calls the student
    file: str
    received: str
    submission: str  # SHA-256 of its bytes; empty where there were none
    key: str
    checks: str
    level: str
    seed: str  # fingerprint, or `public`
    environment: dict[str, str]
    graded: str  # ISO time in UTC
    questions: tuple[Judged, ...]
    look: tuple[str, ...] = ()  # what a person should look at, in words
    number: int = field(default=0, compare=False)  # of its file

    @property
    def score(self) -> float | None:
        nothing = all(one.verdict == "MISSING" for one in self.questions)
        return None if nothing and not self.submission else total(self.questions)

    @property
    def of(self) -> float:
        return float(sum(one.of for one in self.questions))

    @property
    def is_ours(self) -> bool:
        """Whether any question failed by our own fault: such a record is graded again."""
        return any(one.verdict == "INFRA" for one in self.questions)

    @property
    def needs_a_look(self) -> tuple[str, ...]:
        """Reasons in words: those of the desk, then the verdicts that ask for a person."""
        verdicts = looked_at(self.questions)
        said = [f"{one}: {_first(self.questions, one)}" for one in verdicts]
        return tuple(dict.fromkeys((*self.look, *said)))


def _first(questions: tuple[Judged, ...], why: str) -> str:
    """Where a reason to look stands first, and what was seen or what its message begins with."""
    one = next(one for one in questions if why == one.verdict or why in one.notes)
    seen = [NOTES[note] for note in one.notes if why in ("REVIEW", note)]
    line = next(iter([*seen, *one.message.splitlines()]), "")
    everywhere = all(why == other.verdict or why in other.notes for other in questions)
    return line if everywhere and line else f"{one.question} {names.shown(line)}".strip()


def key(**parts: str | dict[str, str]) -> str:
    """What a grade follows from, as one word."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def write(graded: Path, record: Record) -> Path:
    """Write a record under the next number of its student and lesson, or not at all."""
    home = graded / record.lesson / names.folder(record.student)
    home.mkdir(parents=True, exist_ok=True)
    last = max((int(one.stem) for one in _files(home)), default=0)
    data = {"schema": SCHEMA, **{k: v for k, v in asdict(record).items() if k != "number"}}
    path = home / f"{last + 1:04d}.json"
    whole(path, json.dumps(data, indent=1, ensure_ascii=True).encode() + b"\n")
    return path


def whole(path: Path, content: bytes, mode: int = 0o600) -> None:
    """Write a file so that a reader, and the next run after a kill, sees all of it or none."""
    if path.is_dir():
        raise ValueError(f"{path}: this is a folder; a file is to be written")
    path.parent.mkdir(parents=True, exist_ok=True)
    door, part = tempfile.mkstemp(prefix=TEMPORARY, dir=path.parent)
    try:
        with os.fdopen(door, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(part).chmod(mode)
        Path(part).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(part).unlink()
        raise
    _to_disk(path.parent)


def _to_disk(folder: Path) -> None:
    """Make a new name in a folder last through a power cut, where the system offers that."""
    with contextlib.suppress(OSError):
        door = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(door)
        finally:
            os.close(door)


def keep(graded: Path, notebook: bytes, digest: str) -> None:
    """Keep what was graded, so that an appeal can look at it and grade it again."""
    path = graded / "handed_in" / f"{digest}.ipynb"
    if not path.is_file():
        whole(path, notebook)


def kept(graded: Path, digest: str) -> bytes:
    """The notebook that was graded; nothing where none was kept."""
    path = graded / "handed_in" / f"{digest}.ipynb"
    return path.read_bytes() if digest and path.is_file() else b""


def history(graded: Path, lesson: str, student: str) -> list[Record]:
    """All records of one student and lesson, the oldest first; none where the newest is `lost`."""
    return _whole(graded / lesson / names.folder(student))


def current(records: list[Record]) -> Record | None:
    """The record that counts: of the newest submission, and of its records the last."""
    return max(records, key=lambda one: (one.received, one.number), default=None)


def all_current(graded: Path, lessons: list[str]) -> list[Record]:
    """The record that counts of every student, by lesson and student; none where it is `lost`."""
    found = [one for home in _homes(graded, lessons) if (one := current(_whole(home)))]
    return sorted(found, key=lambda one: (one.lesson, one.student))


def lost(graded: Path, lessons: list[str]) -> list[Path]:
    """Newest records that are empty or cut off: what they said is to be graded again."""
    last = [files[-1] for home in _homes(graded, lessons) if (files := _files(home))]
    return [path for path in last if not _read(path)]


def _homes(graded: Path, lessons: list[str]) -> list[Path]:
    return [
        path for lesson in lessons for path in sorted((graded / lesson).glob("*")) if path.is_dir()
    ]


def _whole(home: Path) -> list[Record]:
    found = [_read(path) for path in _files(home)]
    for one in found:
        if one and (one.lesson, names.folder(one.student)) != (home.parent.name, home.name):
            raise ValueError(
                f"{home}: holds records of {names.shown(one.student)} in {one.lesson}, whose "
                f"place is {names.folder(one.student)}: move this folder away"
            )
    return [one for one in found if one] if found and found[-1] else []


def _files(home: Path) -> list[Path]:
    """The records of one student and lesson, the oldest first."""
    files = sorted(home.glob("[0-9]*.json"))
    for path in files:
        if not path.stem.isdecimal():
            raise ValueError(f"{path}: no record of a grade (its name is no number); move it away")
    return files


def _read(path: Path) -> Record | None:
    """The record of a file; None where it is empty or cut off."""
    try:
        return read(path)
    except Torn:
        return None


def read(path: Path) -> Record:
    """The record of a file; `ValueError` in one line where it is none."""
    try:
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if data.pop("schema") != SCHEMA:
            raise ValueError("a schema that this version does not know")
        asked = tuple(Judged(**{**one, "notes": tuple(one["notes"])}) for one in data["questions"])
        data |= {"questions": asked, "look": tuple(data["look"]), "number": int(path.stem)}
        return Record(**data)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        reason = " ".join(str(error).split())
        kind = Torn if isinstance(error, json.JSONDecodeError | UnicodeDecodeError) else ValueError
        raise kind(f"{path}: no record of a grade ({reason}); move it away") from None


@contextlib.contextmanager
def locked(graded: Path) -> Iterator[None]:
    """Let one run at a time write into a folder; the second is refused in one line.

    The lock goes with its process, so a kill leaves none. What a kill left half written is removed.
    """
    graded.mkdir(parents=True, exist_ok=True)
    with (graded / ".lock").open("a+") as file:
        try:
            import fcntl
        except ImportError:  # Windows: one run at a time is then the teacher's own care
            yield
            return
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            who = file.read().strip() or "unknown"
            raise ValueError(
                f"{graded}: another run grades into this folder (process {who}); wait for it"
            ) from None
        except OSError as error:  # some network file systems
            raise ValueError(
                f"{graded}: no lock can be had there ({error.strerror}), so two runs could write "
                'at once; a local folder can: graded = "..." in course.toml'
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        for part in graded.glob(f"**/{TEMPORARY}*"):
            part.unlink(missing_ok=True)
        yield
