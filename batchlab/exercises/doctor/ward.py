"""Seven runs: the cause of each, and a range that holds what its cure gains."""

import dataclasses

from batchlab.classroom import plain
from batchlab.exercises import Exercise
from batchlab.exercises.doctor import planted
from batchlab.exercises.doctor.sweeps import CAUSES, evidence

WIDEST = 1.2 + 1e-9  # (1 + high) / (1 + low); 1.2 / 1.0 is one of them
SATURATED = 0.05 + 1e-9  # what more rows gain at most
SHARE = "that is the share of the step: what is left is faster by more"
FEWEST = "half the rows, not the fewest"
STILL = "saturation: what twice the rows gain is 0.05 at most"
ENDED = "twice the rows halve the launches, they do not end them"


def ward():
    """{run: (cause, lowest gain, highest gain)} for the runs A to G."""
    return {
        "A": ("input", 0.85, 1.0),
        "B": ("padding", 1.0, 1.25),
        "C": ("launch", 0.12, 0.18),
        "D": ("memory", 0.58, 0.72),
        "E": ("saturation", 0.0, 0.03),
        "F": ("host", 1.0, 1.15),
        "G": ("recomputation", 0.25, 0.35),
    }


def fault(got):
    """The first run whose cause is wrong; if none is, the first whose range is."""
    runs = planted.ward()
    if missing := [name for name in runs if name not in got]:
        return f"no run {missing[0]}; asked are the runs {', '.join(runs)}"
    for name, run in runs.items():
        if isinstance(got[name], str) or len(got[name]) != 3:
            return f"run {name}: {plain.shown(got[name])}"
        if str(got[name][0]).strip().casefold() != run.cause:
            return f"run {name}: {str(got[name][0])[:40]!r}"
    for name, run in runs.items():
        low, high = _ends(got[name])
        if range_fault(run, low, high):
            return f"run {name}: {run.cause}, from {low:g} to {high:g}"
    return ""


def explain(got):
    """What the sweep says against a cause, or what is wrong with a range."""
    runs = planted.ward()
    if any(name not in got for name in runs):
        return "a dictionary: one entry for each run"
    for name, run in runs.items():
        if isinstance(got[name], str) or len(got[name]) != 3:
            return "a tuple is asked for each run: (cause, lowest gain, highest gain)"
        said = str(got[name][0]).strip().casefold()
        if said not in CAUSES:
            return f"a cause is one of {', '.join(CAUSES)}"
        if said != run.cause:
            return evidence(run.sweep(), said)
    for name, run in runs.items():
        if said := range_fault(run, *_ends(got[name])):
            return said
    return ""


def range_fault(run, low, high):
    """What is wrong with a range of gains of a run; empty if it holds the gain."""
    gain = run.gain
    if not -1 < low <= high:
        return "the lowest gain comes first, and no gain is below -1"
    if low > 4 * gain and low > 1.5:
        return "in per cent: fractions are asked, 0.2 for 20 %"
    if 1 + high > WIDEST * (1 + low):
        return "too wide to be of use: (1 + high) / (1 + low) is at most 1.2"
    if run.cause == "saturation" and high > SATURATED:
        return STILL
    if low <= gain <= high:
        return ""
    for value, thought in _wrong(run).items():
        if low <= value <= high and abs(value) > 0.05:
            return thought
    return f"the measured gain lies {'above' if gain > high else 'below'} your range"


def _wrong(run):
    """What else is taken for the gain of a run, with the thought."""
    gain = run.gain
    known = {
        1 + gain: "that is the speed-up: the gain is 1 less",
        gain / (1 + gain): SHARE,
        1 / (1 + gain) - 1: "upside down: with the cure over without it, minus 1",
    }
    if run.cause == "memory":
        rate = {one["rows"]: one["real_tokens"] / one["seconds"] for one in run.sweep()}
        known[rate[min(rate)] / rate[max(rate)] - 1] = FEWEST
    if run.cause == "launch":
        free = dataclasses.replace(run, fixed=0.0)
        known[run.whole_seconds(run.grid[-1]) / free.whole_seconds(run.grid[-1]) - 1] = ENDED
    return known


def _ends(triple):
    if any(isinstance(one, str) for one in triple[1:]):
        raise ValueError("lowest and highest gain are numbers, no texts")
    return tuple(map(float, triple[1:]))


exercise = Exercise(
    ward,
    points=3,
    asked=lambda: "causes of the runs A to G, and ranges of what their cures gain",
    fault=fault,
    explain=explain,
    hints=(
        "the largest gain of each run in the table above, and the retries, tell the cause",
        "the table has the lowest and the highest round: go a little beyond both",
        "run D: useful tokens per second with 8 rows over those with 16, minus 1",
    ),
    shown=[()],
    passed="Right: utilisation was near 100 % in five of seven, and each cure gained what you said.",
)
LEFT = "a cure of this run gains more than 5 %"
RETRIED = "the allocator retried with the most rows: no price knows what that takes"
for _thought, _old, _new in [
    (LEFT, '"padding", 1.0', '"saturation", 1.0'),
    (LEFT, '"input"', '"saturation"'),
    (LEFT, '"launch"', '"saturation"'),
    ("nothing waits for input here: the steps stall", '"host"', '"input"'),
    (RETRIED, '"memory"', '"padding"'),
    (RETRIED, '"memory"', '"saturation"'),
    ("twice the rows gain less than 5 %: nothing is left", '"saturation"', '"launch"'),
    ("checkpointing is off here: nothing is recomputed", '"padding"', '"recomputation"'),
    ("the allocator never retried in this run", '"recomputation"', '"memory"'),
    (f"a cause is one of {', '.join(CAUSES)}", '"padding"', '"bad luck"'),
    (SHARE, '"host", 1.0, 1.15', '"host", 0.48, 0.55'),
    ("in per cent: fractions are asked, 0.2 for 20 %", "0.25, 0.35", "25, 29"),
    ("too wide to be of use: (1 + high) / (1 + low) is at most 1.2", "1.0, 1.25", "0.5, 2"),
    (STILL, "0.0, 0.03", "0.0, 0.19"),
    ("the lowest gain comes first, and no gain is below -1", "0.12, 0.18", "0.18, 0.12"),
    (ENDED, "0.12, 0.18", "0.33, 0.42"),
    ("that is the speed-up: the gain is 1 less", "0.58, 0.72", "1.58, 1.72"),
    (FEWEST, "0.58, 0.72", "0.3, 0.4"),
    ("the measured gain lies below your range", "0.85, 1.0", "0.95, 1.0"),
    ("lowest and highest gain are numbers, no texts", "0.85, 1.0", "'0.85', '1.0'"),
    ("a run is left out", '"F": ("host", 1.0, 1.15),', ""),
]:
    exercise.edit(_thought, [(_old, _new)])


@exercise.mistake
def causes_alone():
    """a tuple is asked for each run: (cause, lowest gain, highest gain)"""
    return dict.fromkeys("ABCDEFG", "input")


@exercise.style
def lists():
    """lists, other ranges"""
    return {
        "A": ("input", 0.9, 0.94),
        "B": ["Padding", 1.09, 1.18],
        "C": ("launch", 0, 0.2),
        "D": ["memory", 0.6, 0.69],
        "E": (" saturation", 0.0, 0.03),
        "F": ("host", 1.0, 1.15),
        "G": ("recomputation", 0.3, 0.32),
    }
