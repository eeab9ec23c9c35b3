"""Cells of a machine whose prices are known, for the tests of what reads cells."""

import numpy as np

from batchlab import records
from batchlab.records import Cell

FIXED, SLOT, PAIR = 0.030, 20e-6, 5e-9
ROWS = (1, 2, 4, 8)


def cell(rows, *, checkpointing=False, noise=0.0, fixed=FIXED, steps=6, share=1 / 3, **extra):
    """16 documents a step, in micro-batches of widths that vary."""
    rng = np.random.default_rng(rows)
    micro = 16 // rows
    widths = rng.integers(200, 1200, size=(steps, micro))
    slots = (rows * widths).sum(axis=1)
    pairs = (rows * widths**2).sum(axis=1)
    rate = 1 + share * checkpointing
    seconds = rate * (fixed * micro + SLOT * slots + PAIR * pairs)
    seconds = seconds * (1 + noise * rng.standard_normal(steps))
    record = {
        "kind": "cell", "status": "ok", "layout": "padded", "rows": rows, "steps": steps,
        "accumulation": micro, "data_parallel": 1, "precision": "float32",
        "model_fingerprint": "m", "data_fingerprint": "d", "checkpointing": checkpointing,
        "micro_batches": micro * steps, "documents": 16 * steps,
        "real_tokens": int(slots.sum() * 0.9), "slots": int(slots.sum()),
        "real_pairs": int(pairs.sum() * 0.9), "slot_pairs": int(pairs.sum()),
        "step_slots": slots.tolist(), "step_slot_pairs": pairs.tolist(),
        "step_seconds": seconds.tolist(), "seconds": float(seconds.sum()), **extra,
    }  # fmt: skip
    return records.cell(record)


def change(one: Cell, **new) -> Cell:
    """The same cell with other entries in its line."""
    return records.cell(records.as_record(one) | new)


def whole(one: Cell, **new) -> Cell:
    """The same cell without its step lists."""
    return change(one, step_seconds=None, step_slots=None, step_slot_pairs=None, **new)


def ended(rows, **more):
    """A cell that ran out of memory."""
    line = {
        "status": "out_of_memory", "rows": rows, "layout": "padded", "accumulation": 16 // rows,
        "checkpointing": False, "precision": "float32", "model_fingerprint": "m",
        "data_fingerprint": "d",
    }  # fmt: skip
    return records.cell(line | more)


def at_speed(one, factor):
    """The same cell on a machine that was slower by a factor while it ran."""
    each = [seconds * factor for seconds in one.step_seconds]
    return change(one, seconds=one.seconds * factor, step_seconds=each)


def with_side(one, **seconds_per_step):
    """The same cell, made longer by measured side parts."""
    more = sum(seconds_per_step.values())
    named = {name: seconds * one.steps for name, seconds in seconds_per_step.items()}
    each = [seconds + more for seconds in one.step_seconds]
    return change(one, step_seconds=each, seconds=one.seconds + more * one.steps, **named)


def full(rows, **options):
    """A cell whose rectangles hold no padding."""
    one = cell(rows, **options)
    return change(one, real_tokens=one.slots, real_pairs=one.slot_pairs)


def outlier(rows, **options):
    """One long document a batch: the others' rows are nearly empty."""
    one = cell(rows, **options)
    return change(one, real_tokens=int(one.slots / rows), real_pairs=int(one.slot_pairs / rows))


def sweep(make=cell, **options):
    """A cell for each of several rows, hardly bound by launches."""
    return [make(rows, fixed=0.001, **options) for rows in ROWS]


def visits(rounds=2, **options):
    """Each cell so many times: the second round is a tenth slower."""
    slower = [1 + 0.1 * n for n in range(rounds)]
    return [at_speed(cell(rows, **options), factor) for factor in slower for rows in ROWS]
