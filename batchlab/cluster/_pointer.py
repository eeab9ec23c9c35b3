"""Which checkpoints of a run are whole: small records, written and read here only.

    folder  <->  LATEST, and the same beside the weights of each checkpoint that is kept

A record is written after every process has written its part, and after the step's line stands in
the curve, of which a copy lies with the weights. It proves itself and the files that it names: each
stands in it with its checksum.
"""

import contextlib
import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from batchlab.cluster._name import same

__all__ = ["LATEST", "OWN", "Latest", "Measured", "changed", "checkpoints", "checksum", "cleared"]
__all__ += ["damage", "files_of", "folders", "is_copy", "latest", "measured", "named", "point"]
__all__ += ["replace", "seen", "strangers", "whole"]

LATEST, OWN = "LATEST", "whole.json"
NAME = re.compile(r"step_\d{8,}")  # a copy that somebody named step_00000006.best is theirs
Measured = list[Any]  # bytes, SHA-256


@dataclass(frozen=True)
class Latest:
    """A whole checkpoint.

    name    its folder
    steps   that were finished when it was written
    run     what makes two runs the same, in one line
    lanes   state of each process's stream; empty where all documents are held
    data    fingerprint of the documents and the tokenizer; of a stream, of those that are held out
    line    of the curve: the last finished step
    curve   bytes and checksum of the curve up to this line
    files   bytes and checksum of each file
    launch  that wrote it
    """

    name: str
    steps: int
    run: str
    lanes: list[dict[str, Any]]
    data: str
    line: dict[str, Any]
    curve: Measured
    files: dict[str, Measured]
    launch: str

    @property
    def tokens(self) -> int:
        """Target tokens up to here."""
        return int(self.line["tokens"])


def measured(path: Path, first: int | None = None) -> Measured:
    """Bytes and checksum of a file, or of its first bytes."""
    with path.open("rb") as file:
        if first is not None:
            held = file.read(first)
            return [len(held), hashlib.sha256(held).hexdigest()]
        return [path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest()]


def seen(checkpoint: Path) -> dict[str, Measured]:
    """What a checkpoint's folder holds, each file with its bytes and checksum."""
    return {name: measured(checkpoint / name) for name in files_of(checkpoint)}


def files_of(folder: Path) -> list[str]:
    """What lies in a folder, but for its record."""
    inside = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != OWN)
    return [str(path.relative_to(folder)) for path in inside]


def point(folder: Path, to: Latest) -> None:
    """Name another checkpoint as the last one, whole or not at all."""
    told = asdict(to)
    text = json.dumps(told | {"checksum": checksum(told)}).encode()
    replace(folder / to.name / OWN, text)
    replace(folder / LATEST, text)


def latest(folder: Path) -> Latest | None:
    """The newest record that can be read; None if there is none."""
    return next((one for one in checkpoints(folder) if isinstance(one, Latest)), None)


def whole(folder: Path, run: str) -> tuple[Latest | None, list[str]]:
    """The newest checkpoint of a run that is as it was written, and what is wrong with newer ones.

    ValueError where there are checkpoints and none is whole.
    """
    faults: list[str] = []
    for one in checkpoints(folder):
        if not isinstance(one, Latest):
            faults.append(one)
        elif fault := damage(folder / one.name, one.files):
            faults.append(fault)
        elif not same(one.run, run):
            faults.append(f"{folder / one.name} is of another run ({one.run})")
        else:
            return one, faults
    if faults:
        raise ValueError(
            f"no whole checkpoint is left: {'; '.join(faults)}; bring one back, or give another "
            "folder to begin anew"
        )
    return None, []


