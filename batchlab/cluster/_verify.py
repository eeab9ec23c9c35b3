"""A run's folder read again: do its curve, its checkpoints and their records agree?

folder  ->  what was looked at, each with what is wrong or nothing
"""

import contextlib
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from batchlab.cluster import _alive as alive
from batchlab.cluster import _lock as lock
from batchlab.cluster._curve import CURVE, curve, was_saved
from batchlab.cluster._name import same
from batchlab.cluster._own import require_folder
from batchlab.cluster._pointer import (
    OWN,
    Latest,
    checkpoints,
    damage,
    folders,
    latest,
    measured,
    strangers,
)
from batchlab.units import several

__all__ = ["Look", "is_done", "verify"]

ANEW = "the same command writes it anew"
WRITTEN = "as it was written"
COPY = "of a copy of this run that went on by itself: its curve is another one. It may be deleted"
OTHER = "of other documents or another tokenizer than this run"
HALF = "no record proves it (a kill leaves such), and no run goes on from it"


@dataclass(frozen=True)
class Look:
    """One thing that was looked at: its name, what is wrong with it ("" if nothing is), and what
    else was found.
    """

    what: str
    fault: str = ""
    found: str = WRITTEN


def verify(folder: Path) -> list[Look]:
    """Return what was looked at in the folder of a run; no file is changed.

    Every file of every kept checkpoint and of the model is read and held against its checksum, and
    so is the curve up to each checkpoint; the curve has each step once, its tokens grow, and it
    reaches the last checkpoint. ValueError if there is no run in the folder, or one is going on.
    """
    require_folder(folder)
    lock.require_free(folder)
    saved = folder / "checkpoints"
    found = list(checkpoints(saved))
    if not found and not (folder / CURVE).exists():
        raise ValueError(f"{folder}: no run in this folder")
    fault, asked = _of_asked(folder)
    known = [one for one in found if isinstance(one, Latest)]
    ours = [one for one in known if same(one.run, asked.get("run", one.run))]
    if known and not ours:
        fault = f"{folder / alive.ASKED} is of another run ({asked['run']}): {ANEW}"
    strange = _strange(folder, known, ours or known)
    looks = [
        Look(
            f"{one.name}, {len(one.files)} files",
            damage(saved / one.name, one.files) or strange.get(one.name, ""),
        )
        if isinstance(one, Latest)
        else Look("record of a checkpoint", one)
        for one in found
    ]
    names = {one.name for one in known}
    looks += [
        Look(path.name, found=HALF)
        for path in folders(saved)
        if path.name not in names and not (path / OWN).exists()
    ]
    kept = [one for one in known if one.name not in strange]
    last = kept[0] if kept else None
    ended = is_done(folder, last)
    of_curve = _fault_of_curve(folder, kept, ended)
    looks += _of_model(folder / "model", last, ended, [] if of_curve else curve(folder))
    if fault:
        looks.append(Look(alive.ASKED, fault))
    told = WRITTEN if of_curve else f"{WRITTEN}{_limit(folder, last)}"
    return [*looks, Look(CURVE, of_curve, told)]


def _strange(folder: Path, known: list[Latest], ours: list[Latest]) -> dict[str, str]:
    """Checkpoints that this run did not write, by their names, and whose they are.

    Such have other words, or another curve than some that agree with the curve of the folder.
    """
    told = {one.name: f"of another run ({one.run})" for one in known if one not in ours}
    agree: list[Latest] = []
    with contextlib.suppress(OSError):
        agree = [one for one in ours if measured(folder / CURVE, one.curve[0]) == one.curve]
    for one in ours if agree else ():
        if one not in agree and one.data != agree[0].data:
            told[one.name] = OTHER
        elif one not in agree and one.steps < agree[0].steps:
            told[one.name] = COPY
    return told


def is_done(folder: Path, last: Latest | None = None) -> bool:
    """Whether the last checkpoint is of the step that the folder was last asked for."""
    last = last or latest(folder / "checkpoints")
    return last is not None and bool(last.steps >= _of_asked(folder)[1].get("steps", math.inf))


