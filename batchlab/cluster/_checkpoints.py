"""Checkpoints of a run over processes: whole or not there, for any number of processes.

    model, optimizer, finished steps  ->  a folder;  the newest whole one  ->  model, optimizer

PyTorch's distributed checkpoint holds the tensors, so a run that was saved by two processes goes
on with three. A record that proves them is written after all processes have written theirs.
"""

import contextlib
import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.checkpoint.filesystem import FileSystemReader
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_state_dict,
    set_state_dict,
)
from torch.distributed.checkpoint.state_dict_loader import load
from torch.distributed.checkpoint.state_dict_saver import save

from batchlab.cluster._own import note
from batchlab.cluster._pointer import (
    Latest,
    checkpoints,
    cleared,
    files_of,
    folders,
    is_copy,
    point,
    whole,
)

__all__ = ["name", "rely", "resume", "write"]

TRAINED = StateDictOptions(ignore_frozen_params=True, strict=False)  # what is frozen is loaded anew


class Rows(Protocol):
    """What a run trains on, as far as a checkpoint must agree with it."""

    fingerprint: str

    def require(self, states: list[Any], checkpoint: Path) -> None: ...


def name(steps: int) -> str:
    """The folder of a checkpoint."""
    return f"step_{steps:08d}"


def write(folder: Path, model: nn.Module, optimizer: torch.optim.Optimizer, steps: int) -> None:
    """Write what a checkpoint holds; every process calls this."""
    path = folder / name(steps)
    if dist.get_rank() == 0:
        _remove(path)  # of an earlier life, perhaps of more processes
    dist.barrier()
    weights, states = _states(model, optimizer)
    with _in_one_line(path, OSError):
        save({"model": weights, "optimizer": states}, checkpoint_id=path)


def laid_in(checkpoint: Path) -> set[str]:
    """Files that the save did not write: somebody was quicker than the record."""
    told = FileSystemReader(checkpoint).read_metadata().storage_data.values()
    return {*files_of(checkpoint)} - {".metadata", *(one.relative_path for one in told)}


def rely(folder: Path, on: Latest) -> None:
    """Name a checkpoint as the last one; then remove all but it and the one before."""
    older = (one for one in checkpoints(folder) if isinstance(one, Latest) and one.steps < on.steps)
    before = next(older, None)
    point(folder, on)
    kept = {on.name, before.name if before else ""}
    for old in folders(folder):
        if old.name not in kept and not is_copy(old):
            _remove(old)


def resume(
    folder: Path, model: nn.Module, optimizer: torch.optim.Optimizer, rows: Rows, run: str
) -> tuple[Latest | None, list[str]]:
    """Load the newest whole checkpoint; returns it, and what is wrong with newer ones.

    One of another run counts as damaged, one that was trained on other rows is refused, and so is
    a world whose processes have read other documents.
    """
    found, faults = _agreed(folder, rows.fingerprint, run)
    if found is None:
        return None, faults
    rows.require(found.lanes, folder / found.name)
    if found.data != rows.fingerprint:
        raise ValueError(
            f"{folder} holds a run of other documents or of another tokenizer (fingerprint "
            f"{found.data}, now {rows.fingerprint}): {found.run}; give another folder, or bring "
            "those back"
        )
    weights, states = _states(model, optimizer)
    with _in_one_line(folder / found.name, ValueError):
        load({"model": weights, "optimizer": states}, checkpoint_id=folder / found.name)
    own = {"model_state_dict": weights, "optim_state_dict": states}
    set_state_dict(model, optimizer, **own, options=TRAINED)
    if faults and dist.get_rank() == 0:
        point(folder, found)
    return found, faults


def _states(model: nn.Module, optimizer: torch.optim.Optimizer) -> tuple[Any, Any]:
    """Weights that are trained, and what the optimizer keeps of them."""
    weights, states = get_state_dict(model, optimizer, options=TRAINED)
    named = getattr(model, "module", model).named_parameters(remove_duplicate=False)
    for name, one in named:
        if not one.requires_grad:
            weights.pop(name, None)  # a tied weight has two names, and torch leaves out one
    return weights, states


def _agreed(folder: Path, documents: str, run: str) -> tuple[Latest | None, list[str]]:
    """What the first process found whole, on every process; all have the same documents."""
    told: list[Any] = [None, [], "", documents]
    if dist.get_rank() == 0:
        try:
            told[:2] = whole(folder, run)
        except ValueError as error:
            told[2] = str(error)
    dist.broadcast_object_list(told)
    if told[2]:
        raise ValueError(told[2])
    if told[3] != documents:
        raise ValueError("the documents changed while the processes read them: start again")
    return told[0], told[1]


def _remove(checkpoint: Path) -> None:
    """Remove a checkpoint; what somebody laid into it stays beside the others, under a new name."""
    if theirs := cleared(checkpoint):
        left = checkpoint.with_name(f"{checkpoint.name}.left_{secrets.token_hex(4)}")
        with contextlib.suppress(OSError):
            checkpoint.rename(left)
            note(checkpoint.parent.parent, f"{left} keeps {', '.join(theirs)}, which no run wrote")


@contextlib.contextmanager
def _in_one_line(path: Path, kind: type[Exception]) -> Iterator[None]:
    """Torch's error of a checkpoint is no Exception and has many lines: an error of one.

    What cannot be written is asked of the disk: torch says of a full one that places do not agree.
    """
    try:
        yield
    except CheckpointException as error:
        why = next(iter(error.failures.values()))[0]
        if kind is OSError:
            why = _refusal(path.parent) or why
        said = f"{path}: {type(why).__name__}: {why}".splitlines()[0]
        if "unexpected pos" in said:
            said += " (torch says so where a disk is full, or a file may not grow further)"
        raise kind(said) from None


def _refusal(folder: Path) -> OSError | None:
    """What the disk says to one more mebibyte."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(2**20))
    except OSError as error:
        return error
    return None
