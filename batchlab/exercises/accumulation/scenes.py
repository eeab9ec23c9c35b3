"""What the page of lesson 05 shows beside its exercises: ways to take a step, a timeline."""

import torch

from batchlab import batches, loop
from batchlab.classroom import script
from batchlab.exercises.accumulation import targets
from batchlab.exercises.accumulation.watch import timeline

__all__ = [
    "collate",
    "cut",
    "divided_twice_step",
    "first_gradient",
    "popular_step",
    "timeline",
    "undivided_step",
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


def popular_step(model, optimizer, micro_batches):
    """The step of many tutorials: each micro-batch's mean, divided by their number."""
    return _means_divided_by(len(micro_batches), model, optimizer, micro_batches)


def undivided_step(model, optimizer, micro_batches):
    """A step that adds the micro-batches' means: what a head does that drops the token count."""
    return _means_divided_by(1, model, optimizer, micro_batches)


def divided_twice_step(model, optimizer, micro_batches):
    """A step that divides the token mean by the accumulation once more; its loss looks right."""
    tokens, reported = sum(map(targets, micro_batches)), 0.0
    optimizer.zero_grad()
    for one in micro_batches:
        loss = loop.summed_loss(loop.logits_of(model, one), one["labels"]) / tokens
        (loss / len(micro_batches)).backward()
        reported += loss.item()
    optimizer.step()
    return reported


def _means_divided_by(parts, model, optimizer, micro_batches):
    reported = 0.0
    optimizer.zero_grad()
    for one in micro_batches:
        loss = loop.summed_loss(loop.logits_of(model, one), one["labels"]) / targets(one)
        (loss / parts).backward()
        reported += loss.item() / parts
    optimizer.step()
    return reported
