"""What later lessons take from this one: the collator, where a learner's still passes."""

from typing import Any

from batchlab.classroom import mine
from batchlab.exercises.padding import collate as _collate

__all__ = ["collator"]


def collator(**options: Any) -> Any:
    """A data_collator for `Trainer`: the collator of lesson 02, the learner's if there is one."""
    collate = mine.take("02_padding", "collate", otherwise=_collate.collate, tries=_passes)

    import torch

    def tensors(documents: Any) -> Any:
        arrays = collate(documents, pad_id=0, **options)[0]
        return {name: torch.as_tensor(one) for name, one in arrays.items()}

    return tensors


def _passes(yours: Any) -> None:
    _collate.exercise.check(yours)
