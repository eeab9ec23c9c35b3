"""The mask of a packed row: who may look at whom."""

import numpy as np

from batchlab.exercises import Exercise


def may_look(position_ids):
    """(slots, slots) truth values: may the slot of this row look at the slot of this column?"""
    segment = np.cumsum(np.asarray(position_ids) == 0)
    slot = np.arange(len(segment))
    return (segment[:, None] == segment) & (slot[:, None] >= slot)


def asked(position_ids):
    some = f"{position_ids}" if len(position_ids) < 20 else f"{str(position_ids[:12])[:-1]}, ...]"
    return f"may_look({some}), {len(position_ids)} slots"


def positions(*sizes):
    """The positions of segments of these sizes."""
    return [slot for size in sizes for slot in range(size)]


def drawn(rng):
    for sizes in ([1, 1, 1], [4, 1, 2], [90], [40, 9, 130, 1, 40], [1] * 60 + [2] * 40):
        yield (positions(*sizes),)
    for _ in range(10):
        yield (positions(*rng.integers(1, 5, 5).tolist()),)


exercise = Exercise(
    may_look,
    asked=asked,
    drawn=drawn,
    hints=(
        "number the segments: how many zeros stand at or before this slot?",
        "two conditions must both hold: the same segment, and the column is not behind the row",
        "np.cumsum counts zeros, and numbers[:, None] == numbers compares each with each",
    ),
    shown=[
        (positions(3, 2),),
        (positions(1, 2, 1, 1),),
        (positions(*[1] * 300),),
    ],
    passed="Right: blocks on the diagonal, causal inside.",
)
SEGMENT, SAME = "np.asarray(position_ids) == 0", "(segment[:, None] == segment)"
AFTER, RESULT = "(slot[:, None] >= slot)", "(segment[:, None] == segment) & (slot[:, None] >= slot)"
AT = "at = np.asarray(position_ids)\n    return "
TRUTH = "truth values are asked: a comparison gives them, a product or 0 and -inf does not"
for _thought, *_changes in [
    (
        "causal, but the second document sees the first (of a list, == 0 is False)",
        (SAME + " & ", ""),
    ),
    (
        "of a list, == 0 is one False: np.asarray(position_ids) first",
        (SEGMENT, "position_ids == 0"),
    ),
    ("documents apart, but a token sees what comes after it", (" & " + AFTER, "")),
    ("turned over: the row says who looks, the column at whom", (">= slot", "<= slot")),
    ("a slot may look at itself", (">= slot", "> slot")),
    ("the opposite: True is for what may be seen", (RESULT, f"~({RESULT})")),
    (
        "positions compared: documents share positions",
        ("return " + RESULT, AT + "at[:, None] >= at"),
    ),
    (
        "positions alone do not tell documents apart",
        ("return " + RESULT, AT + "(at[:, None] >= at) & " + AFTER),
    ),
    (
        "a border is where a 0 stands, not only where positions fall",
        (SEGMENT, "np.diff(position_ids, prepend=0) < 0"),
    ),
    (
        "only the first border: every 0 begins a segment",
        (f"np.cumsum({SEGMENT})", f"np.minimum(np.cumsum({SEGMENT}), 2)"),
    ),
    (
        "segments by turns: the third is not the first",
        (f"np.cumsum({SEGMENT})", f"np.cumsum({SEGMENT}) % 2"),
    ),
    ("later documents are seen", (RESULT, "segment[:, None] <= segment")),
    (
        "the first token of a segment is seen, too",
        ("return " + RESULT, AT + RESULT + " & (at > 0)"),
    ),
    (
        "the first token of a segment is seen by those behind it",
        (
            "return " + RESULT,
            AT + RESULT + " & ((at > 0) | (slot[:, None] == slot))",
        ),
    ),
    (
        "the last segment is one as any other, tail or not",
        (RESULT, RESULT + " & (segment < segment[-1])[:, None]"),
    ),
    (
        "segments counted in 8 bits: the 257th gets the number of the first",
        (SEGMENT, SEGMENT + ", dtype=np.uint8"),
    ),
    (TRUTH, (RESULT, f"({RESULT}).astype(np.int64)")),
    (TRUTH, (RESULT, f"np.where({RESULT}, 0.0, -np.inf)")),
]:
    exercise.edit(_thought, _changes)
exercise.edit(
    "[[False] * n] * n is one list n times: make each row anew, [[False] * n for _ in range(n)]",
    [("return " + RESULT, "return [(" + RESULT + ").any(axis=0).tolist()] * len(slot)")],
)
exercise.edit(
    "the positions are numbered over in place",
    [
        (
            "    slot = ",
            "    for place, number in enumerate(segment):\n"
            "        position_ids[place] = int(number)\n    slot = ",
        )
    ],
    says="changed",
)


@exercise.style
def begins(position_ids):
    """a double loop, lists of truth values"""
    start = [slot - position for slot, position in enumerate(position_ids)]
    slots = range(len(start))
    return [[start[q] == start[k] and k <= q for k in slots] for q in slots]


@exercise.style
def blocks(position_ids):
    """slice by slice"""
    mask = np.zeros((len(position_ids),) * 2, dtype=bool)
    for i, p in enumerate(position_ids):
        mask[i, i - p : i + 1] = True
    return mask


@exercise.style
def tensors(position_ids):
    """PyTorch"""
    import torch

    segment = (torch.tensor(position_ids) == 0).cumsum(0)
    return (segment[:, None] == segment[None, :]).tril()
