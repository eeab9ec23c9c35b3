"""What the page of lesson 05 shows beside its exercises: ways to take a step, ranks, a timeline."""

from batchlab import loop
from batchlab.classroom.verdict import CheckFailed
from batchlab.exercises.accumulation import targets
from batchlab.exercises.accumulation.unfair_rows import finder
from batchlab.exercises.accumulation.watch import timeline
from batchlab.exercises.accumulation.world import at_once
from batchlab.exercises.padding import collate as _padding

__all__ = [
    "at_once",
    "collate",
    "collates",
    "divided_twice_step",
    "finder",
    "popular_step",
    "timeline",
    "undivided_step",
]
collate = _padding.collate


def collates(yours):
    """Whether a learner's collator of lesson 02 still passes its shown cases."""
    try:
        _padding.exercise.check(yours)
    except CheckFailed:
        return False
    return True


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
