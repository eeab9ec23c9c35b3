"""Seven runs, and the cause of each."""

from batchlab.classroom import plain
from batchlab.exercises import Exercise
from batchlab.exercises.doctor import planted
from batchlab.exercises.doctor.sweeps import CAUSES, evidence


def ward():
    """{run: cause} for the runs A to G."""
    return {
        "A": "input",
        "B": "padding",
        "C": "launch",
        "D": "memory",
        "E": "saturation",
        "F": "host",
        "G": "recomputation",
    }


def word(got):
    """A cause as it is compared."""
    return got.strip().casefold() if isinstance(got, str) else ""


def fault(got):
    """The first run whose cause is wrong."""
    runs = planted.ward()
    if missing := [name for name in runs if name not in got]:
        return f"no run {missing[0]}; asked are the runs {', '.join(runs)}"
    wrong = [name for name, run in runs.items() if word(got[name]) != run.cause]
    return f"run {wrong[0]}: {plain.shown(got[wrong[0]])[:40]}" if wrong else ""


def explain(got):
    """What the sweep says against a cause."""
    runs = planted.ward()
    if any(name not in got for name in runs):
        return "a dictionary: one entry for each run"
    for name, run in runs.items():
        if (said := word(got[name])) not in CAUSES:
            return f"a cause is one of {', '.join(CAUSES)}"
        if said != run.cause:
            return evidence(run.sweep(), said)
    return ""


exercise = Exercise(
    ward,
    points=2,
    asked=lambda: "causes of the runs A to G",
    fault=fault,
    explain=explain,
    hints=(
        "begin with `retries`: which run has them?",
        "for the others, look for the largest gain of each run in the table above",
        "where no gain reaches 5 %, nothing is left to cure",
    ),
    shown=[()],
    passed="Right: utilisation was near 100 % in five of seven, and meant something else in each.",
)
LEFT = "a cure of this run gains more than 5 %"
RETRIED = "the allocator retried with the most rows: no price knows what that takes"
NAMES = f"a cause is one of {', '.join(CAUSES)}"
for _thought, _old, _new in [
    (LEFT, '"padding"', '"saturation"'),
    (LEFT, '"input"', '"saturation"'),
    (LEFT, '"launch"', '"saturation"'),
    ("nothing waits for input here: the steps stall", '"host"', '"input"'),
    (RETRIED, '"memory"', '"padding"'),
    (RETRIED, '"memory"', '"saturation"'),
    ("twice the rows gain less than 5 %: nothing is left", '"saturation"', '"launch"'),
    ("checkpointing is off here: nothing is recomputed", '"padding"', '"recomputation"'),
    ("the allocator never retried in this run", '"recomputation"', '"memory"'),
    (NAMES, '"padding"', '"bad luck"'),
    (NAMES, '"padding"', '("padding", 1.0, 1.25)'),
    ("a run is left out", '"F": "host",', ""),
]:
    exercise.edit(_thought, [(_old, _new)])


@exercise.style
def in_other_letters():
    """in other letters, in another order"""
    said = ["Input", "Padding", "LAUNCH", "memory", " saturation", "host", "recomputation"]
    return dict(reversed([*zip("ABCDEFG", said)]))
