"""The curve of a run: a line a step, and how it is put right.

curve.jsonl  <->  lines;  a checkpoint's record, the curve  ->  the curve up to its step
"""

import json
import os
from pathlib import Path
from typing import Any

from batchlab.cluster._pointer import Latest, measured, named, replace

__all__ = ["CURVE", "append", "curve", "cut_back", "keep", "was_saved"]

CURVE = "curve.jsonl"


def curve(folder: Path) -> list[dict[str, Any]]:
    """The steps that are done: step, target tokens so far, loss, gradient norm, seconds.

    A loss or norm that was not finite is None, and the step `skipped`: it left the weights alone.
    A last line without its end is still being written; any other that is no step is refused.
    """
    try:
        lines = (folder / CURVE).read_bytes().split(b"\n")[:-1]
    except FileNotFoundError:
        return []
    found = []
    for number, line in enumerate(lines, start=1):
        try:
            one = json.loads(line)
            found.append(one | {"step": int(one["step"]), "tokens": int(one["tokens"])})
        except (ValueError, TypeError, KeyError):
            raise ValueError(f"{folder / CURVE}, line {number}: not a step of a curve") from None
    return found


def was_saved(lines: list[dict[str, Any]]) -> bool:
    """Whether the curve went on after a checkpoint: where one is due, the held-out loss is told."""
    return any("held_out" in line for line in lines[:-1])


def append(folder: Path, line: dict[str, Any], *, to_disk: bool) -> None:
    """Add a step; `to_disk` waits for the disk, before a checkpoint relies on it."""
    with named(folder / CURVE), (folder / CURVE).open("a") as file:
        file.write(json.dumps(line) + "\n")
        file.flush()
        if to_disk:
            os.fsync(file.fileno())


def keep(folder: Path, checkpoint: Path) -> None:
    """Copy the curve so far beside the weights, so that a checkpoint can bring it back."""
    replace(checkpoint / CURVE, (folder / CURVE).read_text())


def cut_back(folder: Path, found: Latest | None) -> str:
    """Take back what the curve says of steps after the checkpoint; returns what was wrong with it.

    A curve that is not as the checkpoint saw it is replaced by the checkpoint's copy: what else it
    says of earlier steps may be wrong as well.
    """
    path = folder / CURVE
    if found is None:
        replace(path, "")
        return ""
    path.touch()
    if measured(path, found.curve[0]) == found.curve:
        os.truncate(path, found.curve[0])
        return ""
    replace(path, (folder / "checkpoints" / found.name / CURVE).read_text())
    return f"{path} was not as it was written up to step {found.steps:,}, and is so again"
