"""What the page of lesson 05 shows beside its exercises: a first gradient, a timeline."""

import torch

from batchlab import batches
from batchlab.classroom import script
from batchlab.exercises.accumulation.watch import timeline

__all__ = [
    "collate",
    "cut",
    "first_gradient",
    "timeline",
]


def cut(document):
    """A document at most as long as a row of the script."""
    return {name: document[name][: script.LENGTH] for name in ("input_ids", "labels")}


collate = batches.collator("padded")  # a rectangle as wide as the longest document


def first_gradient(**replaced):
    """The gradient that the script's optimizer is given at its first step, before clipping."""
    from transformers import TrainerCallback

    seen = []

    class Look(TrainerCallback):
        def on_pre_optimizer_step(self, args, state, control, model=None, **_):
            seen.append(torch.cat([one.grad.flatten() for one in model.parameters()]).clone())

    script.run(max_steps=1, max_grad_norm=0.0, callbacks=[Look()], **replaced)
    return seen[0]