def _of_model(
    path: Path, last: Latest | None, ended: bool, lines: list[dict[str, Any]]
) -> list[Look]:
    """The trained model, if there is one: a run that goes on leaves an older one in its place.

    lines  of the curve; none of one that proves nothing
    """
    steps = last.steps if last else 0
    if not path.is_dir():
        return [Look("model", f"{path} is not there: {ANEW}")] if ended else []
    try:
        told = json.loads((path / OWN).read_text())
        fault, of, line = damage(path, told["files"]), int(told["steps"]), told.get("line")
    except FileNotFoundError:
        return [Look("model", f"{path / OWN} is gone, so nothing proves the model: {ANEW}")]
    except OSError as error:
        return [Look("model", f"{path / OWN}: {error.strerror}")]
    except (ValueError, TypeError, KeyError):
        return [Look("model", f"{path / OWN} is damaged")]
    if not fault and last and not same(told.get("run", last.run), last.run):
        fault = f"{path} is of another run ({told['run']})"
    if not fault and (theirs := strangers(path)):
        fault = f"no run wrote {', '.join(theirs)} in {path}"
    older = f"; the last checkpoint is of step {steps:,}" if last and steps != of else ""
    after = f"after {several(of, 'step')}{older}"
    if not fault and older and (ended or of > steps):
        fault = f"{path} is of another moment, {after}: {ANEW}"
    if not fault and line and lines[of - 1 : of] not in ([], [line]):
        fault = f"{path} is of another training: its last step is none of this curve: {ANEW}"
    return [Look("model", fault, f"{WRITTEN}, {after}")]


def _of_asked(folder: Path) -> tuple[str, dict[str, Any]]:
    """What is wrong with the record of what was asked for, and what it says."""
    path = folder / alive.ASKED
    why = f"so nothing says how many steps were asked for: {ANEW}"
    try:
        return "", alive.asked(folder)
    except FileNotFoundError:
        return f"{path} is gone, {why}", {}
    except OSError as error:
        return f"{path}: {error.strerror}", {}
    except ValueError:
        return f"{path} is damaged, {why}", {}


def _limit(folder: Path, last: Latest | None) -> str:
    """Steps after the last checkpoint have no checksum yet."""
    steps = len(curve(folder))
    proven = last.steps if last else 0
    later = f" up to step {proven:,}; nothing proves the {steps - proven:,} later"
    half = "; its last line has no end: the run was stopped while it wrote it"
    return f"{later if steps > proven else ''}{'' if _has_end(folder) else half}"


def _has_end(folder: Path) -> bool:
    """Whether the last line of the curve is whole."""
    held = (folder / CURVE).read_bytes()
    return not held or held.endswith(b"\n")


def _fault_of_curve(folder: Path, kept: list[Latest], ended: bool) -> str:
    path = folder / CURVE
    try:
        lines = curve(folder)
        for one in kept:
            if measured(path, one.curve[0]) != one.curve:
                return f"{path} is not as it was written up to step {one.steps:,}"
    except FileNotFoundError:
        return f"{path} is gone"
    except ValueError as error:
        return str(error)
    if not any(checkpoints(folder / "checkpoints")) and was_saved(lines):
        return f"{path} goes on after a checkpoint, and there is none"
    tokens = 0
    for number, line in enumerate(lines, start=1):
        if line["step"] != number:
            return f"{path}, line {number}: step {line['step']:,}"
        if line["tokens"] <= tokens:
            return f"{path}, line {number}: {line['tokens']:,} target tokens after {tokens:,}"
        tokens = line["tokens"]
    last = kept[0] if kept else None
    if last and (len(lines) < last.steps or lines[last.steps - 1] != last.line):
        return f"{path} has no line of step {last.steps:,} as the checkpoint saw it"
    if ended and not _has_end(folder):
        return f"{path} holds more than the run wrote, behind its last step"
    return ""
