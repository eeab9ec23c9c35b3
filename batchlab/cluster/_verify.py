"""A run's folder read again: do its curve, its checkpoints and their records agree?

folder  ->  what was looked at, each with what is wrong or nothing
"""

import contextlib
import json
from dataclasses import dataclass
from pathlib import Path

from batchlab.cluster import _alive as alive
from batchlab.cluster import _lock as lock
from batchlab.cluster._curve import CURVE, curve, legible, was_saved
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
    copies = _of_copies(folder, found)
    looks = [
        Look(
            f"{one.name}, {len(one.files)} files",
            damage(saved / one.name, one.files) or (COPY if one in copies else ""),
        )
        if isinstance(one, Latest)
        else Look("record of a checkpoint", one)
        for one in found
    ]
    known = {one.name for one in found if isinstance(one, Latest)}
    looks += [
        Look(path.name, found=HALF)
        for path in folders(saved)
        if path.name not in known and not (path / OWN).exists()
    ]
    looks += _of_model(folder / "model", latest(saved))
    if fault := _fault_of_asked(folder):
        looks.append(Look(alive.ASKED, fault))
    fault = _fault_of_curve(folder, [one for one in found if one not in copies])
    return [*looks, Look(CURVE, fault, WRITTEN if fault else f"{WRITTEN}{_limit(folder)}")]


def _of_copies(folder: Path, found: list[Latest | str]) -> list[Latest]:
    """Older checkpoints of which the curve is another one, though it is that of the newest."""
    known = [one for one in found if isinstance(one, Latest)]

    def agrees(one: Latest) -> bool:
        return measured(folder / CURVE, one.curve[0]) == one.curve

    with contextlib.suppress(OSError):
        if known and agrees(max(known, key=lambda one: one.steps)):
            return [one for one in known if not agrees(one)]
    return []


def is_done(folder: Path) -> bool:
    """Whether the last checkpoint is of the step that the folder was last asked for."""
    last = latest(folder / "checkpoints")
    with contextlib.suppress(OSError, ValueError):
        return last is not None and bool(last.steps >= alive.asked(folder)["steps"])
    return False


def _of_model(path: Path, last: Latest | None) -> list[Look]:
    """The trained model, if there is one: a run that goes on leaves an older one in its place."""
    steps, ended = last.steps if last else 0, is_done(path.parent)
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
    lines = legible(path.parent)  # a cut one has a fault of its own
    if not fault and line and lines[of - 1 : of] not in ([], [line]):
        fault = f"{path} is of another training: its last step is none of this curve: {ANEW}"
    return [Look("model", fault, f"{WRITTEN}, {after}")]


def _fault_of_asked(folder: Path) -> str:
    path = folder / alive.ASKED
    try:
        alive.asked(folder)
    except FileNotFoundError:
        return f"{path} is gone, so nothing says how many steps were asked for: {ANEW}"
    except OSError as error:
        return f"{path}: {error.strerror}"
    except ValueError:
        return f"{path} is damaged, so nothing says how many steps were asked for: {ANEW}"
    return ""


def _limit(folder: Path) -> str:
    """Steps after the last checkpoint have no checksum yet."""
    last, steps = latest(folder / "checkpoints"), len(curve(folder))
    proven = last.steps if last else 0
    later = f" up to step {proven:,}; nothing proves the {steps - proven:,} later"
    half = "; its last line has no end: the run was stopped while it wrote it"
    return f"{later if steps > proven else ''}{'' if _has_end(folder) else half}"


def _has_end(folder: Path) -> bool:
    """Whether the last line of the curve is whole."""
    held = (folder / CURVE).read_bytes()
    return not held or held.endswith(b"\n")


def _fault_of_curve(folder: Path, found: list[Latest | str]) -> str:
    path = folder / CURVE
    try:
        lines = curve(folder)
        for one in found:
            if isinstance(one, Latest) and measured(path, one.curve[0]) != one.curve:
                return f"{path} is not as it was written up to step {one.steps:,}"
    except FileNotFoundError:
        return f"{path} is gone"
    except ValueError as error:
        return str(error)
    if not found and was_saved(lines):
        return f"{path} goes on after a checkpoint, and there is none"
    tokens = 0
    for number, line in enumerate(lines, start=1):
        if line["step"] != number:
            return f"{path}, line {number}: step {line['step']:,}"
        if line["tokens"] <= tokens:
            return f"{path}, line {number}: {line['tokens']:,} target tokens after {tokens:,}"
        tokens = line["tokens"]
    last = latest(folder / "checkpoints")
    if last and (len(lines) < last.steps or lines[last.steps - 1] != last.line):
        return f"{path} has no line of step {last.steps:,} as the checkpoint saw it"
    if is_done(folder) and not _has_end(folder):
        return f"{path} holds more than the run wrote, behind its last step"
    return ""
