"""Find the setting: the most rows with which some token counts more than three times."""

import itertools
from functools import cache

import numpy as np

from batchlab.classroom import plain
from batchlab.exercises import Exercise

DOCUMENTS, LIMIT = 60, 3  # documents of a step; how often its fair share is too often
ROWS = (1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60)
TRAINED = ("code only", "docstring and code")


def unfair_rows():
    """The most rows on the slider with which the heaviest token counts more than three times."""
    return 5


@cache
def typical_steps():
    """How often its fair share the heaviest token of a typical step counts, and that step."""
    from batchlab import data, loop

    corpus = data.embedded()
    code = np.array([sum(n != loop.IGNORE for n in one["labels"][1:]) for one in corpus])
    counted = dict(zip(TRAINED, (code, np.asarray(corpus.lengths) - 1)))
    order = np.random.default_rng(5).permutation(len(corpus))
    order = order[: len(order) // DOCUMENTS * DOCUMENTS]
    found = {}
    for rows, trained in itertools.product(ROWS, TRAINED):
        n = counted[trained][order].reshape(-1, DOCUMENTS // rows, rows).sum(axis=2)
        heaviest = n.mean(axis=1) / n.min(axis=1)
        typical = int(np.argsort(heaviest)[len(heaviest) // 2])
        found[rows, trained] = float(heaviest[typical]), n[typical].tolist()
    return found


def most_unfair(trained="code only"):
    """The most rows with which some token of a typical step counts more than three times."""
    return max(rows for rows in ROWS if typical_steps()[rows, trained][0] > LIMIT)


def fault(got):
    """What is wrong with any number of rows."""
    try:
        rows = plain.number(got)
    except plain.NotPlain as problem:
        return f"{problem.got}: {problem.thought or 'one number is asked, the rows'}"
    said = f"{plain.shown(rows)} rows"
    if rows not in ROWS:
        return f"{said}: the slider does not offer it, and asked is a place of the slider"
    if rows > most_unfair():
        return f"{said}: with these every token counts at most three times its share"
    if rows == most_unfair("docstring and code"):
        return f"{said}: more rows do that, too; or the docstrings are trained as well: set 'code only'"
    more = f"{said}: some token counts more than three times its share, but more rows do that, too"
    return more if rows < most_unfair() else ""


def scene(rows, trained):
    """What the finder shows beside its sliders."""
    weight, n = typical_steps()[rows, trained]
    facts = {"micro-batches": f"{len(n)}", "heaviest token": f"{weight:.2f} x its share"}
    alt = f"Target tokens of each micro-batch: {n}."
    return {"facts": facts, "rows": [[(0, count)] for count in n], "alt": alt}


def finder():
    from batchlab import widgets

    controls = {
        "rows": ("rows per micro-batch", list(ROWS)),
        "trained": ("tokens that are trained", list(TRAINED)),
    }
    goal = "Code only: the most rows with which some token counts more than three times its share."
    return widgets.finder(
        f"The popular loop, {DOCUMENTS} documents a step",
        controls,
        scene,
        goal=goal,
        where=lambda rows, trained: (rows, trained) == (most_unfair(), "code only"),
        down=lambda bars: "1 micro-batch" if bars == 1 else f"{bars} micro-batches",
        across="{:,} target tokens".format,
    )


exercise = Exercise(
    unfair_rows,
    hints=("set 'code only', and raise the rows while the heaviest token stays above 3",),
    asked=lambda: "the most rows with a token that counts more than three times its share",
    shown=[()],
    fault=fault,
    secret=True,
    passed="Right: larger micro-batches are fairer, since sums of many documents differ less.",
)
for _said, _value in {
    "does not offer it": "16",
    "docstrings": "4",
    "at most three times": "6",
    "more rows do that": "3.0",
    "several values": "5, 3.1",
    "text was returned": "'5'",
}.items():
    exercise.edit(_said, [("return 5", f"return {_value}")])


@exercise.style
def as_a_float():
    """as a float"""
    return 5.0
