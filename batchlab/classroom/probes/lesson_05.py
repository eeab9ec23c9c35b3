"""What lesson 05 needs beside its page: mistakes and their values, steps under watch, a widget.

    a case of the lesson  ->  what each known mistake makes of it, by its thought

Words
    version   one way to write a function of the lesson: RIGHT, or WRONG under its thought
    window    the micro-batches of one optimizer step
    recipe    a way to take the step: "right", or a name of MISTAKES
"""

import itertools
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from batchlab import data, loop, widgets
from batchlab.classroom import plain
from batchlab.classroom.probes import ranks_whole
from batchlab.classroom.probes.attempt import mistakes_of, rounded, shown
from batchlab.classroom.probes.bigram import micro_batch
from batchlab.classroom.probes.collators import collate, collates
from batchlab.classroom.probes.lesson_05_loaders import grouped
from batchlab.classroom.probes.lesson_05_versions import RIGHT, WRONG, windows_of
from batchlab.classroom.probes.ranks import at_once, on_ranks, refusals
from batchlab.classroom.probes.ranks_whole import together
from batchlab.classroom.probes.recipes import (
    COUNTS,
    MISTAKES,
    divided_twice_step,
    popular_step,
    recipe,
    undivided_step,
)
from batchlab.classroom.probes.watch import steps, timeline

__all__ = [
    "COUNTS",
    "MISTAKES",
    "RIGHT",
    "WRONG",
    "at_once",
    "collate",
    "collates",
    "divided_twice_step",
    "fault_of_rows",
    "finder",
    "grouped",
    "micro_batch",
    "mistakes",
    "on_ranks",
    "popular_step",
    "recipe",
    "refusals",
    "rounded",
    "shown",
    "steps",
    "timeline",
    "together",
    "undivided_step",
    "versions",
    "wrong_ends",
    "wrong_windows",
]

DOCUMENTS, LIMIT = 60, 3  # documents of a step; how often its fair share is too often
ROWS = (1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60)
TRAINED = ("code only", "docstring and code")


def mistakes(name: str, *case: Any) -> dict[Any, str]:
    """The values that wrong versions, and rounding, give for a case, by their thoughts."""
    return rounded(RIGHT[name][0](*case)) | dict(mistakes_of(WRONG[name], *case))


def versions(name: str) -> dict[str, Any]:
    """Right and wrong versions of a function, as `check.finds_bugs` takes them."""
    return {"right": RIGHT[name], "wrong": WRONG[name]}


def wrong_windows(micro_batches: Sequence[Any], accumulation: int) -> list[tuple[Any, str]]:
    """The windows of each wrong version, where they are not the right ones."""
    right = windows_of(micro_batches, accumulation)
    found = mistakes_of(WRONG["windows"], micro_batches, accumulation)
    return [(value, why) for value, why in found if value != right]


def wrong_ends(
    counts: Sequence[Sequence[int]], before: Sequence[Sequence[int]] = (), **given: Any
) -> list[tuple[Any, str]]:
    """Where each known mistake of several ranks ends: the weights of rank 0."""
    right = np.asarray(together(counts, **given)["weights"])
    ends = [
        (together(counts, name, **given)["weights"], why)
        for name, why in ranks_whole.MISTAKES.items()
    ]
    if before:
        unclipped = together(counts, "unclipped", **given)
        start = right + ranks_whole.RATE * np.asarray(together(counts, **given)["gradients"])
        scale = sum(map(sum, counts)) / sum(map(sum, before))
        kept = start - ranks_whole.RATE * scale * np.asarray(unclipped["gradients"])
        ends.append((kept, "divided by the count of the step before: count in each step"))
    return [(end, why) for end, why in ends if not np.allclose(end, right, rtol=1e-6, atol=1e-9)]


@cache
def _typical_steps() -> dict[tuple[int, str], tuple[float, list[int]]]:
    """How often its fair share the heaviest token of a typical step counts, and that step."""
    corpus = data.embedded()
    code = np.array([sum(n != loop.IGNORE for n in one["labels"][1:]) for one in corpus])
    counted = dict(zip(TRAINED, (code, np.asarray(corpus.lengths) - 1), strict=True))
    order = np.random.default_rng(5).permutation(len(corpus))
    order = order[: len(order) // DOCUMENTS * DOCUMENTS]
    found = {}
    for rows, trained in itertools.product(ROWS, TRAINED):
        n = counted[trained][order].reshape(-1, DOCUMENTS // rows, rows).sum(axis=2)
        heaviest = n.mean(axis=1) / n.min(axis=1)
        typical = int(np.argsort(heaviest)[len(heaviest) // 2])
        found[rows, trained] = float(heaviest[typical]), n[typical].tolist()
    return found


def _most_unfair_rows(trained: str = "code only") -> int:
    """The most rows with which some token of a typical step counts more than three times."""
    return max(rows for rows in ROWS if _typical_steps()[rows, trained][0] > LIMIT)


def fault_of_rows(answer: object) -> str:
    """What is wrong with a number of rows as the setting that `finder` asks for; empty if right."""
    try:
        rows = plain.number(answer)
    except plain.NotPlain as problem:
        return problem.thought or "one number is asked: rows per micro-batch"
    if rows not in ROWS:
        return "the slider does not offer it: asked is a place of the slider"
    if rows > _most_unfair_rows():
        return "with these rows every token counts at most three times its share"
    if rows == _most_unfair_rows("docstring and code"):
        return "more rows do that, too; or the docstrings are trained as well: set 'code only'"
    more = "some token counts more than three times its share, but more rows do that, too"
    return more if rows < _most_unfair_rows() else ""


def finder() -> widgets.Explorer:
    """Rows and what is trained against the heaviest token; the goal is the most unfair rows."""

    def scene(rows: int, trained: str) -> dict[str, Any]:
        weight, n = _typical_steps()[rows, trained]
        facts = {"micro-batches": f"{len(n)}", "heaviest token": f"{weight:.2f} x its share"}
        alt = f"Target tokens of each micro-batch: {n}."
        return {"facts": facts, "rows": [[(0, count)] for count in n], "alt": alt}

    def found(rows: int, trained: str) -> bool:
        return (rows, trained) == (_most_unfair_rows(), "code only")

    controls: dict[str, tuple[str, Sequence[Any]]] = {
        "rows": ("rows per micro-batch", list(ROWS)),
        "trained": ("tokens that are trained", list(TRAINED)),
    }
    goal = "Code only: the most rows with which some token counts more than three times its share."
    title = f"The popular loop, {DOCUMENTS} documents a step"
    return widgets.finder(
        title,
        controls,
        scene,
        goal=goal,
        where=found,
        down=lambda bars: "1 micro-batch" if bars == 1 else f"{bars} micro-batches",
        across="{:,} target tokens".format,
    )
