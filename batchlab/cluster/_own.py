"""Whose folder is it? A run begins in its own, and writes over nothing that somebody else made.

a folder, the run in one line  ->  nothing, or a line that names what stands in the way
"""

import contextlib
import os
import re
from pathlib import Path

from batchlab.cluster import _alive as alive
from batchlab.cluster._curve import curve, was_saved
from batchlab.cluster._name import differing
from batchlab.cluster._pointer import (
    LATEST,
    OWN,
    checkpoints,
    folders,
    latest,
    replace,
    strangers,
)
from batchlab.reading import require_target

__all__ = ["NOTES", "READ", "note", "others", "require_alone", "require_own", "require_same"]
__all__ += ["require_folder", "require_saved", "require_writable", "separate"]

NOTES, READ = "found_damaged.txt", "was_read.txt"  # no names that a person would choose
WRITES = (
    *("alive_*", "checkpoints", "curve.jsonl", "log*.txt", "model", "monitor*.jsonl"),
    *(NOTES, READ),
)
RECORDS = re.compile(r"monitor(\.rank\d+)?\.jsonl")
ASIDE = (alive.ASKED, "lives", "lock", "model.old_*")


def require_folder(folder: Path) -> None:
    """ValueError if the name leads nowhere, to what is no folder, or to a part of another run."""
    require_target(folder)
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file, and a run has a folder")
    for path in (folder.absolute(), folder.absolute().parent):
        if path.name in ("checkpoints", "model") and (path.parent / alive.ASKED).exists():
            raise ValueError(f"{folder} lies in a run: give {path.parent} to go on with it")


def require_own(folder: Path, documents: str | None = None) -> None:
    """ValueError if what a run would write over lies in a folder that is of no run, or its
    documents do, or the name of the folder is one to which no model can be written, or a link that
    leads nowhere.
    """
    require_folder(folder)
    if os.fsencode(folder).decode(errors="ignore") != str(folder):
        raise ValueError(
            f"the name of a run's folder is UTF-8, got {str(folder)!r}: give another one"
        )
    if documents and Path(documents).resolve() == folder.resolve():
        raise ValueError(
            f"{folder} is where the documents are sought, and what a run writes would be read as "
            "some of them: give another folder for the run"
        )
    if (folder / alive.ASKED).exists() or any(checkpoints(folder / "checkpoints")):
        return
    if theirs := sorted(path.name for name in WRITES for path in folder.glob(name)):
        raise ValueError(
            f"{folder} is no folder of a run, and a run would write over {', '.join(theirs)} in "
            "it: give a new one"
        )


def note(folder: Path, line: str) -> None:
    """Tell whoever started the run, in a line behind its curve."""
    with contextlib.suppress(OSError), (folder / NOTES).open("a") as file:
        file.write(f"{line}\n")


def others(folder: Path) -> list[str]:
    """What lies in the folder of a run, or among its checkpoints, and was written by no run.

    Such are a person's notes, and copies that a tool of synchronisation made of two versions.
    """
    saved = folder / "checkpoints"
    own = {saved / LATEST, *folders(saved)}
    found = [path for path in folder.iterdir() if not any(map(path.match, (*WRITES, *ASIDE)))]
    found += [path for path in folder.glob("monitor*.jsonl") if not RECORDS.fullmatch(path.name)]
    found += [path for path in folder.glob("model.old_*") if not (path / OWN).exists()]
    found += [path for path in saved.glob("*") if path not in own]
    found += [path / name for path in folders(saved) for name in strangers(path)]
    return sorted(str(path.relative_to(folder)) for path in found if not path.match("*.part"))


def require_writable(folder: Path) -> None:
    """ValueError if this user may not write or read what a run goes on with, as after one by root.

    What cannot be read is not damaged: an older checkpoint would take its place, and steps be lost.
    """
    saved = folder / "checkpoints"
    written = [*folder.glob("monitor*.jsonl"), saved, *folders(saved), folder / "model"]
    read = [saved / LATEST, *(path for one in folders(saved) for path in one.glob("*"))]
    for paths, may, how in ((written, os.W_OK, "write"), (read, os.R_OK, "read")):
        if theirs := [str(path) for path in paths if path.exists() and not os.access(path, may)]:
            more = f" and {len(theirs) - 1} more" if theirs[1:] else ""
            raise ValueError(
                f"this user may not {how} {theirs[0]}{more}, with which the run goes on: make it "
                "yours (chown -R), or give another folder"
            )


def separate(folder: Path) -> None:
    """Make what a run adds to its own: a copy by hard links (cp -al) would grow with it."""
    for path in [*folder.glob("monitor*.jsonl"), *folder.glob("log*.txt")]:
        if path.stat().st_nlink > 1:
            replace(path, path.read_bytes())


def require_alone(model: Path) -> None:
    """ValueError if files lie beside a trained model that no run wrote: it is written anew.

    So it is refused where a link stands in its place: the link would be lost, or be in the way.
    """
    if model.is_symlink():
        raise ValueError(
            f"{model} is a link, and the trained model is written in its place: remove the "
            "link, or bring what it names back"
        )
    if theirs := strangers(model):
        raise ValueError(
            f"{model} is written anew at the end of the run, and no run wrote {', '.join(theirs)} "
            "in it: move what is yours elsewhere"
        )


def require_same(checkpoints: Path, run: str) -> None:
    """ValueError if the last checkpoint belongs to another run."""
    held = latest(checkpoints)
    if held is not None and (other := differing(held.run, run)):
        raise ValueError(
            f"{checkpoints} holds another run, with {'; '.join(other)}: give another folder, or "
            f"the words of that run: {held.run}"
        )


def require_saved(folder: Path) -> None:
    """ValueError if the curve went on after a checkpoint, and none is there: it would be lost.

    So is a trained model without any: until this run has written its own, it would pass for it.
    """
    if not any(checkpoints(folder / "checkpoints")):
        lines = curve(folder)
        if was_saved(lines):
            raise ValueError(
                f"{folder} has a curve of {len(lines):,} steps, and its checkpoints are gone: "
                "bring them back, or give another folder"
            )
        if (folder / "model").exists():
            raise ValueError(
                f"{folder / 'model'} is of an earlier run, whose checkpoints are gone: move it "
                "elsewhere, or give another folder"
            )
