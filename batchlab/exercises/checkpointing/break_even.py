"""Find the setting: the most rows from which recomputing still pays."""

from batchlab.classroom import plain
from batchlab.exercises import Exercise
from batchlab.exercises.checkpointing.gain import gain

FIXED, PER_ROW = 47, 3  # ms: an example, no measurement
ROWS, TIMES = tuple(range(1, 49)), (2, 4, 8)
SHARES = {"attention scores only: 1 %": 0.01, "every layer: a third": 1 / 3}


def break_even():
    """The most rows without recomputation for which four times as many, recomputed, are faster."""
    return 31


def most_rows(times=4):
    """The most rows of the slider from which `times` as many, recomputed, still are faster."""
    return max(rows for rows in ROWS if gain(FIXED, PER_ROW, rows, rows * times, 1 / 3) > 1)


def why(got):
    """What is wrong with a number of rows; empty if it is right."""
    try:
        rows = plain.number(got)
    except plain.NotPlain as problem:
        return problem.thought or "one number is asked: rows without recomputation"
    if rows not in ROWS:
        return "the slider does not offer it: asked is a place of the slider"
    if rows == FIXED // PER_ROW:  # and the answer for twice the rows
        return "fixed and growing time are alike from here on: compare the two bars, at four times"
    if rows == most_rows(8):
        return "that is the answer for 8 times the rows: asked are four times"
    if rows > most_rows():
        return "from here four times the rows, recomputed, are slower"
    return "recomputing pays, but from more rows it still does" if rows < most_rows() else ""


def scene(rows, times, share):
    """What the finder shows beside its sliders."""
    large, again = rows * times, SHARES[share]
    small_ms, plain_ms = (FIXED + PER_ROW * rows) / rows, (FIXED + PER_ROW * large) / large
    bars = [(FIXED / rows, PER_ROW, 0.0), (FIXED / large, PER_ROW, again * plain_ms)]
    facts = {
        f"{name}: ms a row": f"{ms:.2f}"
        for name, ms in (("without", small_ms), ("recomputed", (1 + again) * plain_ms))
    }
    drawn = [[(kind, round(100 * ms)) for kind, ms in enumerate(bar) if ms] for bar in bars]
    alt = f"{rows} rows take {facts['without: ms a row']} ms a row without recomputation, "
    alt += f"{large} rows {facts['recomputed: ms a row']} ms a row with it."
    return {"facts": facts, "rows": drawn, "alt": alt}


def finder():
    """Rows, how many times as many, and what is recomputed; the goal is the break-even."""
    from batchlab import widgets

    asked = (most_rows(), 4, "every layer: a third")
    return widgets.finder(
        f"A device that takes {FIXED} ms and {PER_ROW} ms a row",
        {
            "rows": ("rows without recomputation", list(ROWS)),
            "times": ("times as many rows with it", list(TIMES)),
            "share": ("what is recomputed", list(SHARES)),
        },
        scene,
        goal="Every layer, four times the rows: the most rows from which recomputing still pays.",
        where=lambda rows, times, share: (rows, times, share) == asked,
        down=lambda bars: f"{bars} ways",
        across=lambda hundredths: f"{hundredths / 100:.2f} ms a row",
    )


exercise = Exercise(
    break_even,
    hints=(
        "set four times and every layer, and raise the rows while the second time is below the first",
    ),
    asked=lambda: "the most rows from which four times as many, recomputed, are faster",
    shown=[()],
    fault=lambda got: plain.shown(got) if why(got) else "",
    explain=why,
    passed="Right: with more rows the device is busy already, and recomputing costs more than it "
    "brings.",
)
for _rows in (15, 39, 32, 30, 31.33, "31"):
    exercise.edit(why(_rows), [("return 31", f"return {_rows!r}")])


@exercise.style
def as_a_float():
    """as a float"""
    return 31.0


@exercise.style
def computed():
    """computed"""
    pays = [b for b in range(1, 49) if (47 + 3 * b) / b > 4 / 3 * (47 + 12 * b) / (4 * b)]
    return max(pays)
