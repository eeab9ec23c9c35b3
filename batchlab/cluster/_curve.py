"""The curve of a run: a line a step, and how it is put right.

curve.jsonl  <->  lines;  a checkpoint's record, the curve  ->  the curve up to its step
"""

import contextlib
import hashlib
import json
import os
from pathlib import Path
from typing import Any

from batchlab.cluster._pointer import Latest, Measured, named, replace

__all__ = ["CURVE", "Written", "curve", "cut_back", "legible", "was_saved"]

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


def legible(folder: Path) -> list[dict[str, Any]]:
    """The curve, for who only looks: nothing of one that cannot be read, or not yet."""
    with contextlib.suppress(OSError, ValueError):
        return curve(folder)
    return []


def was_saved(lines: list[dict[str, Any]]) -> bool:
    """Whether the curve went on after a checkpoint: where one is due, the held-out loss is told."""
    return any("held_out" in line for line in lines[:-1])


class Written:
    """The curve as this process leaves it; ValueError where it was moved, deleted or changed since.

    Its length is looked at before each step, every byte of it before a checkpoint relies on it.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / CURVE
        self._digest, self._size = hashlib.sha256(), 0
        self._path.touch()
        self._add(self._path.read_bytes())

    def _add(self, held: bytes) -> None:
        self._digest.update(held)
        self._size += len(held)

    def require_same(self) -> None:
        """ValueError unless as many bytes lie where the run left them."""
        if not self._path.exists():
            raise ValueError(self._told("is gone"))
        if self._path.stat().st_size != self._size:
            raise ValueError(self._told("is not as the run left it"))

    def _told(self, what: str) -> str:
        return (
            f"{self._path} {what}: it, or its folder, was moved, deleted or changed while the run "
            "wrote it; leave it to the run, and the same command begins behind the last checkpoint"
        )

    def append(self, line: dict[str, Any], *, to_disk: bool) -> None:
        """Add a step; `to_disk` waits for the disk, before a checkpoint relies on it."""
        self.require_same()
        held = f"{json.dumps(line)}\n".encode()
        with named(self._path), self._path.open("ab") as file:
            file.write(held)
            file.flush()
            if to_disk:
                os.fsync(file.fileno())
        self._add(held)

    def keep(self, checkpoint: Path) -> Measured:
        """Copy the curve beside the weights, for the checkpoint to bring back; bytes, checksum."""
        self.require_same()
        held = self._path.read_bytes()
        if _measured(held) != (found := [self._size, self._digest.hexdigest()]):
            raise ValueError(self._told("is not as the run left it"))
        replace(checkpoint / CURVE, held)
        return found


def cut_back(folder: Path, found: Latest | None) -> str:
    """Take back what the curve says of steps after the checkpoint; returns what was wrong with it.

    A curve that is not as the checkpoint saw it is replaced by the checkpoint's copy: what else it
    says of earlier steps may be wrong as well. The file is a new one: a hard link keeps the old.
    """
    path, fault, held = folder / CURVE, "", b""
    if found is not None:
        held = path.read_bytes()[: found.curve[0]] if path.exists() else b""
        if _measured(held) != found.curve:
            held = (folder / "checkpoints" / found.name / CURVE).read_bytes()
            fault = f"{path} was not as it was written up to step {found.steps:,}, and is so again"
    replace(path, held)
    return fault


def _measured(held: bytes) -> Measured:
    return [len(held), hashlib.sha256(held).hexdigest()]