def checkpoints(folder: Path) -> Iterator[Latest | str]:
    """Records, the newest first; in place of one that cannot be read, what is wrong with it.

    LATEST is a second copy of one of them, and not always of the newest: an older one may have been
    copied over it.
    """
    named = _read(folder / LATEST)
    if isinstance(named, Latest) and not (folder / named.name).is_dir():
        # a copy of a run that went on: LATEST came first, and its checkpoint was deleted since
        named = f"{folder / named.name} is gone"
    if isinstance(named, str):
        yield named
    for path in reversed(folders(folder)):
        copy = named if isinstance(named, Latest) and named.name == path.name else None
        one = _read(path / OWN)
        if copy and isinstance(one, Latest) and one.name == path.name and one != copy:
            if damage(path, one.files):
                yield f"{path / OWN} does not tell of the files beside it"
                one = copy
            else:
                yield f"{folder / LATEST} is no copy of {path / OWN}, the record that it names"
                copy = one
        if copy:
            yield copy
        if isinstance(one, Latest) and one.name != path.name:
            yield f"{path} holds what was written as {one.name}: give it that name back"
        elif one is not None and one != copy:
            yield one
        elif one is None and copy:
            yield f"{path / OWN} is gone"


def folders(folder: Path) -> list[Path]:
    """The folders of checkpoints, whole or not, the oldest first."""
    return sorted(path for path in folder.glob("step_*") if NAME.fullmatch(path.name))


def is_copy(checkpoint: Path) -> bool:
    """Whether it was written under another name: somebody made a copy of it."""
    told = _read(checkpoint / OWN)
    return isinstance(told, Latest) and told.name != checkpoint.name


def strangers(folder: Path) -> list[str]:
    """Files that its record does not name; none where there is no record to hold them against."""
    try:
        told = json.loads((folder / OWN).read_bytes())["files"]
    except (OSError, ValueError, TypeError, KeyError):
        return []
    return sorted(
        name for name in {*files_of(folder)} - {*told} if not Path(name).name.startswith(".")
    )


def changed(folder: Path) -> list[str]:
    """Files that are not as its record says: somebody may have edited them."""
    try:
        told = json.loads((folder / OWN).read_bytes())["files"]
        return [
            one for one in files_of(folder) if told.get(one, now := measured(folder / one)) != now
        ]
    except (OSError, ValueError, TypeError, KeyError):
        return []


def cleared(folder: Path, theirs: list[str] | None = None) -> list[str]:
    """Remove a folder, its record first: what is left of it is none.

    Files that are somebody's stay, and are returned; without a word, those that its record does
    not name.
    """
    theirs = strangers(folder) if theirs is None else theirs
    own = set(files_of(folder)) - set(theirs)
    (folder / OWN).unlink(missing_ok=True)
    if not theirs:
        shutil.rmtree(folder, ignore_errors=True)
    for name in own if theirs else ():
        with contextlib.suppress(OSError):
            (folder / name).unlink()
    return theirs


def damage(folder: Path, files: dict[str, Measured]) -> str:
    """The first file of a folder that is not as it was written, and how; "" if all are."""
    if not folder.is_dir():
        return f"{folder} is gone"
    for name, wanted in files.items():
        path = folder / name
        try:
            found = measured(path)
        except OSError as error:
            return f"{path}: {error.strerror}"
        if found[0] != wanted[0]:
            return f"{path} holds {found[0]:,} bytes, and {wanted[0]:,} were written"
        if found != wanted:
            return f"{path} is damaged: its checksum is another one"
    return ""


def replace(path: Path, held: bytes) -> None:
    """Write a file whole or not at all, on the disk when this returns."""
    part = path.with_name(f"{path.name}.part")
    with named(part):
        with part.open("wb") as file:
            file.write(held)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)


@contextlib.contextmanager
def named(path: Path) -> Iterator[None]:
    """Say which file the disk refuses: an open one is written without its name."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, error.filename or str(path)) from None


def _read(path: Path) -> Latest | str | None:
    try:
        told = json.loads(path.read_bytes())
        proof = told.pop("checksum")
        if proof == checksum(told):
            return Latest(**told)
    except FileNotFoundError:
        return None
    except OSError as error:
        return f"{path}: {error.strerror}"
    except (ValueError, TypeError, KeyError, AttributeError):
        pass
    return f"{path} is damaged, or of an older batchlab"


def checksum(told: dict[str, Any]) -> str:
    """Of what a record tells, without its own."""
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()
