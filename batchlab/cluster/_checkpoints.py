"""Checkpoints of a run over processes: whole or not there, for any number of processes.

    model, optimizer, finished steps  ->  a folder;  the latest one  ->  model, optimizer, steps

PyTorch's distributed checkpoint holds the tensors, so a run that was saved by two processes goes
on with three. A pointer to the latest is written after all processes have written theirs.
"""

import shutil
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.checkpoint.state_dict_loader import load
from torch.distributed.checkpoint.state_dict_saver import save as write

from batchlab.cluster._pointer import Latest, latest, point

__all__ = ["resume", "save"]

KEPT = 2


def save(
    folder: Path,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    steps: int,
    run: str,
    lanes: list[list[int]],
    data: str,
) -> None:
    """Write a checkpoint after `steps` finished steps; every process calls this."""
    name = f"step_{steps:08d}"
    weights, states = get_state_dict(model, optimizer)
    write({"model": weights, "optimizer": states}, checkpoint_id=folder / name)
    if dist.get_rank() == 0:
        point(folder, Latest(name, steps, run, lanes, data))
        for old in sorted(folder.glob("step_*"))[:-KEPT]:
            shutil.rmtree(old)
    dist.barrier()


def resume(
    folder: Path, model: nn.Module, optimizer: torch.optim.Optimizer, data: str
) -> Latest | None:
    """Load the latest checkpoint and say which it was; None if there is none.

    One that was trained on documents with another fingerprint is refused.
    """
    found = latest(folder)
    if found is not None:
        if found.data and found.data != data:
            raise ValueError(
                f"{folder} holds a run of other documents under the same name (fingerprint "
                f"{found.data}, now {data}); give another folder, or bring those documents back"
            )
        weights, states = get_state_dict(model, optimizer)
        load({"model": weights, "optimizer": states}, checkpoint_id=folder / found.name)
        set_state_dict(model, optimizer, model_state_dict=weights, optim_state_dict=states)
    return found
