"""Find rows for code that you run: fewer rows and more accumulation until the step fits.

    your step, its documents, the plan to keep  ->  the plan of the same step that fits

Others retry with fewer rows alone, and the step shrinks without a word (transformers'
`auto_find_batch_size`, accelerate's `find_executable_batch_size`). Here every try takes the same
documents: only how they are cut differs, so an exact step stays the step that it was.
"""

from collections.abc import Callable, Sequence
from typing import Any

from batchlab import batches, lengths, plan
from batchlab.counts import MicroBatch
from batchlab.memory.limits import collect_memory, out_of_memory
from batchlab.plan import Plan

__all__ = ["find_rows"]


def find_rows(
    step: Callable[[list[MicroBatch]], Any],
    documents: Sequence[Any],
    *,
    keep: Plan,
    device: str = "cpu",
    min_over_processes: Callable[[int], int] = int,
    progress: Callable[[Plan, str], None] | None = None,
) -> Plan:
    """The plan with the most rows, up to those of `keep`, whose step does not run out of memory.

    `step` takes a list of micro-batches and may be any code: its forward and backward passes, with
    or without an update. It is called with the longest `documents`, as many as one process has in
    a step, padded and cut into the rows of each candidate; the longest come last, when the
    gradients of the others are there. It must begin by clearing its gradients, since a try that
    failed leaves some.

    device              whose cached memory is given back after a failed try
    min_over_processes  the least of a whole number over all processes, so that all cut alike
    progress            hears each plan that was tried, and "fits" or what the device said

    Raises ValueError where one row does not fit. Errors of another kind pass through.
    """
    count = keep.rows * keep.accumulation
    if len(documents) < count:
        raise ValueError(f"one step has {count:,} documents, got {len(documents):,}")
    tokens = [lengths.of(document) for document in documents]
    longest = max(tokens)
    if longest > keep.length:
        raise ValueError(f"a document has {longest:,} tokens, the plan has {keep.length:,} slots")
    numbers = sorted(range(len(tokens)), key=lambda number: tokens[number])[-count:]
    said = ""
    candidates = plan.splits(
        keep.slots_per_step,
        length=keep.length,
        data_parallel=keep.data_parallel,
        most_rows=keep.rows,
    )
    for candidate in candidates:
        cuts = [numbers[i : i + candidate.rows] for i in range(0, count, candidate.rows)]
        said = _try(step, [batches.padded(documents, cut) for cut in cuts], device)
        if progress:
            progress(candidate, said or "fits")
        if min_over_processes(int(not said)):
            return candidate
    raise ValueError(
        f"not even 1 row of {longest:,} slots fits: {said or 'memory ended on another process'}"
    )


def _try(step: Callable[[list[MicroBatch]], Any], cut: list[MicroBatch], device: str) -> str:
    """Empty where the step fits, else what the device said."""
    try:
        step(cut)
        return ""
    except (RuntimeError, MemoryError) as error:
        if not out_of_memory(error):
            raise
        said = (str(error) or "MemoryError").splitlines()[0]
    collect_memory(device)  # only here are the frames of the failed step gone
    return said
