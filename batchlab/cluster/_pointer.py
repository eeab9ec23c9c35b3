"""Which checkpoint of a run is the latest: one small file, read and written here only.

    folder  <->  LATEST: the checkpoint's name, its steps, the run that it belongs to

It is written after every process has written its part: a checkpoint that it names is whole.
"""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

__all__ = ["Latest", "latest", "point", "replace"]

LATEST = "LATEST"


@dataclass(frozen=True)
class Latest:
    """The last whole checkpoint.

    name   its folder
    steps  that were finished when it was written
    run    what makes two runs the same, in one line
    lanes  how far each part of a stream was read; empty where all documents are held
    data   fingerprint of the documents; of a stream, of those that are held out
    """

    name: str
    steps: int
    run: str
    lanes: list[list[int]]
    data: str = ""


def latest(folder: Path) -> Latest | None:
    """The last whole checkpoint in a folder; None if there is none."""
    try:
        found = json.loads((folder / LATEST).read_text())
    except FileNotFoundError:
        return None
    more = (found.get("lanes", []), found.get("data", ""))
    return Latest(found["name"], found["steps"], found["run"], *more)


def point(folder: Path, to: Latest) -> None:
    """Name another checkpoint as the last one, whole or not at all."""
    replace(folder / LATEST, json.dumps(asdict(to)))


def replace(path: Path, text: str) -> None:
    """Write a file whole or not at all, on the disk when this returns."""
    part = path.with_name(f"{path.name}.part")
    with part.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
