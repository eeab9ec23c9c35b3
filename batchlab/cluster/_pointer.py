"""Which checkpoint of a run is the latest: one small file, read and written here only.

    folder  <->  LATEST: the checkpoint's name, its steps, the run that it belongs to

It is written after every process has written its part: a checkpoint that it names is whole.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

__all__ = ["Latest", "latest", "point"]

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
    part = folder / f"{LATEST}.part"
    part.write_text(json.dumps(asdict(to)))
    part.replace(folder / LATEST)
