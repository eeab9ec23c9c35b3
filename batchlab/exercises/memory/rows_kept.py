"""Find the setting: the most rows that fit 24 GiB and keep the step."""

from batchlab import memory, units
from batchlab.classroom import plain
from batchlab.exercises import Exercise
from batchlab.exercises.memory.scenes import qwen_half_b
from batchlab.plan import Plan

BUDGET, LENGTH, SEQUENCES = 24 * 2**30, 2048, 40
ROWS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 20)
STATES = {
    "8: all in bf16": "bf16",
    "16: mixed": "mixed",
    "18: mixed, fp32 gradients": "mixed_fp32_gradients",
}
ALIVE = {"all": None, "1,024 slots": 1024, "128 slots": 128}
ASKED = ("16: mixed", "128 slots")


def rows_kept():
    """The most rows on the slider that fit 24 GiB and divide a step of 40 sequences."""
    return 5


def peak(rows, states, alive):
    """The bill of Qwen2.5-0.5B with rows of 2,048 slots."""
    bill = memory.estimate(qwen_half_b(), Plan(rows, 1, 1, LENGTH), states=STATES[states])
    if (slots := ALIVE[alive]) is None:
        return bill
    logits = int(bill.logits * (slots / (rows * LENGTH)))
    return memory.Memory(bill.parameters, bill.gradients, bill.optimizer, bill.activations, logits)


def fits(rows, states, alive):
    return peak(rows, states, alive).total_bytes <= BUDGET


def best():
    """The most rows that fit and divide the step."""
    return max(rows for rows in ROWS if SEQUENCES % rows == 0 and fits(rows, *ASKED))


def why(got):
    """What is wrong with a number of rows; empty if it is right."""
    try:
        rows = plain.number(got)
    except plain.NotPlain as problem:
        return problem.thought or "one number is asked: rows"
    if rows not in ROWS:
        return "the slider does not offer it: asked is a place of the slider"
    if not fits(int(rows), *ASKED):
        return "these rows need more than 24 GiB at 16 bytes a weight"
    if SEQUENCES % rows:
        return f"it fits, but {SEQUENCES} sequences are no whole number of such micro-batches"
    if rows == best():
        return ""
    if rows == 1 << (best().bit_length() - 1):
        return "it fits and divides, but more rows do, too: a power of two is a habit, not a rule"
    return "it fits and divides, but more rows do, too"


def scene(rows, states, alive):
    """What the finder shows beside its sliders."""
    bill = peak(rows, states, alive)
    parts = {
        "states": bill.states_bytes,
        "activations": bill.activations,
        "logits": bill.logits,
    }
    left, times = BUDGET - bill.total_bytes, SEQUENCES / rows
    facts = {name: units.size(value) for name, value in parts.items()}
    facts["of 24 GiB"] = f"{units.size(abs(left))} {'left' if left >= 0 else 'too much'}"
    facts["accumulation"] = f"{times:.3g}" + ("" if times.is_integer() else ": does not divide")
    strips = [[(number, round(value / 2**20))] for number, value in enumerate(parts.values())]
    alt = "; ".join(f"{name} {units.size(value)}" for name, value in parts.items())
    return {"facts": facts, "rows": strips, "alt": f"Memory of a step: {alt}."}


def finder():
    """Rows, states and alive logits against 24 GiB; the goal keeps the step."""
    from batchlab import widgets

    controls = {
        "rows": ("rows of 2,048 slots", list(ROWS)),
        "states": ("bytes a weight", list(STATES)),
        "alive": ("logits alive at once", list(ALIVE)),
    }
    return widgets.finder(
        "Qwen2.5-0.5B on 24 GiB",
        controls,
        scene,
        goal=f"16 bytes a weight, 128 slots of logits: the most rows that fit and divide {SEQUENCES}.",
        where=lambda rows, states, alive: (rows, states, alive) == (best(), *ASKED),
        down=lambda bars: f"{bars} parts",
        across=lambda mebibytes: units.size(mebibytes * 2**20),
    )


exercise = Exercise(
    rows_kept,
    hints=(
        "set 16 bytes and 128 slots first, then raise the rows",
        "the widget says what is left, and the accumulation",
    ),
    asked=lambda: "the most rows that fit 24 GiB and divide 40 sequences",
    shown=[()],
    fault=lambda got: plain.shown(got) if why(got) else "",
    explain=why,
    passed="Right: and it is no power of two. Rows x length is one dimension of the product in "
    "every linear layer.",
)
for _rows in (7, 4, 8, 1, 6, 11, "5", (5, 8)):
    exercise.edit(why(_rows), [("return 5", f"return {_rows!r}")])


@exercise.style
def as_a_float():
    """as a float"""
    return 5.0


@exercise.style
def numpy():
    """NumPy"""
    import numpy as np

    return np.int64(5)
