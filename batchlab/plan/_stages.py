"""Stages after pretraining, whose sizes count examples: a pair of answers is two sequences.

    Launch as its sizes stand, stage  ->  Launch in sequences, with a note

Words
    pair   a prompt with the answer that was preferred and the one that was not
"""

from dataclasses import replace

from batchlab.plan._settings import Launch

__all__ = ["of_pairs"]


def of_pairs(launch: Launch, stage: str) -> Launch:
    """The launch whose rows counted pairs: a micro-batch holds both answers of each."""
    plan = launch.plan
    pairs = plan.sequences_per_step
    note = (
        f"{stage}: a step sees {pairs:,} pairs of 2 sequences, {2 * plan.rows:,} to a micro-batch"
    )
    return replace(launch, plan=replace(plan, rows=2 * plan.rows), notes=(*launch.notes, note))
