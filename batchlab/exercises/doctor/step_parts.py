"""The parts of one step: eight, and together they are the measured time."""

import numpy as np

from batchlab.exercises import Exercise
from batchlab.exercises.doctor.visits import visit


def step_parts(visit, fixed, slot):
    """{part: seconds of one step}, at the prices of a micro-batch and of a slot."""
    steps, real = visit["steps"], visit["real_tokens"]
    parts = {
        "useful": slot * real / steps,
        "padding": slot * (visit["slots"] - real) / steps,
        "launch": fixed * visit["micro_batches"] / steps,
    }
    parts["recomputation"] = sum(parts.values()) / 3 if visit["checkpointing"] else 0.0
    for side in ("input", "host", "optimizer"):
        parts[side] = visit[f"{side}_seconds"] / steps
    parts["unexplained"] = visit["seconds"] / steps - sum(parts.values())
    return parts


def asked(one, fixed, slot):
    keys = ("steps", "micro_batches", "slots", "real_tokens", "seconds", "checkpointing")
    said = ", ".join(f"{key} {one[key]}" for key in keys)
    return f"parts at {fixed:g} s a micro-batch, {1e3 * slot:g} ms a slot: {said}"


def drawn(rng):
    for n in range(16):
        slots = int(rng.integers(1000, 99_000))
        one = visit(
            steps=int(rng.integers(1, 9)),
            micro_batches=int(rng.integers(9, 40)),
            slots=slots,
            real_tokens=int(rng.integers(1, slots)) if n % 4 else slots,
            documents=int(rng.integers(40, 90)),
            seconds=float(rng.uniform(1, 9)),
            checkpointing=bool(n % 2),
            **{f"{side}_seconds": float(rng.uniform(0, 2)) for side in SIDES},
        )
        yield one, float(rng.uniform(0, 0.2)) if n % 5 else 0.0, float(rng.uniform(1e-6, 1e-4))


SIDES = ("input", "host", "optimizer")
BY_HAND = visit(
    steps=1, micro_batches=4, slots=5000, real_tokens=3000, documents=9, seconds=2.0,
    input_seconds=0.5, host_seconds=0.1, optimizer_seconds=0.1, checkpointing=True,
)  # fmt: skip
OFF = visit(
    steps=5, micro_batches=11, slots=9001, real_tokens=4002, documents=41, seconds=6.0,
    input_seconds=0.8, host_seconds=0.4, optimizer_seconds=0.2,
)  # fmt: skip
BELOW = visit(
    steps=3, micro_batches=6, slots=7000, real_tokens=1000, documents=24, seconds=2.9,
    input_seconds=0.3, host_seconds=0.6, optimizer_seconds=0.9, checkpointing=True,
)  # fmt: skip

