"""Find the setting: the rows of a micro-batch with the shortest step of a pipeline."""

from batchlab.classroom import plain
from batchlab.exercises import Exercise
from batchlab.exercises.many.pipeline import pipeline

STAGES, SEQUENCES = (4, 8, 16), 420
ROWS = tuple(n for n in range(1, SEQUENCES + 1) if SEQUENCES % n == 0)
FIXED, EACH = 0.018, 0.020  # planted seconds of a turn, and of a row in it, forward and backward


def best_turn():
    """Rows per micro-batch with the shortest step, at 8 stages."""
    return 7


def best(stages):
    return min(ROWS, key=lambda rows: pipeline(stages, SEQUENCES, rows, FIXED, EACH)[0])


def fault(got):
    """What is wrong with any number of rows."""
    try:
        rows = plain.number(got)
    except plain.NotPlain as problem:
        return f"{problem.got}: {problem.thought or 'one number is asked, the rows'}"
    said = f"{plain.shown(rows)} rows"
    others = {best(stages): stages for stages in STAGES}
    if rows == best(8):
        return ""
    if rows not in ROWS:
        return f"{said}: it does not divide {SEQUENCES} sequences; asked is a place of the slider"
    if rows == 1:
        return f"{said}: the smallest bubble is not the shortest step, since each turn has a fixed cost"
    if rows == ROWS[-1]:
        return f"{said}: the fewest turns of all, and the stages work one after the other"
    if rows in others:
        return f"{said}: that is the best with {others[rows]} stages, asked is another number of stages"
    return f"{said}: {'more' if rows < best(8) else 'fewer'} rows make the step shorter here"


def scene(stages, rows):
    """What the finder shows beside its sliders."""
    seconds, idle = pipeline(stages, SEQUENCES, rows, FIXED, EACH)
    facts = {"micro-batches": f"{SEQUENCES // rows}", "idle": f"{idle:.1%}"}
    return {"facts": {**facts, "seconds of a step": f"{seconds:.2f}"}}


def finder():
    from batchlab import widgets

    controls = {"stages": ("stages", [*STAGES]), "rows": ("rows per micro-batch", [*ROWS])}
    return widgets.finder(
        "Bubble against fixed cost",
        controls,
        scene,
        start={"stages": 4, "rows": 60},
        goal="8 stages: the rows per micro-batch with the shortest step.",
        where=lambda stages, rows: (stages, rows) == (8, best(8)),
    )


exercise = Exercise(
    best_turn,
    hints=("set 8 stages, then move the rows until the seconds of a step rise again",),
    asked=lambda: "the rows with the shortest step, 8 stages",
    shown=[()],
    fault=fault,
    secret=True,
    passed="Right: neither the smallest bubble nor the fewest turns.",
)
for _said, _value in {
    "not the shortest step": "1",
    "one after the other": "420",
    "with 4 stages": "12",
    "with 16 stages": "5",
    "more rows": "6",
    "does not divide": "8",
}.items():
    exercise.edit(_said, [("return 7", f"return {_value}")])


@exercise.style
def as_a_float():
    """as a float"""
    return 7.0