exercise = Exercise(
    step_parts,
    points=2,
    hints=(
        "every total of the visit is divided by its steps",
        "useful + padding + launch, times 1/3 where checkpointing is on",
        "unexplained = seconds / steps - sum of the seven others, with its sign",
    ),
    asked=asked,
    shown=[(BY_HAND, 0.1, 1e-4), (OFF, 0.05, 2e-4), (BELOW, 0.05, 2e-4)],
    drawn=drawn,
    passed="Right: eight parts, and together they are the measured step.",
)
USEFUL, PADDING, LAUNCH = (
    "slot * real / steps",
    'slot * (visit["slots"] - real) / steps',
    'fixed * visit["micro_batches"] / steps',
)
AGAIN, REST = "sum(parts.values()) / 3", 'visit["seconds"] / steps - sum(parts.values())'
BEGIN, STEPS = '    steps, real = visit["steps"], visit["real_tokens"]\n', 'visit["steps"], '
for _thought, *_changes in [
    ("totals: divide by the steps", (STEPS, "1, ")),
    ("per micro-batch: asked is one step", (STEPS, 'visit["micro_batches"], ')),
    ("launch of all steps: divide by the steps", (LAUNCH, 'fixed * visit["micro_batches"]')),
    ("whole numbers by //: divide with /", (LAUNCH, 'fixed * (visit["micro_batches"] // steps)')),
    ("the two prices are swapped", (BEGIN, BEGIN + "    fixed, slot = slot, fixed\n")),
    (
        "useful counts slots: padding would be counted twice",
        (USEFUL, 'slot * visit["slots"] / steps'),
    ),
    (
        "padding counts all slots: take the real tokens off",
        (PADDING, 'slot * visit["slots"] / steps'),
    ),
    (
        "padding is the waste of the whole step: input and optimizer pad nothing",
        (PADDING, '(1 - real / visit["slots"]) * visit["seconds"] / steps'),
    ),
    ("launch is paid for each micro-batch, not once a step", (LAUNCH, "fixed")),
    (
        "launch is paid for each micro-batch, not for each document",
        (LAUNCH, 'fixed * visit["documents"] / steps'),
    ),
    (
        "launch is paid for each micro-batch, not for each row of it",
        (LAUNCH, 'fixed * visit["micro_batches"] * visit["rows"] / steps'),
    ),
    (
        "recomputation repeats padding and launches as well",
        (AGAIN, 'parts["useful"] / 3'),
    ),
    ("recomputation repeats launches as well", (AGAIN, '(parts["useful"] + parts["padding"]) / 3')),
    ("recomputation repeats padding as well", (AGAIN, '(parts["useful"] + parts["launch"]) / 3')),
    (
        "a third of the measured step: only forward and backward are repeated",
        (AGAIN, 'visit["seconds"] / steps / 3'),
    ),
    (
        "a quarter of the measured step: a third of useful, padding and launch",
        (AGAIN, 'visit["seconds"] / steps / 4'),
    ),
    (
        "a quarter: the prices are those without recomputation, it adds a third",
        (AGAIN, "sum(parts.values()) / 4"),
    ),
    (
        "recomputation doubles nothing: one forward pass is a third",
        (AGAIN, "sum(parts.values())"),
    ),
    (
        "recomputation although checkpointing is off",
        (AGAIN + ' if visit["checkpointing"] else 0.0', AGAIN),
    ),
    (
        "recomputation is missing where checkpointing is on",
        (AGAIN + ' if visit["checkpointing"] else 0.0', "0.0"),
    ),
    (
        "input and host in each other's place",
        (
            'visit[f"{side}_seconds"]',
            'visit[{"input": "host", "host": "input"}.get(side, side) + "_seconds"]',
        ),
    ),
    ("nothing is unexplained: the rest is hidden", (REST, "0.0")),
    (
        "the rest without its sign: below zero the prices promise too much",
        (REST, f"abs({REST})"),
    ),
    (
        "a rest below zero is shown, too: else the parts exceed the step",
        (REST, f"max(0.0, {REST})"),
    ),
    ("the whole step is no rest: take the parts off", (REST, 'visit["seconds"] / steps')),
    (
        "the rest is of one step, too: seconds / steps first",
        (REST, 'visit["seconds"] - sum(parts.values())'),
    ),
    (
        "shares: asked are seconds",
        (
            "    return parts",
            '    return {name: one * steps / visit["seconds"] for name, one in parts.items()}',
        ),
    ),
    ("rounded: give all digits", (USEFUL, f"round({USEFUL}, 3)")),
]:
    exercise.edit(_thought, _changes)
for _says, _thought, *_changes in [
    ("missing: ['unexplained']", "the rest is left out", (f'    parts["unexplained"] = {REST}\n', "")),
    ("changed", "the visit is changed", (STEPS, 'visit.pop("steps"), ')),
]:  # fmt: skip
    exercise.edit(_thought, _changes, says=_says)


@exercise.style
def one_by_one(visit, fixed, slot):
    """one after the other"""
    steps = visit["steps"]
    useful = slot * visit["real_tokens"] / steps
    padding = slot * (visit["slots"] - visit["real_tokens"]) / steps
    launch = fixed * visit["micro_batches"] / steps
    again = (useful + padding + launch) / 3 if visit["checkpointing"] else 0
    sides = [visit[name + "_seconds"] / steps for name in ("input", "host", "optimizer")]
    rest = visit["seconds"] / steps - useful - padding - launch - again - sum(sides)
    return {"useful": useful, "padding": padding, "launch": launch, "recomputation": again,
            "input": sides[0], "host": sides[1], "optimizer": sides[2], "unexplained": rest}  # fmt: skip


@exercise.style
def floats_of_numpy(visit, fixed, slot):
    """floats of NumPy"""
    v = {k: np.float64(x) for k, x in visit.items() if not isinstance(x, str)}
    out = dict(unexplained=v["seconds"] / v["steps"])
    out["padding"] = np.float64(slot) * (v["slots"] - v["real_tokens"]) / v["steps"]
    out["launch"] = fixed * v["micro_batches"] / v["steps"]
    out["useful"] = slot * v["real_tokens"] / v["steps"]
    out["recomputation"] = (out["padding"] + out["launch"] + out["useful"]) * v["checkpointing"] / 3
    for k in ("optimizer", "host", "input"):
        out[k] = v[k + "_seconds"] / v["steps"]
    out["unexplained"] -= sum(x for k, x in out.items() if k != "unexplained")
    return out
